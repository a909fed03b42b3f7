"""Resamples of rows, drawn as what they do to the counts: multinomial tables, and weights of whole clusters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .scoring import Scores
from .state import State

#: Resamples held in memory at a time.
RESAMPLES = 1000
#: Cluster weights held in memory at a time.
WEIGHTS = 1 << 21
#: More clusters than this are put together at random into so many groups, which are then drawn instead. The groups are
#: as independent as the clusters, and tell the same spread: so many tell it to about 1 %.
MAX_CLUSTERS = 1 << 12


@dataclass(frozen=True)
class Draws:
    """Resamples with replacement, as many rows (or clusters) as there are; their arrays have the resamples first.

    Attributes:
        rng: where chance comes from.
        n: how many; 0 means the data as they are, one "resample".
        stratify: whether a table keeps its totals over the last axis: those of the references, whatever was predicted.
    """

    rng: np.random.Generator
    n: int
    stratify: bool = False

    def table(self, counts: np.ndarray) -> np.ndarray:
        """Resampled tables of counts: what drawing the rows anew and counting them gives, without the rows.

        Args:
            counts: int array; its cells are disjoint and hold all rows. The last axis is what was predicted.

        Returns:
            int64 array of shape (n, *counts.shape).
        """
        if not self.n:
            return counts[None]
        flat = counts if self.stratify else counts.reshape(-1)
        totals = flat.sum(axis=-1)
        shares = flat / np.maximum(totals, 1)[..., None]
        return self.rng.multinomial(totals, shares, size=(self.n, *totals.shape)).reshape(self.n, *counts.shape)

    def clusters(self, tables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Counts of resampled clusters.

        Args:
            tables: counts by cluster, arrays of shape (c, ...).

        Returns:
            Arrays of shape (n, ...): each the sum over c clusters drawn with replacement.
        """
        c = len(next(iter(tables.values())))
        flat = np.concatenate([table.reshape(c, -1) for table in tables.values()], axis=1)
        if not self.n:
            sums = flat.sum(axis=0, keepdims=True)
        else:
            if c > MAX_CLUSTERS:
                starts = np.arange(MAX_CLUSTERS) * c // MAX_CLUSTERS
                flat, c = np.add.reduceat(flat[self.rng.permutation(c)], starts, axis=0), MAX_CLUSTERS
            flat, block = flat.astype(np.float64), max(1, WEIGHTS // c)
            sums = np.concatenate(
                [self._weights(c, min(block, self.n - start)) @ flat for start in range(0, self.n, block)]
            )
        result, start = {}, 0
        for key, table in tables.items():
            size = int(np.prod(table.shape[1:]))
            result[key] = sums[:, start : start + size].reshape(-1, *table.shape[1:])
            start += size
        return result

    def _weights(self, c: int, n: int) -> np.ndarray:
        """How often each of c clusters is drawn; shape (n, c)."""
        return np.stack([np.bincount(self.rng.integers(c, size=c), minlength=c) for _ in range(n)]).astype(np.float64)


def resample(
    replicate: Callable[[Draws], Mapping[str, np.ndarray]], n_resamples: int, seed: int, stratify: bool = False
) -> dict[str, np.ndarray]:
    """Resampled scores, float arrays of shape (n_resamples,): ``replicate`` called on so many draws."""
    rng = np.random.default_rng(seed)
    parts = []
    for start in range(0, n_resamples, RESAMPLES):
        parts.append(replicate(Draws(rng, min(RESAMPLES, n_resamples - start), stratify)))
    return {key: np.concatenate([np.asarray(part[key], dtype=float) for part in parts]) for key in parts[0]}


def replicate_counts(
    score: Callable[..., Scores], state: State, **options: Any
) -> Callable[[Draws], Mapping[str, np.ndarray]]:
    """The function from draws to scores of a metric that lives on counts: of rows, or clusters where it has them."""
    by_cluster = cluster_counts(state) if "cluster" in state.rows else None

    def scores_of(draws: Draws) -> Mapping[str, np.ndarray]:
        if by_cluster is not None:
            counts = draws.clusters(by_cluster)
        else:
            counts = {key: draws.table(table) for key, table in state.counts.items()}
        return score(State(state.n_rows, counts), **options).values

    return scores_of


def cluster_counts(state: State) -> dict[str, np.ndarray]:
    """The counts of each cluster, shape (c, ...): what batches know of the same cluster is added up.

    A state with clusters has them in ``rows``: ``cluster`` their ids, and ``<table>_by_cluster`` for each of its count
    tables, one entry for each cluster of each batch (`confusion_by_cluster`).
    """
    ids, position = np.unique(state.rows["cluster"], return_inverse=True)
    tables = {}
    for key in state.counts:
        parts = state.rows[f"{key}_by_cluster"]
        if len(ids) == len(parts):
            tables[key] = parts[np.argsort(position)]
        else:
            tables[key] = np.zeros((len(ids), *parts.shape[1:]), dtype=parts.dtype)
            np.add.at(tables[key], position, parts)
    return tables


def confusion_by_cluster(
    position: np.ndarray, references: np.ndarray, predictions: np.ndarray, shape: tuple[int, int], n_clusters: int
) -> np.ndarray:
    """Confusion matrices of the clusters, without ids beyond their shape.

    Args:
        position: which cluster each row belongs to, int64 of shape (n,), counted from 0.
        references, predictions: integer ids of shape (n,).
        shape: how many ids of references and of predictions there are.
        n_clusters: how many clusters there are.

    Returns:
        int32 array of shape (n_clusters, *shape).
    """
    rows, columns = shape
    kept = (references < rows) & (predictions < columns)
    if not kept.all():
        position, references, predictions = position[kept], references[kept], predictions[kept]
    codes = (position * rows + references) * columns + predictions
    return np.bincount(codes, minlength=n_clusters * rows * columns).astype(np.int32).reshape(n_clusters, rows, columns)
