"""The turned product gives what `F.linear` gives; swapping it in changes nothing but the time."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from engine.few_rows import (
    MOST_ROWS,
    FewRowsLinear,
    few_rows_product,
    use_few_rows,
    use_stock_linear,
)
from tests.tiny import tiny_network


def layer(bias: bool, *, seed: int = 0) -> nn.Linear:
    generator = torch.Generator().manual_seed(seed)
    linear = nn.Linear(96, 80, bias=bias)
    for parameter in linear.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) / 10
    return linear


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("rows", range(1, MOST_ROWS + 2))
@torch.inference_mode()
def test_equals_linear(rows, bias):
    linear = layer(bias)
    x = torch.randn(rows, 96, generator=torch.Generator().manual_seed(rows))
    expected = functional.linear(x, linear.weight, linear.bias)
    use_few_rows(linear)
    assert (linear(x) - expected).abs().max() <= 1e-5
    assert (few_rows_product(x, linear.weight, linear.bias) - expected).abs().max() <= 1e-5


@pytest.mark.parametrize("shape", [(96,), (1, 5, 96), (2, 3, 96), (4, 1, 96), (0, 96), (2, 40, 96)])
@torch.inference_mode()
def test_equals_linear_in_every_shape(shape):
    linear = layer(bias=True)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    expected = functional.linear(x, linear.weight, linear.bias)
    use_few_rows(linear)
    result = linear(x)
    assert result.shape == expected.shape
    assert torch.allclose(result, expected, rtol=0, atol=1e-5)


@torch.inference_mode()
def test_input_need_not_be_contiguous():
    linear = layer(bias=False)
    x = torch.randn(96, 4, generator=torch.Generator().manual_seed(2)).t()
    expected = functional.linear(x, linear.weight)
    use_few_rows(linear)
    assert (linear(x) - expected).abs().max() <= 1e-5


@pytest.mark.parametrize("family", ["llama", "phi3"])
@pytest.mark.parametrize("tokens", [1, 4, 16, 40])
@torch.inference_mode()
def test_a_network_gives_the_same_logits(family, tokens):
    network = tiny_network(family)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    ids = torch.arange(tokens)[None]
    stock = network(input_ids=ids).logits
    use_few_rows(network)
    assert any(type(module) is FewRowsLinear for module in network.modules())
    assert (network(input_ids=ids).logits - stock).abs().max() <= 1e-4
    after = network.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    use_stock_linear(network)
    assert all(type(module) is not FewRowsLinear for module in network.modules())
    assert torch.equal(network(input_ids=ids).logits, stock)


@pytest.mark.parametrize("bias", [False, True])
@torch.inference_mode()
def test_one_row_through_a_tall_matrix(bias):
    """Large enough for a turned copy, which one row uses and others do not."""
    linear = nn.Linear(96, 4000, bias=bias)
    generator = torch.Generator().manual_seed(3)
    for parameter in linear.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) / 10
    for shape in [(96,), (1, 96), (1, 1, 96), (2, 96), (40, 96)]:
        x = torch.randn(shape, generator=generator)
        expected = functional.linear(x, linear.weight, linear.bias)
        use_few_rows(linear)
        assert torch.equal(linear.columns, linear.weight.t())
        assert list(linear.state_dict()) == (["weight", "bias"] if bias else ["weight"])
        result = linear(x)
        assert result.shape == expected.shape
        assert (result - expected).abs().max() <= 1e-5
        use_stock_linear(linear)
        assert not hasattr(linear, "columns")


def test_the_copies_are_bounded(monkeypatch):
    layers = nn.Sequential(*[nn.Linear(100, 4000, bias=False) for _ in range(3)])
    small, wide = nn.Linear(96, 100), nn.Linear(4000, 100)
    monkeypatch.setattr("engine.few_rows.MOST_COPIED_BYTES", 2 * layers[0].weight.nbytes)
    for network in (layers, small, wide):
        use_few_rows(network)
    assert [layer.columns is not None for layer in layers] == [True, True, False]
    assert small.columns is None
    assert wide.columns is None


def test_only_plain_float32_linear_layers_are_swapped():
    class Own(nn.Linear):
        pass

    network = nn.Sequential(nn.Linear(4, 4), Own(4, 4), nn.Linear(4, 4).to(torch.bfloat16))
    use_few_rows(network)
    assert [type(module) for module in network] == [FewRowsLinear, Own, nn.Linear]
