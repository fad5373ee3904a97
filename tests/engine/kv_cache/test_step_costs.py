"""With and without the cache: the same logits, timed side by side."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from engine.basics.errors import EngineError
from engine.generation.loop import generate
from engine.kv_cache.step_costs import greedy_costs, step_costs
from engine.network.decoder import Decoder
from engine.sampling.chain import SamplingSettings
from tests.near import LOGITS, assert_best
from tests.tiny import FAMILIES

IDS = [7, 300, 12, 12, 45, 99, 7, 300]


@pytest.mark.parametrize("family", FAMILIES)
def test_both_ways_choose_the_same_tokens(tiny_model, family):
    model = tiny_model(family)
    prompt = [token.id for token in model.tokenizer.encode("The cat sat")]
    greedy = SamplingSettings(temperature=0)
    steps = list(generate(model, prompt, greedy, max_new_tokens=12, seed=0))
    costs = list(step_costs(model, prompt, [step.id for step in steps]))
    assert [cost.index for cost in costs] == list(range(len(steps)))
    assert [cost.tokens for cost in costs] == [len(prompt) + i for i in range(len(steps))]
    assert [cost.cache_bytes for cost in costs] == [step.cache_bytes for step in steps]
    check_choices(model, prompt, [step.id for step in steps], costs)


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_costs_are_those_of_the_answer_that_they_write(tiny_model, family):
    model = tiny_model(family)
    costs = list(greedy_costs(model, IDS, 12))
    assert [cost.tokens for cost in costs] == list(range(8, 20))
    answer = [cost.best_id for cost in costs]
    check_choices(model, IDS, answer, costs)
    check_choices(model, IDS, answer, list(step_costs(model, IDS, answer)))


def check_choices(model, prompt, answer, costs):
    """Each cost's best token is that of a plain pass, and both ways agree, but for near ties."""
    with torch.inference_mode():
        logits = model.network(torch.tensor([[*prompt, *answer[:-1]]])).logits[0]
    for cost, row in zip(costs, logits[len(prompt) - 1 :].numpy(), strict=True):
        assert cost.difference < 1e-4
        assert_best(cost.best_id, row)
        second, best = np.sort(row)[-2:]
        assert cost.same_choice or best - second <= LOGITS


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_each_way_is_timed_by_what_it_reads(tiny_model, monkeypatch, family):
    """A clock that goes by the tokens read: with the cache one for each step, else all of them."""
    model = tiny_model(family, fresh=True)
    read = [0]
    clock = SimpleNamespace(perf_counter=lambda: read[0] / 1000)
    for module in ("together", "stock_rows"):
        monkeypatch.setattr(f"engine.kv_cache.{module}.time", clock)

    def count(_, args, kwargs):
        read[0] += kwargs["input_ids"].shape[1]

    def counted(decoder, readings, plain=Decoder.read):
        read[0] += sum(len(one.ids) for one in readings)
        plain(decoder, readings)

    monkeypatch.setattr(Decoder, "read", counted)
    model.network.register_forward_pre_hook(count, with_kwargs=True)
    costs = list(greedy_costs(model, IDS, 4))
    assert [cost.with_cache for cost in costs] == pytest.approx([len(IDS), 1, 1, 1])
    assert [cost.without_cache for cost in costs] == pytest.approx([8, 9, 10, 11])


def test_the_context_limit_ends_the_steps(tiny_model):
    model = tiny_model("llama")
    ids = np.resize(IDS, model.architecture.context - 1)
    assert len(list(greedy_costs(model, [int(i) for i in ids], 5))) == 2


def test_what_can_not_be_measured_is_said(tiny_model):
    model = tiny_model("llama")
    for costs in (greedy_costs, lambda *asked: step_costs(*asked[:2], IDS)):
        with pytest.raises(EngineError, match="type at least one character"):
            costs(model, [], 3)
        with pytest.raises(EngineError, match="token id"):
            costs(model, [10**6], 3)
    with pytest.raises(EngineError, match="at least 1 step, not 0"):
        greedy_costs(model, IDS, 0)
