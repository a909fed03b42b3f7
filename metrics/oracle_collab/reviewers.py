"""Who reviews: an oracle, or moderators who err.

e0 is the chance that a moderator calls a non-toxic row toxic, e1 that one calls a toxic row non-toxic; given the class,
moderators err independently of each other and of the model. Of m moderators the majority decides.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from toxeval.core.refusals import refuse
from toxeval.core.resampling import Draws
from toxeval.core.scoring import Scores

#: The input with a moderator's word on some rows, and what messages call the errors that the option assumes.
WORDS, ASSUMED = "moderator_labels", "moderator_error"


class Reviewers(NamedTuple):
    """Those whose word counts on a reviewed row.

    Attributes:
        false_positive, false_negative: e0 and e1 of the majority: numbers, or arrays over resamples.
        given: whether somebody said how often they err; else they are the paper's oracle.
        measured: whether that was measured, and so is uncertain itself.
    """

    false_positive: Any = 0
    false_negative: Any = 0
    given: bool = False
    measured: bool = False

    @property
    def perfect(self) -> bool:
        """Whether they never err, for sure."""
        return not (self.measured or self.false_positive or self.false_negative)

    def exact(self) -> "Reviewers":
        """With whole numbers or fractions, for arithmetic without rounding."""
        e0, e1 = (0, 0) if self.perfect else map(Fraction, self[:2])
        return self._replace(false_positive=e0, false_negative=e1)

    def wrong_words(self, negatives: Any, positives: Any) -> tuple[Any, Any]:
        """How many of these reviewed rows are expected to get the wrong label."""
        return self.false_positive * negatives, self.false_negative * positives

    def misplaced(self, n_negatives: Any, n_positives: Any, negatives: Any, positives: Any) -> Any:
        """Twice the expected number of pairs that reviewed rows put in the wrong order.

        A reviewed row goes to the top end if it is called toxic, to the bottom end if not. R1 positives and R0
        negatives are reviewed, of P and N.

        * A positive at the bottom, of which e1 R1 are expected, is below the N - R0 unreviewed negatives, and a
          negative at the top, one of e0 R0, above the P - R1 unreviewed positives.
        * Both reviewed, the pair is in the wrong order with e1 e0, and a tie, which counts 1/2, with e1 (1 - e0) +
          (1 - e1) e0: together (e0 + e1) / 2.
        """
        at_top, at_bottom = self.wrong_words(negatives, positives)
        return at_bottom * (2 * n_negatives - negatives) + at_top * (2 * n_positives - positives)


#: The paper's oracle.
ORACLE = Reviewers()


def majority(error: Any, m: int) -> Any:
    """How often the majority of m moderators is wrong: sum over j > m/2 of C(m, j) e^j (1 - e)^(m - j).

    Args:
        error: of a single one, in [0, 1]; a number or an array.
        m: odd, at most 999.

    >>> majority(0.1, 1), round(majority(0.1, 3), 6)
    (0.1, 0.028)
    """
    wrong = np.arange(m // 2 + 1, m + 1)
    ways = np.array([float(math.comb(m, j)) for j in wrong.tolist()])
    e = np.asarray(error, dtype=np.float64)[..., None]
    chance = (ways * e**wrong * (1.0 - e) ** (m - wrong)).sum(axis=-1)
    return chance if chance.ndim else float(chance)


def reviewers_of(error: Mapping[str, float] | None, words: np.ndarray | None, m: int) -> Reviewers:
    """Those whose errors are assumed, measured, or none.

    Args:
        error: "false_positive" and "false_negative" of a single moderator; None if nothing is assumed.
        words: how often moderators called a row of each class each label, shape (2, 2), references first; None if
            nothing was measured.
        m: how many of them review a row.

    Raises:
        Refusal: for both; for moderators who are no better than chance, whose word says nothing, or the opposite; for
            words on rows of one class only.
    """
    if words is None:
        if error is None:
            return ORACLE
        each = error["false_positive"], error["false_negative"]
        if sum(each) >= 1:
            allowed, hint = "errors that sum to less than 1", "are these shares of right answers?"
            refuse(f"{each[0]} and {each[1]}, no better than chance", allowed, hint, option=ASSUMED)
        return _majorities(each, m, measured=False)
    if error is not None:
        refuse(f"errors beside {WORDS}", "one of them: errors are assumed, or measured", option=ASSUMED)
    for label, n in zip(("non-toxic", "toxic"), words.sum(axis=1)):
        if not n:
            refuse(f"no row whose reference is {label}", "a moderator's label on rows of both classes", inputs=(WORDS,))
    each = _error_rates(words)
    if sum(each) >= 1:
        found = f"{each[0]:.3g} of the non-toxic and {each[1]:.3g} of the toxic rows wrong, no better than chance"
        hint = "are toxic and non-toxic exchanged?"
        refuse(found, "error rates that sum to less than 1", hint, inputs=(WORDS,))
    return _majorities(each, m, measured=True)


def drawn_reviewers(reviewers: Reviewers, words: np.ndarray | None, m: int, draws: Draws) -> Reviewers:
    """The reviewers of resamples: measured errors are drawn, too.

    From Beta(x + 1/2, n - x + 1/2) of x wrong words in n, whose quantiles are the interval of Jeffreys (Brown, Cai and
    DasGupta 2001): resampled words would have no error wherever there happens to be none in a handful of them.
    """
    if words is None or not draws.n:
        return reviewers
    wrong, right = words[(0, 1), (1, 0)], words[(0, 1), (0, 1)]
    each = draws.rng.beta(wrong + 0.5, right + 0.5, size=(draws.n, 2)).T
    return _majorities(tuple(each), m, measured=True)


def _error_rates(words: np.ndarray) -> tuple[float, float]:
    """Of a single moderator: e0 and e1."""
    e0, e1 = words[(0, 1), (1, 0)] / words.sum(axis=1)
    return float(e0), float(e1)


def _majorities(each: tuple[Any, Any], m: int, *, measured: bool) -> Reviewers:
    return Reviewers(majority(each[0], m), majority(each[1], m), given=True, measured=measured)


def put_error_rates(scores: Scores, words: np.ndarray) -> None:
    """The measured errors of a single moderator, of counts as in `reviewers_of`."""
    for key, wrong, all_ in zip(
        ("moderator_false_positive", "moderator_false_negative"), words[(0, 1), (1, 0)], words.sum(axis=1)
    ):
        scores.proportion(key, int(wrong), int(all_), "no row has a moderator's label", math.nan)
