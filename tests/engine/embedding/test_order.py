"""Order: without positions the first layer is blind to it, and the mask leaks it afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from engine.embedding import order
from tests.near import assert_best
from tests.tiny import FAMILIES

ONE, OTHER = [7, 30, 12, 99, 45], [12, 7, 99, 30, 45]


@pytest.mark.parametrize("family", FAMILIES)
def test_without_positions_the_first_layer_gives_the_last_token_the_same(tiny_model, family):
    found = order.compare(tiny_model(family), ONE, OTHER)
    assert found.same_tokens
    assert found.without_position.differences[0] <= 1e-6
    assert found.with_position.differences[0] > 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_the_mask_leaks_order_from_the_second_layer_on(tiny_model, family):
    found = order.compare(tiny_model(family), ONE, OTHER)
    assert (found.without_position.differences[1:] > 1e-4).all()
    assert found.without_position.distance > 0


def test_the_same_order_twice_differs_by_nothing(tiny_model):
    found = order.compare(tiny_model("llama"), ONE, ONE)
    assert not found.with_position.differences.any()
    assert found.with_position.distance == 0
    assert found.with_position.first.ids[0] == found.with_position.second.ids[0]


def test_other_tokens_are_named(tiny_model):
    found = order.compare(tiny_model("llama"), [7, 30, 45], [7, 7, 31, 45])
    assert not found.same_tokens
    assert found.only_first == (30,)
    assert sorted(found.only_second) == [7, 31]


def test_another_last_token_is_no_order_of_the_same(tiny_model):
    found = order.compare(tiny_model("llama"), [7, 30], [30, 7])
    assert not found.same_tokens
    assert found.only_first == found.only_second == ()


def test_the_distance_is_half_of_all_differences(tiny_model):
    from engine.basics.distribution import softmax
    from engine.tracing.trace import trace

    model = tiny_model("llama")
    effect = order.compare(model, ONE, OTHER).with_position
    first, second = (softmax(trace(model, ids).logits) for ids in (ONE, OTHER))
    assert effect.distance == pytest.approx(0.5 * float(np.abs(first - second).sum()), abs=1e-6)
    assert_best(int(effect.first.ids[0]), first, near=1e-5)
    assert effect.first.probabilities[0] == pytest.approx(float(first.max()))
    assert len(effect.second.ids) == order.BEST


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_written_is_the_greedy_text_of_the_model_with_and_without_positions(
    tiny_model, family
):
    from engine.observe.edits import PositionOff
    from engine.tracing.trace import trace

    model = tiny_model(family)
    for positions, edits in ((True, ()), (False, (PositionOff(),))):
        text = list(ONE)
        for token in order.written(model, ONE, 4, positions=positions):
            assert_best(token, trace(model, text, edits=edits).logits, near=1e-5)
            text.append(token)
        assert len(text) == len(ONE) + 4 or text[-1] not in model.stop_ids
    assert order.written(model, ONE, 0, positions=True) == ()


@pytest.mark.real
def test_dog_bites_man_on_the_default_model(real_model):
    ids = [
        [token.id for token in real_model.tokenizer.encode(text)]
        for text in (" dog bites man.", " man bites dog.")
    ]
    found = order.compare(real_model, *ids)
    assert found.same_tokens
    assert found.without_position.differences[0] <= 1e-6
    assert found.with_position.differences[0] == pytest.approx(0.064, abs=0.005)
    assert 0 < found.without_position.distance < found.with_position.distance
