"""The products over few rows give what `F.linear` gives; swapping them in changes only the time."""

from __future__ import annotations

import copy
import itertools
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from engine.model.runtime import set_threads
from engine.network import few_rows
from engine.network.few_rows import (
    FewRowsLinear,
    compiled_product,
    turned_product,
    use_few_rows,
    use_stock_linear,
)
from engine.network.few_rows_kernel import multiply
from tests.tiny import tiny_network


@pytest.fixture(params=[1, 3])
def threads(request):
    """However many threads torch has."""
    before = torch.get_num_threads()
    set_threads(request.param)
    yield request.param
    set_threads(before)


def layer(bias: bool, *, seed: int = 0) -> nn.Linear:
    generator = torch.Generator().manual_seed(seed)
    linear = nn.Linear(96, 80, bias=bias)
    for parameter in linear.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) / 10
    return linear


@torch.inference_mode()
def test_equals_linear(threads):
    off = {}
    for rows, bias in itertools.product((*range(1, 18), 33, 64, 65), (False, True)):
        linear = layer(bias)
        x = torch.randn(rows, 96, generator=torch.Generator().manual_seed(rows))
        expected = functional.linear(x, linear.weight, linear.bias)
        use_few_rows(linear)
        off[f"{rows} rows, bias {bias}"] = float((linear(x) - expected).abs().max())
    assert {case: value for case, value in off.items() if not value <= 1e-5} == {}


@torch.inference_mode()
def test_each_product_equals_the_sum_in_float64():
    wrong = []
    sizes = itertools.product((*range(1, 12), 16, 33, 64), (1, 7, 16, 96, 577), (1, 2, 3, 80, 81))
    for rows, ins, outs in sizes:
        generator = torch.Generator().manual_seed(rows)
        x, weight = (torch.randn(n, ins, generator=generator) for n in (rows, outs))
        exact = x.double() @ weight.double().T
        for multiplied in (turned_product, compiled_product):
            product, case = multiplied(x, weight), (multiplied.__name__, rows, ins, outs)
            if product.shape != (rows, outs):
                wrong.append((*case, tuple(product.shape)))
            elif not (product - exact).abs().max() <= 1e-5 * ins**0.5:
                wrong.append((*case, float((product - exact).abs().max())))
    assert wrong == []


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 9, 33])
def test_the_loop_writes_every_place_and_only_those(rows):
    """Integers are exact in float32, so the sums are too; the frame around must stay as it was."""
    w = np.arange(7 * 3, dtype=np.float32).reshape(7, 3)
    x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    framed = np.full((rows + 2, 7), -1, dtype=np.float32)
    multiply(w, x, framed[1:-1])
    assert np.array_equal(framed[1:-1], x @ w.T)
    assert (framed[[0, -1]] == -1).all()


@pytest.mark.parametrize(
    "shape", [(96,), (1, 5, 96), (2, 3, 96), (4, 1, 96), (0, 96), (2, 40, 96), (33, 1, 96)]
)
@torch.inference_mode()
def test_equals_linear_in_every_shape(shape, threads):
    linear = layer(bias=True)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    expected = functional.linear(x, linear.weight, linear.bias)
    use_few_rows(linear)
    result = linear(x)
    assert result.shape == expected.shape
    assert torch.allclose(result, expected, rtol=0, atol=1e-5)


@torch.inference_mode()
def test_input_need_not_be_contiguous(threads):
    linear = layer(bias=False)
    x = torch.randn(96, 4, generator=torch.Generator().manual_seed(2)).t()
    expected = functional.linear(x, linear.weight)
    use_few_rows(linear)
    assert (linear(x) - expected).abs().max() <= 1e-5


@pytest.mark.parametrize("family", ["llama", "phi3"])
@pytest.mark.parametrize("tokens", [1, 4, 16, 40])
@torch.inference_mode()
def test_a_network_gives_the_same_logits(family, tokens, threads):
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


@pytest.mark.parametrize("rows", [1, 4])
def test_gradients_flow_where_they_are_wanted(rows, threads):
    linear = layer(bias=True)
    use_few_rows(linear)
    generator = torch.Generator().manual_seed(rows)
    x = torch.randn(rows, 96, generator=generator, requires_grad=True)
    linear(x).sum().backward()
    assert torch.allclose(x.grad, linear.weight.sum(dim=0).expand(rows, -1), atol=1e-5)


@pytest.mark.parametrize("rows", [1, 4])
def test_a_weight_may_change_in_the_layer_and_in_its_copy(rows, threads):
    linear = layer(bias=False)
    use_few_rows(linear)
    x = torch.randn(rows, 96, generator=torch.Generator().manual_seed(rows))
    with torch.no_grad():
        before, twin = linear(x), copy.deepcopy(linear)
        twin.weight.mul_(2)
        assert torch.allclose(twin(x), 2 * before, atol=1e-5)
        linear.weight = nn.Parameter(3 * linear.weight)
        assert torch.allclose(linear(x), 3 * before, atol=1e-5)


def test_only_plain_float32_linear_layers_are_swapped():
    class Own(nn.Linear):
        pass

    turned = nn.Linear(4, 4)
    turned.weight = nn.Parameter(turned.weight.detach().t())
    network = nn.Sequential(nn.Linear(4, 4), Own(4, 4), nn.Linear(4, 4).to(torch.bfloat16), turned)
    use_few_rows(network)
    kinds = [FewRowsLinear, Own, nn.Linear, nn.Linear]
    assert [type(module) for module in network] == kinds


def test_without_a_compiler_the_products_are_the_same_and_the_log_says_so_once(monkeypatch, caplog):
    # What numba does where it may keep nothing: the import of the loop fails.
    monkeypatch.setitem(sys.modules, "engine.network.few_rows_kernel", None)
    few_rows.kernel.cache_clear()
    layer = few_rows.FewRowsLinear(7, 5)
    try:
        with torch.inference_mode():
            for rows in (1, 2, 5):
                x = torch.randn(rows, 7, generator=torch.Generator().manual_seed(rows))
                expected = torch.nn.functional.linear(x, layer.weight, layer.bias)
                assert torch.allclose(layer(x), expected, atol=1e-6)
    finally:
        few_rows.kernel.cache_clear()
    assert caplog.text.count("torch's slower way") == 1
