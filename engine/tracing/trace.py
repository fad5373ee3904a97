"""One forward pass, written down: the numbers behind every picture of the model.

A trace keeps what cannot be recomputed cheaply: what each layer's attention and feed-forward
network add to the residual stream, and the queries, keys and values. The residual stream itself is
their running sum, the scores and the pattern follow from queries and keys, and neurons or the
logits of another position take a short replay of the network's own modules. So a trace of 256
tokens of the default model weighs 66 MB, and never holds all heads' maps or a vocabulary for every
token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt
import torch

from engine.basics.arrays import Array, frozen
from engine.basics.attention_scores import attention_pattern, attention_scores
from engine.basics.errors import check_index, checked_prompt
from engine.basics.results import Result
from engine.network.tensors import to_array
from engine.observe.edits import Edit, PositionOff, ReplaceEmbedding, check_edits
from engine.observe.hooks import observed
from engine.observe.recording import Recording
from engine.tracing import replay

if TYPE_CHECKING:
    from engine.model.model import LanguageModel
    from engine.network.architecture import Architecture


@dataclass(frozen=True, eq=False)
class Trace(Result):
    """What happened in one pass. All arrays are float32 and read-only."""

    ids: tuple[int, ...]
    """The T tokens of the prompt."""
    architecture: Architecture
    edits: tuple[Edit, ...]
    """What this pass did differently; empty for the plain pass."""
    embedded: Array
    """The input of the first block, `[T, D]`: embeddings, and learned positions where there are."""
    attn_out: Array
    """What attention adds to the residual stream, `[L, T, D]`."""
    mlp_out: Array
    """What the feed-forward network adds to the residual stream, `[L, T, D]`."""
    q: Array
    """Queries after position encoding, `[L, H, T, K]`."""
    k: Array
    """Keys after position encoding, `[L, G, T, K]`; head h reads key/value head `h // (H/G)`."""
    v: Array
    """Values, `[L, G, T, K]`."""
    logits: Array
    """The score of every token of the vocabulary after the last position, `[V]`."""
    scales: tuple[float, ...]
    """By layer, the factor on `q·k`, usually `1/√K`."""
    softcaps: tuple[float | None, ...]
    """By layer, the bound c of `c·tanh(score/c)` (Gemma 2), or None."""
    masks: tuple[npt.NDArray[np.bool_], ...]
    """By layer, True where a query may read a key, `[T, S]`; layers share the same array."""
    model: LanguageModel = field(repr=False)
    """The model that made the trace; it is asked for what is not kept."""

    def __post_init__(self) -> None:
        tokens, layers, width = len(self.ids), self.architecture.layers, self.architecture.width
        for name in ("attn_out", "mlp_out"):
            shape = getattr(self, name).shape
            if shape != (layers, tokens, width):
                raise ValueError(f"{name} is {shape}, expected {(layers, tokens, width)}.")
        for array in (*self._arrays(), *self.masks):
            array.flags.writeable = False

    def __repr__(self) -> str:
        count = len(self.edits)
        edited = f", {count} edit{'s' if count > 1 else ''}" if count else ""
        shape = self.architecture
        return f"Trace({len(self.ids)} tokens, {shape.layers} layers, {shape.family}{edited})"

    @property
    def resid_pre(self) -> ResidualStream:
        """The residual stream before each block; `[T, D]` by layer."""
        return ResidualStream(self, "pre")

    @property
    def resid_mid(self) -> ResidualStream:
        """`resid_pre + attn_out` by layer; in a parallel block (GPT-NeoX) nothing reads it."""
        return ResidualStream(self, "mid")

    @property
    def resid_post(self) -> ResidualStream:
        """The residual stream after each block; `[T, D]` by layer."""
        return ResidualStream(self, "post")

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take, in bytes."""
        masks = {id(mask): mask.nbytes for mask in self.masks}
        return sum(array.nbytes for array in self._arrays()) + sum(masks.values())

    def layer_index(self, layer: int) -> int:
        """Return a layer's number, or raise an EngineError that says which there are."""
        return check_index("layer", layer, self.architecture.layers)

    def head_index(self, head: int) -> int:
        """Return a query head's number, or raise an EngineError that says which there are."""
        return check_index("head", head, self.architecture.heads)

    def position_index(self, position: int, what: str = "position") -> int:
        """Return a position counted from the start, or raise an EngineError; `what` names it."""
        return check_index(what, position, len(self.ids), from_end=True)

    def kv_head(self, head: int) -> int:
        """Return the key/value head that a query head reads: heads of a group lie side by side."""
        group = self.architecture.heads // int(self.k.shape[1])
        return head // group

    def stream_at(self, position: int) -> Array:
        """Return one token's vector before every block and after the last, `[L+1, D]`."""
        return frozen(np.vstack([self.resid_pre.at(position), self.resid_post.at(position)[-1:]]))

    def scores(self, layer: int) -> Array:
        """Return what the softmax of one layer gets, `[H, T, S]`; −inf where the mask forbids."""
        layer = self.layer_index(layer)
        return frozen(
            attention_scores(
                self.q[layer],
                self.k[layer],
                self.scales[layer],
                self.softcaps[layer],
                self.masks[layer],
            )
        )

    def pattern(self, layer: int) -> Array:
        """Return one layer's attention pattern `[H, T, S]`: each row sums to 1."""
        return frozen(attention_pattern(self.scores(layer)))

    def neuron_run(self, layer: int) -> replay.NeuronRun:
        """Replay one layer's feed-forward network: gate, activation, up, neurons, `[T, F]`."""
        layer = self.layer_index(layer)
        parallel = self.model.sites.layers[layer].parallel
        stream = self.resid_pre if parallel else self.resid_mid
        return replay.run_neurons(self.model, layer, stream[layer])

    def neurons(self, layer: int) -> Array:
        """Return the input of one layer's last feed-forward matrix, `[T, F]`."""
        return self.neuron_run(layer).product

    def unrotated(self, layer: int) -> tuple[Array, Array]:
        """Return one layer's q `[H, T, K]` and k `[G, T, K]` before position encoding."""
        layer = self.layer_index(layer)
        return replay.run_unrotated(self.model, layer, self.resid_pre[layer])

    def logits_at(self, position: int) -> Array:
        """Return the scores `[V]` of the token after any position; negative counts from the end."""
        position = self.position_index(position)
        if position == len(self.ids) - 1:
            return self.logits
        _, logits = replay.run_lm_head(self.model, self.resid_post[-1][position][None])
        return frozen(logits[0])

    def _arrays(self) -> tuple[Array, ...]:
        return (self.embedded, self.attn_out, self.mlp_out, self.q, self.k, self.v, self.logits)


