"""The embedding table: a token's row, its nearest neighbours, cosines, and a map of rows.

Every token of the vocabulary has one row of a learned table. The row does not depend on the
sentence; training has only made the rows of tokens with similar meanings similar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from engine.basics.arrays import Array, Ids, frozen, frozen_ids
from engine.basics.distribution import largest
from engine.basics.errors import checked_ids
from engine.basics.results import Table
from engine.basics.vectors import cosines, unit_rows
from engine.network.tensors import to_array

if TYPE_CHECKING:
    import numpy.typing as npt

    from engine.model.model import LanguageModel


SHORT = 3
"""Words of up to so many letters say little; two words that begin alike are forms of one."""
CANDIDATES = 32
"""The most words among which the telling one is sought."""


@dataclass(frozen=True, eq=False)
class Neighbours(Table):
    """The tokens whose rows have the most similar direction, nearest first."""

    columns = ("ids", "cosines")

    ids: Ids
    """`[n]`."""
    cosines: Array
    """`[n]`, cosine of the angle between the rows: 1 for the same direction, 0 for unrelated."""


@dataclass(frozen=True, eq=False)
class EmbeddingMap(Table):
    """Rows of the table, flattened to the two directions in which they differ most."""

    columns = ("ids", "asked", "points")

    ids: Ids
    """`[N]`: the tokens asked for, then their neighbours; each token once."""
    asked: npt.NDArray[np.bool_]
    """`[N]`, True for the tokens asked for."""
    points: Array
    """`[N, 2]`."""
    explained: Array
    """`[2]`, the share of all differences between the rows that each direction shows."""


def row(model: LanguageModel, token_id: int) -> Array:
    """Return one token's row of the table, `[D]`.

    Gemma multiplies it by √D before the first block.

    Raises:
        EngineError: There is no such token.
    """
    return frozen(_rows(model, [token_id])[0])


def nearest(model: LanguageModel, token_id: int, n: int = 10) -> Neighbours:
    """Return the n tokens whose rows have the largest cosine with one token's row, itself left out.

    Raises:
        EngineError: There is no such token.
    """
    cosines = _cosines(model, _rows(model, [token_id]))[0]
    cosines[token_id] = -np.inf
    best = largest(cosines, min(n, len(cosines) - 1))
    return Neighbours(frozen_ids(best), frozen(cosines[best]))


def telling(model: LanguageModel, ids: Sequence[int]) -> int:
    """Return the position of the token whose nearest rows say most about what its row means.

    That is a word whose row lies near to those of many other words: “France” near “Spain” and
    “Italy”. Other forms of the word itself count for nothing. Only the last `CANDIDATES` different
    words are looked at.

    Returns:
        Where it stands first among `ids`; the last position if the text has no word.

    Raises:
        EngineError: There is no such token.
    """
    texts = {token: model.tokenizer.decode([token]).strip().lower() for token in ids}
    words = [token for token in texts if len(texts[token]) > SHORT and texts[token].isalpha()]
    words = words[-CANDIDATES:]
    if not words:
        return len(ids) - 1
    best = np.array(_near(model, words, 8)).reshape(len(words), -1)
    cosines_NV = _cosines(model, _rows(model, words))
    scores = [
        _alike(texts[word], row, cosines_NV[number], model)
        for number, (word, row) in enumerate(zip(words, best, strict=True))
    ]
    return list(ids).index(words[int(np.argmax(scores))])


def _alike(word: str, near: Ids, cosines: Array, model: LanguageModel) -> float:
    """Return the sum of the cosines of those neighbours that are other words, each once."""
    found: dict[str, float] = {}
    for token in (int(neighbour) for neighbour in near):
        other = model.tokenizer.decode([token]).strip().lower()
        if len(other) > 2 and other.isalpha() and other[:SHORT] != word[:SHORT]:
            found.setdefault(other, float(cosines[token]))
    return sum(found.values())


def cosine_matrix(model: LanguageModel, ids: Sequence[int]) -> Array:
    """Return the cosine between the rows of every two of some tokens, `[N, N]`.

    Raises:
        EngineError: There is no such token.
    """
    return cosines(_rows(model, ids))


def pca_map(model: LanguageModel, ids: Sequence[int], neighbours: int = 5) -> EmbeddingMap:
    """Lay out some tokens and their nearest neighbours on a plane (principal components).

    Args:
        model: The model.
        ids: The tokens; equal ones count once.
        neighbours: How many nearest tokens to add for each.

    Raises:
        EngineError: There is no such token.
    """
    asked = list(dict.fromkeys(ids))
    shown = list(dict.fromkeys([*asked, *_near(model, asked, neighbours)]))
    points, explained = _principal_plane(_rows(model, shown))
    flags = np.arange(len(shown)) < len(asked)
    flags.flags.writeable = False
    return EmbeddingMap(frozen_ids(shown), flags, points, explained)


def _near(model: LanguageModel, ids: Sequence[int], count: int) -> list[int]:
    """Return the `count` nearest tokens of each given token, as one list in their order."""
    if count < 1:
        return []
    cosines_NV = _cosines(model, _rows(model, ids))
    cosines_NV[np.arange(len(ids)), ids] = -np.inf
    best = torch.topk(torch.from_numpy(cosines_NV), min(count, cosines_NV.shape[1] - 1))
    return [int(token) for token in best.indices.flatten()]


def _principal_plane(rows: Array) -> tuple[Array, Array]:
    """Return where rows `[N, D]` stand in the plane of their first two principal components.

    Returns:
        The points `[N, 2]` and the share of the variance that each direction explains `[2]`.
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    # N rows are far fewer than D numbers: their N × N products give the same points as the D × D
    # covariance would.
    variances, directions = np.linalg.eigh(centred @ centred.T)
    variances = np.maximum(variances[::-1], 0.0)
    points = np.zeros((len(rows), 2))
    count = min(2, len(rows))
    points[:, :count] = directions[:, ::-1][:, :count] * np.sqrt(variances[:count])
    # The sign of a component is arbitrary: fix it, so that the same tokens give the same map.
    for axis in range(count):
        points[:, axis] *= np.sign(points[np.abs(points[:, axis]).argmax(), axis]) or 1.0
    explained = np.zeros(2)
    explained[:count] = variances[:count] / max(float(variances.sum()), 1e-30)
    return frozen(points), frozen(explained)


def _rows(model: LanguageModel, ids: Sequence[int]) -> Array:
    """Return rows of the table, `[N, D]`."""
    table = model.network.get_input_embeddings().weight
    return to_array(table[checked_ids(ids, table.shape[0])])


def _cosines(model: LanguageModel, rows: Array) -> npt.NDArray[np.float32]:
    """Return the cosine of rows `[N, D]` with every row of the table, `[N, V]`, writeable."""
    table = model.network.get_input_embeddings().weight
    with torch.inference_mode():
        units = torch.tensor(unit_rows(rows), device=table.device)
        norms = torch.linalg.vector_norm(table, dim=1, dtype=torch.float32).clamp(min=1e-12)
        cosines = (table.float() @ units.T / norms[:, None]).T
        return np.array(cosines.cpu().numpy(), dtype=np.float32, order="C")
