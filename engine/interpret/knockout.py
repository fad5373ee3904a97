"""Knock-outs: compare an edited pass with the plain one, and knock out every head in turn.

A knock-out is a second pass with an edit (`engine.observe.edits`). `difference` compares two
passes; `sweep` knocks out each head alone and reports one token's probability without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from engine.basics.arrays import Array, Ids, frozen, frozen_ids
from engine.basics.distribution import kl_bits, largest, softmax
from engine.basics.errors import EngineError, check_index
from engine.basics.results import Result, Table
from engine.basics.statistics import total_variation
from engine.network.tensors import to_array
from engine.observe.hooks import observe
from engine.observe.recording import AttentionInputs
from engine.tracing import replay

if TYPE_CHECKING:
    from engine.model.model import LanguageModel
    from engine.tracing.trace import Trace

ROWS = 1024
"""Most tokens of one batch of a sweep: enough to keep the cores busy, and little memory."""


@dataclass(frozen=True, eq=False)
class Difference(Table):
    """How much two passes over the same prompt differ after its last token."""

    columns = ("ids", "before", "after", "ranks_before", "ranks_after")

    ids: Ids
    """`[n]`: the likeliest tokens of either pass, in the order of the first pass."""
    before: Array
    """`[n]`, their probabilities in the first pass."""
    after: Array
    """`[n]`, their probabilities in the second pass."""
    ranks_before: Ids
    """`[n]`, 1 for the likeliest."""
    ranks_after: Ids
    """`[n]`."""
    kl: float
    """`Σ p log₂(p/q)` in bits: how much worse the second pass predicts what the first one says."""
    total_variation: float
    """Half of `Σ |p − q|`, 0 to 1: the most that any event's probability differs."""
    lens_kl: Array
    """`[L+1]`, the same KL divergence as read by the logit lens after 0 to L blocks."""
    lens_top_before: Ids
    """`[L+1]`, the likeliest token of that reading in the first pass."""
    lens_top_after: Ids
    """`[L+1]`."""


@dataclass(frozen=True, eq=False)
class SweepStep(Result):
    """One layer of a sweep."""

    layer: int
    probabilities: Array
    """`[H]`, the token's probability after the last position with only that head knocked out."""


def difference(before: Trace, after: Trace, count: int = 8) -> Difference:
    """Compare two passes of one model over prompts of the same length.

    Args:
        before: The pass to compare with, usually the plain one.
        after: The edited pass.
        count: How many of the likeliest tokens of each pass to list.

    Raises:
        EngineError: The prompts differ in length.
    """
    if len(before.ids) != len(after.ids):
        raise EngineError(
            f"The two prompts have {len(before.ids)} and {len(after.ids)} tokens: only prompts of "
            "the same length can be compared."
        )
    p, q = softmax(before.logits), softmax(after.logits)
    ids = np.array(
        list(dict.fromkeys([*largest(before.logits, count), *largest(after.logits, count)]))
    )
    ids = ids[np.argsort(-before.logits[ids], kind="stable")]
    lens_p, lens_q = _lens(before), _lens(after)
    return Difference(
        ids=frozen_ids(ids),
        before=frozen(p[ids]),
        after=frozen(q[ids]),
        ranks_before=frozen_ids([1 + int((before.logits > before.logits[i]).sum()) for i in ids]),
        ranks_after=frozen_ids([1 + int((after.logits > after.logits[i]).sum()) for i in ids]),
        kl=kl_bits(before.logits, after.logits),
        total_variation=total_variation(p, q),
        lens_kl=frozen([kl_bits(a, b) for a, b in zip(lens_p, lens_q, strict=True)]),
        lens_top_before=frozen_ids(lens_p.argmax(axis=-1)),
        lens_top_after=frozen_ids(lens_q.argmax(axis=-1)),
    )


