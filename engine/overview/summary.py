"""Reduce one traced pass and one draw to the few numbers that the overview picture can show.

The result types are in `engine.overview.facts`, which needs no torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.distribution import largest, top
from engine.embedding import rope, table
from engine.interpret.lens import lens_layers
from engine.kv_cache import sizes
from engine.overview.facts import (
    ArchitectureFact,
    CacheFact,
    Candidate,
    DetokenizerFact,
    EmbeddingFact,
    HeadFact,
    LensFact,
    Overview,
    PositionFact,
    SamplingFact,
    Segment,
    TokenFact,
)
from engine.overview.heads import mattering_head
from engine.overview.turns import turns
from engine.sampling.chain import SamplingSettings, draw, run_chain
from engine.sampling.settings import words

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.model.model import LanguageModel
    from engine.tracing.trace import Trace

EMBEDDING_NUMBERS = 32
PAIRS = 4
DEPTHS: tuple[float, ...] = (2 / 3, 13 / 15, 14 / 15, 29 / 30, 1.0)
"""After which shares of the layers the lens reads: before the last third readings are seldom
words. Of 30 layers these are 20, 26, 28, 29 and 30."""
CANDIDATES = 5
SEGMENTS = 12


def summarise(
    model: LanguageModel,
    trace: Trace,
    settings: SamplingSettings,
    u: float,
    *,
    prompt_tokens: int | None = None,
    chat: bool = False,
    head: HeadFact | None = None,
) -> Overview:
    """Reduce one pass and one draw to the facts of the overview picture.

    Args:
        model: The model that made the trace.
        trace: The pass over the text so far.
        settings: How the next token is drawn.
        u: The uniform number in [0, 1) that draws it.
        prompt_tokens: How many of the tokens are the user's; the model wrote the rest. None: all.
        chat: Whether the prompt is a turn in the model's chat template.
        head: The head to show, if `mattering_head` has already found it for this pass.

    Raises:
        ValueError: u is not in [0, 1).
    """
    split = len(trace.ids) if prompt_tokens is None else prompt_tokens
    sampling = _sampling(model, trace, settings, u, split)
    text, generated, detokenizer = _detokenize(model, trace.ids, split, sampling.drawn.id)
    return Overview(
        text=text,
        generated=generated,
        turns=turns(model.tokenizer, trace.ids) if chat else (),
        tokens=tuple(
            TokenFact(id, _data(model, id), model.tokenizer.is_special(id)) for id in trace.ids
        ),
        prompt_tokens=split,
        architecture=_architecture(model),
        embedding=_embedding(model, trace.ids[-1]),
        position=_position(model, len(trace.ids) - 1),
        head=mattering_head(trace) if head is None else head,
        cache=CacheFact(len(trace.ids), sizes.size_of(model).per_token * len(trace.ids)),
        residual_norms=_residual_norms(trace),
        lens=_lens(model, trace),
        candidates=_candidates(model, trace),
        sampling=sampling,
        detokenizer=detokenizer,
    )


def _architecture(model: LanguageModel) -> ArchitectureFact:
    shape = model.architecture
    return ArchitectureFact(
        model=model.name,
        layers=shape.layers,
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        head_size=shape.head_size,
        width=shape.width,
        ff_width=shape.ff_width,
        vocabulary=shape.vocabulary,
        positions=shape.positions,
    )


def _embedding(model: LanguageModel, token_id: int) -> EmbeddingFact:
    row = table.row(model, token_id)
    return EmbeddingFact(
        values=_rounded(row[:EMBEDDING_NUMBERS], 5),
        scale=round(float(np.abs(row).max()), 5),
        norm=round(float(np.linalg.norm(row)), 5),
    )


def _position(model: LanguageModel, position: int) -> PositionFact:
    """Return the angles of a few pairs, spread from the fastest on over the faster half.

    The slow half hardly turns within a short text.
    """
    if model.architecture.positions != "rope":
        return PositionFact(position, (), ())
    angles = rope.angles(model, [position])[0]
    pairs = tuple(i * len(angles) // (2 * PAIRS) for i in range(PAIRS))
    turns = tuple(round(float(angles[pair]) % math.tau, 5) for pair in pairs)
    return PositionFact(position, pairs, turns)


def _residual_norms(trace: Trace) -> tuple[float, ...]:
    """Return the length of the last token's vector before the first and after each layer, [L+1]."""
    return _rounded(np.linalg.norm(trace.stream_at(-1), axis=-1), 3)


def _lens(model: LanguageModel, trace: Trace) -> tuple[LensFact, ...]:
    layers = trace.architecture.layers
    depths = sorted({max(1, round(layers * share)) for share in DEPTHS})
    facts = []
    for reading in lens_layers(trace, depths, -1, top=1):
        token_id = int(reading.ids[0])
        share = round(float(reading.probabilities[0]), 6)
        facts.append(LensFact(reading.layer, token_id, _data(model, token_id), share))
    return tuple(facts)


def _candidates(model: LanguageModel, trace: Trace) -> tuple[Candidate, ...]:
    best = top(trace.logits, CANDIDATES)
    return tuple(
        Candidate(int(id), _data(model, int(id)), round(float(logit), 4), round(float(share), 6))
        for id, logit, share in zip(best.ids, best.logits, best.probabilities, strict=True)
    )


def _sampling(
    model: LanguageModel, trace: Trace, settings: SamplingSettings, u: float, split: int
) -> SamplingFact:
    """Draw a token, and return where the likeliest tokens are on the cumulative bar.

    The bar is in the order of token ids, because `draw` goes through the vocabulary by id.
    """
    last = run_chain(trace.logits, settings, trace.ids, prompt_tokens=split)[-1]
    drawn = draw(last.probabilities, u)
    ends = np.cumsum(last.probabilities, dtype=np.float64)
    ends /= ends[-1]
    likely = [int(id) for id in largest(last.probabilities, SEGMENTS) if last.probabilities[id] > 0]

    def segment(id: int) -> Segment:
        start = float(ends[id - 1]) if id else 0.0
        return Segment(id, _data(model, id), round(start, 6), round(float(ends[id]), 6))

    return SamplingFact(
        temperature=settings.temperature,
        steps=words(settings)[1:],  # the temperature has a field of its own
        survivors=last.drawable,
        u=u,
        segments=tuple(segment(id) for id in sorted(likely)),
        drawn=segment(drawn),
    )


def _detokenize(
    model: LanguageModel, ids: Sequence[int], split: int, drawn: int
) -> tuple[str, str, DetokenizerFact]:
    """Turn the tokens back into text: the prompt's, the model's own, and what the draw adds."""
    decoder = model.tokenizer.stream()
    text = "".join(decoder.push(id) for id in ids[:split])
    generated = "".join(decoder.push(id) for id in ids[split:])
    ends = drawn in model.stop_ids
    released = "" if ends else decoder.push(drawn)
    waiting = "" if ends else decoder.waiting.hex()
    return text, generated, DetokenizerFact(_data(model, drawn), released, waiting, ends)


def _data(model: LanguageModel, token_id: int) -> str:
    return model.tokenizer.bytes_of(token_id).hex()


def _rounded(values: Array, digits: int) -> tuple[float, ...]:
    """Return plain floats with the digits that a picture can show: recordings stay small."""
    return tuple(round(float(value), digits) for value in values)
