"""The stratified folds of scikit-learn, in both forms, without scikit-learn.

The threat Seed is made of the first test folds of a shuffled, stratified 100-fold split. Which rows those
are depends on the release: scikit-learn 0.22 changed how folds are dealt, and on the Jigsaw data the two
ways share only 432 of 7,980 rows. Both are written out here, so that the Seed doesn't depend on what happens
to be installed. NumPy keeps the stream of `RandomState` frozen, so the same seed gives the same rows.
"""

from __future__ import annotations

import numpy as np

from toxeval.core.refusals import refuse

N_FOLDS = 100


def folds_sklearn_021(labels: np.ndarray, seed: int) -> np.ndarray:
    """Fold number of each row as scikit-learn 0.18 to 0.21 deals them.

    One generator goes from class to class, in the order of the labels. The shuffled members of a class are
    cut into 100 consecutive pieces, the longer pieces first; piece k goes to fold k. A class with fewer than
    100 members is cut as if it had 100, and the places without a member stay empty.

    Args:
        labels: class of each row, shape (n,).
        seed: state of the generator, 0 to 2**32 - 1.

    Returns:
        Fold number 0 to 99 of each row, shape (n,), int64.

    >>> labels = np.array([0] * 150 + [1] * 50)
    >>> np.flatnonzero(folds_sklearn_021(labels, 20200303) == 0).tolist()
    [57, 110]
    """
    generator = np.random.RandomState(seed)
    fold_of_row = np.empty(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        order = generator.permutation(max(len(members), N_FOLDS))
        for fold, piece in enumerate(np.array_split(order, N_FOLDS)):
            fold_of_row[members[piece[piece < len(members)]]] = fold
    return fold_of_row


def folds_sklearn_022(labels: np.ndarray, seed: int) -> np.ndarray:
    """Fold number of each row as scikit-learn 0.22 and later deal them.

    The sorted labels are dealt out like cards, which settles how many members of each class a fold gets;
    then one generator, going on from class to class in order of first appearance, shuffles the fold
    numbers over the members.

    Args and result as in `folds_sklearn_021`.

    >>> labels = np.array([0] * 150 + [1] * 50)
    >>> np.flatnonzero(folds_sklearn_022(labels, 20200303) == 0).tolist()
    [99, 113]
    """
    classes, first_rows, codes = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(classes), dtype=np.int64)
    rank[np.argsort(first_rows)] = np.arange(len(classes))
    codes = rank[codes]
    dealt = np.arange(len(codes)) % N_FOLDS
    sorted_codes = np.sort(codes)
    generator = np.random.RandomState(seed)
    fold_of_row = np.empty(len(labels), dtype=np.int64)
    for code in range(len(classes)):
        folds = np.sort(dealt[sorted_codes == code])
        generator.shuffle(folds)
        fold_of_row[codes == code] = folds
    return fold_of_row


ALGORITHMS = {"sklearn-0.21": folds_sklearn_021, "sklearn-0.22": folds_sklearn_022}


def seed_rows(labels: np.ndarray, *, seed: int, percentage: int, split_algorithm: str) -> np.ndarray:
    """Row numbers of the Seed: the test folds 0 .. percentage - 1, one after the other.

    Args:
        labels: class of each row, shape (n,).
        seed: random state of the split, 0 to 2**32 - 1.
        percentage: how many of the 100 folds, 1 to 100.
        split_algorithm: `"sklearn-0.21"` or `"sklearn-0.22"`.

    Returns:
        Row numbers, fold by fold and rising within each fold, int64.

    Raises:
        ValueError: an option is out of its range, or no class has 100 rows, so that no 100 folds exist.

    >>> labels = np.array([0] * 150 + [1] * 50)
    >>> seed_rows(labels, seed=20200303, percentage=2, split_algorithm="sklearn-0.21").tolist()
    [57, 110, 72, 77]
    """
    check_options(seed=seed, percentage=percentage, split_algorithm=split_algorithm)
    largest = max(np.unique(labels, return_counts=True)[1], default=0)
    if largest < N_FOLDS:
        found = f"{N_FOLDS} stratified folds need {N_FOLDS} rows of one class; the larger has {largest}"
        refuse(found, where="threat_seed")
    fold_of_row = ALGORITHMS[split_algorithm](labels, seed)
    order = np.argsort(fold_of_row, kind="stable")
    return order[fold_of_row[order] < percentage]


def check_options(*, seed: int, percentage: int, split_algorithm: str) -> None:
    """Refuse what `seed_rows` couldn't use, before the files are read."""
    if split_algorithm not in ALGORITHMS:
        allowed = ", ".join(ALGORITHMS)
        refuse(f"unknown split_algorithm {split_algorithm!r}", allowed, where="threat_seed")
    for option, value, low, high in (("seed", seed, 0, 2**32 - 1), ("percentage", percentage, 1, N_FOLDS)):
        if type(value) is not int or not low <= value <= high:
            refuse(f"{option} is a whole number from {low} to {high}; found {value!r}", where="threat_seed")