def sweep(
    trace: Trace,
    token_id: int,
    *,
    layers: Iterable[int] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[SweepStep]:
    """Knock out each head alone and report a token's probability after the last position.

    The blocks below a head do not change, so each layer starts from the trace's own residual
    stream and only the blocks from there on run, with one copy of the prompt per head. The model's
    lock is held for one batch at a time.

    Args:
        trace: The pass to start from; it must be a plain one.
        token_id: The token.
        layers: Whose heads, in this order. None means all, the last layer first: its passes are
            the shortest, so progress shows at once.
        cancelled: Asked before each layer; true ends the sweep.

    Returns:
        One step per layer.

    Raises:
        EngineError: There is no such token or layer, or the trace is of an edited pass.
    """
    token_id = check_index("token id", token_id, trace.architecture.vocabulary)
    if trace.edits:
        raise EngineError("A sweep starts from the plain pass: restore the model first.")
    count = trace.architecture.layers
    asked = reversed(range(count)) if layers is None else layers
    return _sweep(trace, token_id, [check_index("layer", i, count) for i in asked], cancelled)


def without_heads(
    trace: Trace, token_id: int, heads: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], float]:
    """Return a token's probability after the last position without each of some heads.

    Like `sweep`, but for a few heads: those of one layer share a pass.

    Args:
        trace: The pass to start from; it must be a plain one.
        token_id: The token.
        heads: Layer and head of each.

    Raises:
        EngineError: There is no such token, layer or head, or the trace is of an edited pass.
    """
    token_id = check_index("token id", token_id, trace.architecture.vocabulary)
    if trace.edits:
        raise EngineError("Heads are taken away from the plain pass: restore the model first.")
    by_layer: dict[int, list[int]] = {}
    for layer, head in heads:
        by_layer.setdefault(trace.layer_index(layer), []).append(trace.head_index(head))
    found: dict[tuple[int, int], float] = {}
    for layer, chosen in by_layer.items():
        logits_BV = _without(trace.model, layer, chosen, trace.resid_pre[layer])
        for head, logits in zip(chosen, logits_BV, strict=True):
            found[layer, head] = float(softmax(logits)[token_id])
    return found


def _sweep(
    trace: Trace, token_id: int, layers: list[int], cancelled: Callable[[], bool]
) -> Iterator[SweepStep]:
    heads, tokens = trace.architecture.heads, len(trace.ids)
    size = max(1, min(heads, ROWS // tokens))
    for layer in layers:
        if cancelled():
            return
        stream_TD = trace.resid_pre[layer]
        found = []
        for start in range(0, heads, size):
            chosen = range(start, min(start + size, heads))
            logits_BV = _without(trace.model, layer, chosen, stream_TD)
            found += [float(softmax(logits)[token_id]) for logits in logits_BV]
        yield SweepStep(layer, frozen(found))


def _without(
    model: LanguageModel, layer: int, heads: Sequence[int], stream_TD: Array
) -> npt.NDArray[np.float32]:
    """Run the blocks from `layer` on once per head of `heads`, without it; logits `[B, V]`."""
    sites = model.sites
    table = model.network.get_input_embeddings().weight
    stream = torch.tensor(stream_TD, device=table.device, dtype=table.dtype)
    stream_BTD = stream[None].repeat(len(heads), 1, 1)
    ids = torch.zeros(stream_BTD.shape[:2], dtype=torch.long, device=table.device)
    with model.lock, torch.inference_mode(), ExitStack() as stack:
        below = [site.block for site in sites.layers[:layer]]
        stack.enter_context(replay.handing_through(below))
        stack.enter_context(replay.given(sites.layers[layer].block, stream_BTD))
        observe(stack, sites.layers[layer].attention, _SilenceOneEach(heads))
        logits = model.network(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            use_cache=False,
            logits_to_keep=1,
        ).logits
    return to_array(logits[:, -1])


class _SilenceOneEach:
    """An observer that silences a different head in each row of a batch."""

    def __init__(self, heads: Sequence[int]) -> None:
        self.heads = heads

    def saw(self, _: nn.Module, inputs: AttentionInputs) -> None:
        """Record nothing."""

    def edited(self, output: torch.Tensor) -> torch.Tensor:
        """Silence head `heads[b]` in row b of `[B, T, H, K]`."""
        output = output.clone()
        for row, head in enumerate(self.heads):
            output[row, :, head] = 0.0
        return output


def _lens(trace: Trace) -> Array:
    """Return the logit lens' logits of the last position, `[L+1, V]`."""
    return replay.run_lm_head(trace.model, trace.stream_at(-1))[1]
