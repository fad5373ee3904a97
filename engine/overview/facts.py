"""The facts of the overview picture: every stage of one prompt, in plain Python values.

They have no arrays or tensors, so the picture can be sent to a browser, recorded to a file and
shown before a model is loaded. For the same reason neither torch nor transformers is imported here.
`engine.overview.summary.summarise` makes the facts from one traced pass and one draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from engine.basics.results import Result


@dataclass(frozen=True)
class TokenFact(Result):
    """One token of the text so far."""

    id: int
    data: str
    """The token's bytes, as hexadecimal digits."""
    special: bool


@dataclass(frozen=True)
class TurnFact(Result):
    """One turn of a chat, without the control tokens around it."""

    role: str
    """As the template names it: `system`, `user`, `assistant`; empty where it names none."""
    text: str


@dataclass(frozen=True)
class ArchitectureFact(Result):
    """The sizes that the picture names."""

    model: str
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    width: int
    ff_width: int
    vocabulary: int
    positions: str
    """`rope`, `learned` or `none`."""


@dataclass(frozen=True)
class EmbeddingFact(Result):
    """The last token's row of the embedding table."""

    values: tuple[float, ...]
    """The first numbers of the row, in the order of the table."""
    scale: float
    """The largest magnitude in the whole row; colours are relative to it."""
    norm: float


@dataclass(frozen=True)
class PositionFact(Result):
    """How the last token's position is written into its queries and keys."""

    position: int
    pairs: tuple[int, ...]
    """Indices of the shown pairs, 0 is the fastest; empty without RoPE."""
    angles: tuple[float, ...]
    """The angle of each pair in radians, reduced to 0 … 2π."""


@dataclass(frozen=True)
class RemovalFact(Result):
    """What one head matters for the most probable token: its probability with and without it."""

    id: int
    data: str
    before: float
    after: float
    """The same token's probability when the head adds zeros."""


@dataclass(frozen=True)
class HeadFact(Result):
    """One attention head over the last few tokens."""

    layer: int
    head: int
    first: int
    """Index of the first token shown: rows and columns are tokens `first`, `first + 1`, …"""
    pattern: tuple[tuple[float, ...], ...]
    """[T, T] part of the head's pattern; row tokens read column tokens."""
    offset: int | None
    """How many tokens back most rows read most strongly, or None if there is no such habit."""
    reads: int
    """Index of the token, other than the first one, that the last token reads most."""
    weight: float
    """The share of attention that it gets."""
    removal: RemovalFact
    """What becomes of the answer without this head."""


@dataclass(frozen=True)
class CacheFact(Result):
    """What the KV cache keeps after this pass."""

    rows: int
    bytes: int


@dataclass(frozen=True)
class LensFact(Result):
    """What the model would say if it stopped after this many layers."""

    layers: int
    id: int
    data: str
    probability: float


@dataclass(frozen=True)
class Candidate(Result):
    """One possible next token with its score, before any sampling step."""

    id: int
    data: str
    logit: float
    probability: float


@dataclass(frozen=True)
class Segment(Result):
    """One token's stretch of the cumulative bar, in the order of the draw."""

    id: int
    data: str
    start: float
    end: float


@dataclass(frozen=True)
class SamplingFact(Result):
    """One draw: the tokens left to choose from, the random number, and the token drawn."""

    temperature: float
    steps: tuple[str, ...]
    """The settings that change something, in words: `top-k 40`, `top-p 0.9`."""
    survivors: int
    """How many tokens can be drawn: those with a probability above 0."""
    u: float
    segments: tuple[Segment, ...]
    drawn: Segment
    """The token drawn and its stretch of the bar; `end - start` is its probability."""


@dataclass(frozen=True)
class DetokenizerFact(Result):
    """What the drawn token turns into on its way back to text."""

    data: str
    released: str
    """Text that becomes visible with this token."""
    waiting: str
    """Bytes held back, as hexadecimal digits, until the character is complete."""
    ends: bool
    """Whether the drawn token is one that stops the run."""


@dataclass(frozen=True)
class Overview(Result):
    """Every fact of the overview picture."""

    text: str
    generated: str
    """The end of the text, which the model wrote itself; `text` is only what came before."""
    turns: tuple[TurnFact, ...]
    """The same text as turns, the model's own last; empty where the prompt is plain text."""
    tokens: tuple[TokenFact, ...]
    prompt_tokens: int
    architecture: ArchitectureFact
    embedding: EmbeddingFact
    position: PositionFact
    head: HeadFact
    cache: CacheFact
    residual_norms: tuple[float, ...]
    """Length of the last token's residual vector before the first and after each layer."""
    lens: tuple[LensFact, ...]
    candidates: tuple[Candidate, ...]
    sampling: SamplingFact
    detokenizer: DetokenizerFact

    def to_json(self) -> dict[str, Any]:
        """Return the facts as plain dictionaries and lists."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Overview:
        """Rebuild the facts from what `to_json` gave.

        Raises:
            ValueError: A fact is missing or has the wrong type.
        """
        built = _build(cls, data)
        assert isinstance(built, cls)
        return built


def _build(kind: Any, value: Any) -> Any:
    """Turn parsed JSON into `kind`: a dataclass, a tuple of one type or a plain value."""
    if is_dataclass(kind):
        return _build_dataclass(kind, value)
    if get_origin(kind) is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"The overview needs a list, not {value!r:.60}.")
        return tuple(_build(get_args(kind)[0], entry) for entry in value)
    allowed = get_args(kind) or (kind,)
    # A whole number is a fine float: JSON writers drop the “.0” of some.
    if float in allowed and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) not in tuple(NoneType if one is None else one for one in allowed):
        raise ValueError(f"The overview needs a value of type {kind}, not {value!r:.60}.")
    return value


def _build_dataclass(kind: Any, value: Any) -> Any:
    """Build one group of facts and say which one is missing."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    missing = [name for name in names if not isinstance(value, Mapping) or name not in value]
    if missing:
        raise ValueError(f"The overview lacks {kind.__name__}.{missing[0]}.")
    return kind(**{name: _build(hints[name], value[name]) for name in names})
