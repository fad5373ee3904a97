"""A row's result is bit for bit the same alone and in any batch: what a common step rests on."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import (
    LlamaRMSNorm,
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)

from engine.network import few_rows_kernel, lanes
from engine.network.few_rows import FewRowsLinear, compiled_product, use_few_rows
from tests.tiny import tiny_network

BATCHES = (2, 3, 4, 5, 7, 8, 16, 30, 33, 64)
ROWS = max(BATCHES)


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return 3 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def depend_on_others(step, *inputs: torch.Tensor) -> list[str]:
    """Return the batches, from the first row and from the last, in which a row comes out changed.

    Args:
        step: from `[rows, ...]` tensors to one.
        inputs: `[ROWS, ...]`.
    """
    alone = torch.cat([step(*(x[i : i + 1] for x in inputs)) for i in range(ROWS)])
    changed = []
    for size in BATCHES:
        for part in (slice(0, size), slice(ROWS - size, ROWS)):
            if not torch.equal(step(*(x[part] for x in inputs)), alone[part]):
                changed.append(f"{size} rows of {ROWS}, {part.start} to {part.stop}")
    return changed


@pytest.mark.parametrize(("ins", "outs"), [(576, 192), (1536, 80), (48, 1), (37, 7), (5, 3)])
@torch.inference_mode()
def test_the_product_of_a_row(ins, outs):
    x, weight = numbers(ROWS, ins), numbers(outs, ins, seed=1)
    assert depend_on_others(lambda rows: compiled_product(rows, weight), x) == []
    expected = functional.linear(x, weight)
    off = (compiled_product(x, weight) - expected).abs().max()
    assert off <= 1e-5 * expected.abs().max()


@pytest.mark.parametrize("bias", [False, True])
@torch.inference_mode()
def test_a_layer_gives_a_row_the_same_in_each_shape(bias):
    linear = nn.Linear(96, 80, bias=bias)
    use_few_rows(linear)
    assert type(linear) is FewRowsLinear
    x = numbers(ROWS, 1, 96)
    assert depend_on_others(linear, x) == []
    assert torch.equal(linear(x.transpose(0, 1))[0], linear(x)[:, 0])
    assert torch.equal(linear(x.reshape(8, 8, 96)).reshape(ROWS, 80), linear(x)[:, 0])


@pytest.mark.parametrize("width", [64, 576, 577, 1536])
@torch.inference_mode()
def test_torch_s_norms_and_softmax(width):
    x = numbers(ROWS, 1, width)
    norm = LlamaRMSNorm(width)
    norm.weight.copy_(numbers(width, seed=1))
    assert depend_on_others(norm, x) == []
    assert depend_on_others(nn.LayerNorm(width), x) == []
    assert depend_on_others(lambda rows: rows.softmax(dim=-1), x) == []


@pytest.mark.parametrize("width", [64, 96, 1536])
@torch.inference_mode()
def test_torch_s_activations_of_widths_that_fill_registers(width):
    gate, up = numbers(ROWS, 1, width), numbers(ROWS, 1, width, seed=1)
    for activation in (functional.silu, functional.gelu, torch.tanh):
        assert depend_on_others(lambda x, y, f=activation: f(x) * y, gate, up) == []


@torch.inference_mode()
def test_rope_and_attention_of_rows_that_stand_at_places_of_their_own():
    rope = LlamaRotaryEmbedding(LlamaConfig(hidden_size=576, num_attention_heads=9))
    places = torch.randint(0, 8000, (ROWS, 1), generator=torch.Generator().manual_seed(2))
    q, k, v = (numbers(ROWS, 9, length, 64, seed=length) for length in (1, 40, 41))

    def turned(x: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        return apply_rotary_pos_emb(x, x, *rope(x, place))[0]

    assert depend_on_others(turned, q, places) == []
    assert depend_on_others(functional.scaled_dot_product_attention, q, k, v[:, :, 1:]) == []


@torch.inference_mode()
def test_a_network_over_a_batch_of_single_tokens():
    network = tiny_network("llama")
    use_few_rows(network)
    ids = torch.randint(0, 300, (ROWS, 1), generator=torch.Generator().manual_seed(3))
    assert depend_on_others(lambda rows: network(input_ids=rows).logits, ids) == []


def test_what_was_compiled_with_other_lanes_is_compiled_again():
    """Numba's cache looks only at the age of the file that the kernels stand in."""
    assert zlib.crc32(Path(lanes.__file__).read_bytes()) == few_rows_kernel.LANES_CHECKSUM