class ResidualStream(Sequence[Array]):
    """The residual stream at one point of every block, summed when asked for."""

    def __init__(self, trace: Trace, point: Literal["pre", "mid", "post"]) -> None:
        self._trace = trace
        self._point = point

    def __len__(self) -> int:
        return self._trace.architecture.layers

    @overload
    def __getitem__(self, layer: int) -> Array: ...
    @overload
    def __getitem__(self, layer: slice) -> Sequence[Array]: ...
    def __getitem__(self, layer: int | slice) -> Array | Sequence[Array]:
        """Return `[T, D]` of one layer; negative counts from the end."""
        if isinstance(layer, slice):
            return [self[i] for i in range(*layer.indices(len(self)))]
        if not -len(self) <= layer < len(self):
            raise IndexError(
                f"There is no layer {layer}: the model has layers 0 to {len(self) - 1}."
            )
        layer %= len(self)
        total = self._trace.embedded.copy()
        for below in range(layer):
            total += self._trace.attn_out[below]
            total += self._trace.mlp_out[below]
        if self._point != "pre":
            total += self._trace.attn_out[layer]
        if self._point == "post":
            total += self._trace.mlp_out[layer]
        return frozen(total)

    def __iter__(self) -> Iterator[Array]:
        """Go up through all layers with one running sum."""
        total = self._trace.embedded.copy()
        for attn_out, mlp_out in zip(self._trace.attn_out, self._trace.mlp_out, strict=True):
            pre, mid = total, total + attn_out
            total = mid + mlp_out
            yield frozen({"pre": pre, "mid": mid, "post": total}[self._point])

    def at(self, position: int) -> Array:
        """Return one token's vector at every layer, `[L, D]`, without summing the other tokens."""
        trace = self._trace
        steps = np.stack([trace.attn_out[:, position], trace.mlp_out[:, position]], axis=1)
        steps_2LD = steps.reshape(-1, steps.shape[-1])
        sums = np.cumsum(np.vstack([trace.embedded[position][None], steps_2LD]), axis=0)
        start = {"pre": 0, "mid": 1, "post": 2}[self._point]
        return frozen(sums[start::2][: len(self)])


def trace(model: LanguageModel, ids: Sequence[int], *, edits: Iterable[Edit] = ()) -> Trace:
    """Run one pass over a prompt and write it down.

    Args:
        model: The model; its lock is held for the length of the pass.
        ids: The T tokens.
        edits: What the pass does differently. The network itself is never changed.

    Raises:
        EngineError: No tokens, too many, an id or an edit that does not exist, or a model whose
            blocks add something else to the residual stream than attention and feed-forward.
    """
    checked_ids = tuple(checked_prompt(ids, model.architecture))
    checked_edits = check_edits(edits, model.architecture, len(checked_ids))
    recording = Recording(model.architecture.layers)
    with model.lock, torch.inference_mode(), observed(model.sites, recording, checked_edits):
        output = model.network(**_inputs(model, checked_ids, checked_edits))
        logits = to_array(output.logits[0, -1])
    return Trace(
        ids=checked_ids,
        architecture=model.architecture,
        edits=checked_edits,
        logits=logits,
        scales=tuple(recording.scales),
        softcaps=tuple(recording.softcaps),
        masks=tuple(recording.masks),
        model=model,
        **recording.arrays,
    )


def _inputs(model: LanguageModel, ids: tuple[int, ...], edits: tuple[Edit, ...]) -> dict[str, Any]:
    """Return the arguments of the pass; two of the edits act here."""
    shown = list(ids)
    for edit in edits:
        if isinstance(edit, ReplaceEmbedding):
            shown[edit.position] = edit.token_id
    input_ids = torch.tensor([shown], device=model.network.device)
    positions = torch.arange(len(ids), device=input_ids.device)[None]
    if any(isinstance(edit, PositionOff) for edit in edits):
        positions = torch.zeros_like(positions)
    return {
        "input_ids": input_ids,
        "position_ids": positions,
        # Without a mask of ones transformers takes positions that don't count up for several
        # sequences packed into one, and separates them.
        "attention_mask": torch.ones_like(input_ids),
        "use_cache": False,
        "logits_to_keep": 1,
    }
