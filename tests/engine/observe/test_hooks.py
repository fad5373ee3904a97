"""The attention function computes what the families' own does, and leaves nothing behind."""

import threading

import numpy as np
import pytest
import torch
import transformers

from engine.basics.errors import ModelLoadError
from engine.observe.edits import KnockOutHead, KnockOutMlp
from engine.observe.hooks import install, observing_attention
from engine.tracing.trace import trace
from tests.tiny import FAMILIES, tiny_model, tiny_network

IDS = [7, 300, 12, 12, 45, 99, 7, 300, 12, 200, 31, 8, 250, 7]


def marks(network):
    """Return everything that watching could leave on a network."""
    return [
        (
            tuple(module._forward_hooks),
            tuple(module._forward_pre_hooks),
            tuple(sorted(set(vars(module)))),
        )
        for module in network.modules()
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_unobserved_passes_give_what_the_familys_own_attention_gives(family):
    ids = torch.tensor([IDS, IDS[::-1]])
    with torch.inference_mode():
        expected = tiny_network(family)(input_ids=ids).logits
        found = tiny_model(family).network(input_ids=ids).logits
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_cached_passes_give_what_the_familys_own_attention_gives(family):
    network = tiny_model(family).network
    with torch.inference_mode():
        expected = tiny_network(family)(input_ids=torch.tensor([IDS])).logits[0]
        output = network(input_ids=torch.tensor([IDS[:9]]), use_cache=True)
        for cut in (slice(9, 10), slice(10, 14)):
            output = network(input_ids=torch.tensor([IDS[cut]]), cache=output.cache, use_cache=True)
            torch.testing.assert_close(output.logits[0], expected[cut], atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["position_bias", "s_aux"])
def test_scores_that_a_trace_could_not_show_are_refused(name):
    part = torch.zeros(1, 1, 1, 4)
    with pytest.raises(ModelLoadError, match=name):
        observing_attention(torch.nn.Identity(), part, part, part, None, **{name: part})


@pytest.mark.parametrize("mask", [torch.zeros(1, 1, 1, 1), torch.ones(1, 2, 1, 1, dtype=bool)])
def test_masks_that_differ_by_more_than_who_may_be_read_are_refused(mask):
    part = torch.zeros(1, 2, 1, 4)
    with pytest.raises(ModelLoadError, match="a mask of numbers"):
        observing_attention(torch.nn.Identity(), part, part, part, mask)


def test_blocks_that_scale_what_they_add_are_refused():
    config = transformers.GraniteConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        residual_multiplier=0.5,
        bos_token_id=0,
        eos_token_id=1,
    )
    with pytest.raises(ModelLoadError, match="residual stream"):
        install(transformers.GraniteForCausalLM(config))


@pytest.mark.parametrize("place", ["mlp of layer 1", "final norm", "attention of layer 0"])
def test_no_hook_remains_after_an_exception_in_the_middle_of_a_pass(place):
    model = tiny_model("llama")
    trace(model, IDS)
    before = marks(model.network)
    layers = model.network.model.layers
    module = {
        "mlp of layer 1": layers[1].mlp.down_proj,
        "final norm": model.network.model.norm,
        "attention of layer 0": layers[0].self_attn.o_proj,
    }[place]

    during = []

    def fail(*_):
        during.append(marks(model.network))
        raise RuntimeError("in the middle")

    handle = module.register_forward_hook(fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        trace(model, IDS, edits=(KnockOutHead(0, 1), KnockOutMlp(1)))
    handle.remove()
    assert len(during) == 1
    assert during[0] != before
    assert marks(model.network) == before
    assert not model.lock.locked()
    trace(model, IDS)


def test_traces_and_plain_passes_from_several_threads_do_not_meet():
    model = tiny_model("gemma2")
    expected = {n: trace(model, IDS[:n]) for n in (3, 9, 14)}
    wrong = []

    def work(n):
        for _ in range(5):
            found = trace(model, IDS[:n])
            if not (np.array_equal(found.q, expected[n].q) and len(found.ids) == n):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
