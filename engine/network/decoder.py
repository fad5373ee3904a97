"""Read new tokens of several texts in one compiled pass, for networks of the Llama kind.

`Decoder` finds the weights of a network where they lie and hands them to the compiled pass of
`engine.network.decode_kernel`; nothing is copied. Each text has a cache of its own, so texts of any
length stand side by side, and one can read a whole prompt while the others read a single token.

What a text gets is bit for bit the same in any company. Networks of other kinds have no decoder:
there each text is read by the network itself.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from engine.network.few_rows import FewRowsLinear

if TYPE_CHECKING:
    from engine.basics.arrays import Array

log = logging.getLogger(__name__)

STEADY_SPEEDS = ("default", "linear", "llama3")
"""Kinds of RoPE whose pairs turn at the same speeds in texts of any length."""
FIRST_ROOM = 64
"""Tokens for which a text's cache has room at first; the room doubles as the text grows."""


class Text:
    """The keys and values of one text, for all layers."""

    def __init__(self, layers: int, groups: int, size: int) -> None:
        """Begin with nothing read, for L layers, G key/value heads and head size K."""
        self.kept = np.zeros((2, layers, groups, FIRST_ROOM, size), np.float32)
        """Keys and values, `[2, L, G, room, K]`."""
        self.tokens = 0
        """How many have been read: so many places are filled."""

    def make_room(self, tokens: int) -> None:
        """Let so many tokens fit."""
        room = self.kept.shape[3]
        if tokens > room:
            shape = (*self.kept.shape[:3], max(tokens, 2 * room), self.kept.shape[4])
            grown = np.zeros(shape, np.float32)
            grown[:, :, :, : self.tokens] = self.kept[:, :, :, : self.tokens]
            self.kept = grown

    def take_over(self, layers: Sequence[tuple[Array, Array]]) -> None:
        """Begin with each layer's keys and values `[G, tokens, K]` that were computed elsewhere."""
        tokens = layers[0][0].shape[1]
        self.make_room(tokens)
        for layer, parts in enumerate(layers):
            for part, numbers in enumerate(parts):
                self.kept[part, layer, :, :tokens] = numbers
        self.tokens = tokens

    def copy(self) -> Text:
        """Return a text that has read the same and goes on by itself."""
        twin = Text(self.kept.shape[1], self.kept.shape[2], self.kept.shape[4])
        twin.kept, twin.tokens = self.kept.copy(), self.tokens
        return twin

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values of the tokens that have been read."""
        return self.kept[:, :, :, : self.tokens].nbytes


@dataclass
class Reading:
    """What one text is to read in a pass, and what the model says after it."""

    text: Text
    ids: Sequence[int]
    last: int
    """After how many of the last tokens logits are wanted."""
    logits: Array = field(default_factory=lambda: np.zeros(0, np.float32), repr=False)
    """`[last, V]`, once it has been read."""
    states: Array = field(default_factory=lambda: np.zeros(0, np.float32), repr=False)
    """What the LM head reads after each token, `[T, D]`."""


class Decoder:
    """The weights of one network, and passes over them."""

    def __init__(self, network: Any) -> None:
        """Find the weights of a network that `fits`."""
        from numba.typed import List

        from engine.network import decode_kernel

        config, model = network.config, network.model
        self._read, self._list = decode_kernel.read_tokens, List
        self._cache_type = decode_kernel.CACHE
        self._matrices = List.empty_list(decode_kernel.FLOATS)
        self._norms = List.empty_list(decode_kernel.FLOATS)
        for block in model.layers:
            for matrix in _matrices(block):
                self._matrices.append(_array(matrix.weight))
            for norm in (block.input_layernorm, block.post_attention_layernorm):
                self._norms.append(_array(norm.weight)[None])
        self._matrices.append(_array(network.lm_head.weight))
        self._norms.append(_array(model.norm.weight)[None])
        self._table = _array(model.embed_tokens.weight)
        self._speeds = _array(model.rotary_emb.inv_freq)[None]
        self._shape = (len(model.layers), config.num_key_value_heads, 2 * self._speeds.shape[1])
        first = model.layers[0]
        self._numbers = (
            float(first.input_layernorm.variance_epsilon),
            float(first.self_attn.scaling),
            float(model.rotary_emb.attention_scaling),
        )

    @property
    def vocabulary(self) -> int:
        """How many token ids there are."""
        return len(self._table)

    def text(self) -> Text:
        """Return a text of which nothing has been read."""
        return Text(*self._shape)

    def read(self, readings: Sequence[Reading]) -> None:
        """Read what each text is to read, in one pass, and fill in what the model says.

        Args:
            readings: Of different texts, each with at least one token; ids of this vocabulary.
        """
        counts = [len(one.ids) for one in readings]
        starts = np.repeat([one.text.tokens for one in readings], counts)
        ends = np.cumsum(counts)
        rows = np.arange(ends[-1])
        texts = np.repeat(np.arange(len(readings)), counts)
        positions = starts + rows - np.repeat(ends - counts, counts)
        ids = np.concatenate([np.asarray(one.ids, np.int64) for one in readings])
        wanted = np.concatenate(
            [rows[end - one.last : end] for one, end in zip(readings, ends, strict=True)]
        )
        caches = self._list.empty_list(self._cache_type)
        for one in readings:
            one.text.make_room(one.text.tokens + len(one.ids))
            caches.append(one.text.kept)
        states = np.empty((len(ids), self._table.shape[1]), np.float32)
        logits = np.empty((len(wanted), len(self._matrices[-1])), np.float32)
        self._read(
            self._table,
            self._matrices,
            self._norms,
            self._speeds,
            self._numbers,
            (ids, texts, positions, wanted),
            caches,
            states,
            logits,
        )
        at = 0
        for one, count, end in zip(readings, counts, ends, strict=True):
            one.text.tokens += count
            one.states = states[end - count : end]
            one.logits = logits[at : at + one.last]
            at += one.last


def fits(network: Any) -> bool:
    """Say whether the compiled pass computes what this network does, and is worth its while."""
    config = network.config
    if type(network).__name__ != "LlamaForCausalLM" or config.hidden_act not in ("silu", "swish"):
        return False
    model = network.model
    linear = [matrix for block in model.layers for matrix in _matrices(block)]
    linear.append(network.lm_head)
    vectors = [model.norm, model.embed_tokens]
    vectors += [block.input_layernorm for block in model.layers]
    vectors += [block.post_attention_layernorm for block in model.layers]
    return (
        model.rotary_emb.rope_type in STEADY_SPEEDS
        # `use_few_rows` has chosen them: float32, on the CPU, their numbers side by side.
        and all(type(one) is FewRowsLinear and one.bias is None for one in linear)
        and all(_is_plain(one.weight) for one in vectors)
        and is_compiled()
    )


@cache
def is_compiled() -> bool:
    """Say whether the pass could be compiled; if not, say so once in the log."""
    try:
        from engine.network import decode_kernel  # noqa: F401
    except Exception as error:
        log.warning("Texts are read one at a time: %s", error)
        return False
    return True


def _matrices(block: Any) -> list[nn.Linear]:
    """Return the matrices of a block in the order in which the compiled pass wants them."""
    attention, feed_forward = block.self_attn, block.mlp
    return [
        attention.q_proj,
        attention.k_proj,
        attention.v_proj,
        attention.o_proj,
        feed_forward.gate_proj,
        feed_forward.up_proj,
        feed_forward.down_proj,
    ]


def _is_plain(weight: torch.Tensor) -> bool:
    """Say whether these are float32 numbers side by side in the memory of the CPU."""
    kind = weight.device.type == "cpu" and weight.dtype == torch.float32
    return kind and weight.is_contiguous()


def _array(weight: torch.Tensor) -> Array:
    """Return the numbers of a weight where they lie."""
    array: Array = weight.detach().numpy()
    return array
