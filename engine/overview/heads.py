"""The one head that the overview picture shows: a head that matters for the answer.

A head that looks hard at some token may matter for nothing, so looking does not decide. The direct
terms of all heads (`engine.interpret.attribution`) are cheap and give a short list. Then each head
of the list is taken away (`engine.interpret.knockout`), and the one without which the most probable
token loses most is shown, together with that loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.basics.attention_scores import attention_pattern, attention_scores
from engine.basics.distribution import largest, softmax
from engine.basics.errors import EngineError
from engine.interpret.attribution import head_attribution
from engine.interpret.knockout import without_heads
from engine.overview.facts import HeadFact, RemovalFact

if TYPE_CHECKING:
    from engine.basics.arrays import Array
    from engine.tracing.trace import Trace

HEAD_TOKENS = 12
SHORT_LIST = 4
"""How many heads are taken away in turn. Each costs a pass through the layers above it."""


def mattering_head(trace: Trace) -> HeadFact:
    """Return the head of a short list without which the most probable token loses most.

    The list holds the heads that raise that token's score most by what they add themselves. What a
    head does through later parts does not bring it onto the list.
    """
    probabilities = softmax(trace.logits)
    answer = int(largest(trace.logits, 1)[0])
    without = without_heads(trace, answer, _short_list(trace, answer))
    layer, head = min(without, key=without.__getitem__)
    removal = RemovalFact(
        id=answer,
        data=trace.model.tokenizer.bytes_of(answer).hex(),
        before=round(float(probabilities[answer]), 6),
        after=round(without[layer, head], 6),
    )
    return head_fact(trace, layer, head, removal)


def _short_list(trace: Trace, answer: int) -> list[tuple[int, int]]:
    """Return layer and head of the few heads with the largest terms, the largest first."""
    shape = trace.architecture
    try:
        terms = head_attribution(trace, answer).sum(axis=-1)
    except EngineError:  # a final norm of an unknown kind: the last layer's heads act most directly
        return [(shape.layers - 1, head) for head in range(min(SHORT_LIST, shape.heads))]
    return [divmod(int(place), shape.heads) for place in largest(terms.ravel(), SHORT_LIST)]


def head_fact(trace: Trace, layer: int, head: int, removal: RemovalFact) -> HeadFact:
    """Return one head: its pattern over the last tokens, its habit, what the last token reads.

    Raises:
        EngineError: There is no such layer or head.
    """
    layer = trace.layer_index(layer)
    head = trace.head_index(head)
    count = len(trace.ids)
    first = max(0, count - HEAD_TOKENS)
    rows_TS = last_rows(trace, layer)[head]
    last = rows_TS[-1].copy()
    if count > 1:
        last[0] = -1.0  # what the first token gets tells nothing
    reads = int(last.argmax())
    return HeadFact(
        layer=layer,
        head=head,
        first=first,
        pattern=tuple(
            tuple(round(float(weight), 4) for weight in row) for row in rows_TS[:, first:]
        ),
        offset=_habit(rows_TS, first),
        reads=reads,
        weight=round(float(rows_TS[-1, reads]), 6),
        removal=removal,
    )


def last_rows(trace: Trace, layer: int) -> Array:
    """Return the last few queries' rows of one layer's pattern, `[H, t, S]`.

    `Trace.pattern` computes all T rows; a dozen are all that is shown here.
    """
    rows: Array = attention_pattern(
        attention_scores(
            trace.q[layer][:, -HEAD_TOKENS:],
            trace.k[layer],
            trace.scales[layer],
            trace.softcaps[layer],
            trace.masks[layer][-HEAD_TOKENS:],
        )
    )
    return rows


def _habit(rows_TS: Array, first: int) -> int | None:
    """Return how far back most rows read most strongly, the first token aside, or None."""
    offsets = [
        first + row - 1 - int(rows_TS[row, 1 : first + row + 1].argmax())
        for row in range(len(rows_TS))
        if first + row >= 2
    ]
    if len(offsets) < 3:
        return None
    common = max(set(offsets), key=offsets.count)
    return common if offsets.count(common) >= 0.6 * len(offsets) else None
