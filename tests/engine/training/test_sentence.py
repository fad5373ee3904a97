"""Losses against PyTorch's and the model's own, learning on the copy only, the queue."""

from __future__ import annotations

import gc
import hashlib
import math

import pytest
import torch

from engine.basics.errors import EngineError
from engine.training.preference import prefer, preference_loss
from engine.training.sentence import Fact, learn, token_losses
from engine.training.tail import BYTES_A_NUMBER, Tail, learned

IDS = [70, 80, 90, 100, 110, 120]
FAMILIES = ["llama", "gpt2", "qwen3", "gpt_neox", "gemma2", "phi3"]


def checksum(model):
    digest = hashlib.sha256()
    for name, tensor in sorted(model.network.state_dict().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()


def own_logits(model, ids):
    row = torch.tensor([list(ids)])
    with torch.inference_mode():
        return model.network(input_ids=row, attention_mask=torch.ones_like(row)).logits[0]


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma2"])
def test_the_losses_equal_pytorchs_and_the_models_own(tiny_model, family):
    model = tiny_model(family)
    losses = token_losses(model, IDS)
    logits = own_logits(model, IDS)
    right = torch.nn.CrossEntropyLoss(reduction="none")(logits[:-1], torch.tensor(IDS[1:]))
    assert losses.bits.tolist() == pytest.approx((right / math.log(2)).tolist(), abs=1e-4)
    row = torch.tensor([IDS])
    own = model.network(input_ids=row, labels=row).loss
    assert losses.mean_nats == pytest.approx(float(own), abs=1e-5)
    assert losses.perplexity == pytest.approx(math.exp(float(own)), rel=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_untrained_tail_gives_the_models_logits(tiny_model, family):
    model = tiny_model(family)
    tail = Tail(model, 2)
    with torch.no_grad():
        ours = tail.logits(tail.trunk(IDS), 0)
    assert torch.allclose(ours, own_logits(model, IDS), atol=1e-4)
    weights = sum(parameter.numel() for parameter in tail.parameters())
    assert tail.nbytes == weights * BYTES_A_NUMBER
    assert learned(model, 2) == (weights, tail.nbytes)


def test_the_first_step_is_adamws_on_gradients_of_the_whole_network(tiny_model):
    """The copy learns what the same blocks learn when the whole network is trained by autograd."""
    model, twin = tiny_model("llama"), tiny_model("llama", fresh=True)
    states = list(
        learn(model, IDS[:4], IDS[4:], steps=3, learning_rate=1e-2, watched=[110, 5], blocks=2)
    )
    network = twin.network
    trained = [*network.model.layers[-2:].parameters(), *network.model.norm.parameters()]
    for parameter in trained:
        parameter.requires_grad_(True)
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    row = torch.tensor([IDS])
    for state in states:
        output = network(input_ids=row, labels=row, use_cache=False)
        shares = output.logits[0, 3].softmax(-1).detach()
        assert state.loss == pytest.approx(float(output.loss.detach()), abs=1e-4)
        assert state.competing == pytest.approx([float(shares[110]), float(shares[5])], abs=1e-4)
        optimizer.zero_grad()
        output.loss.backward()
        optimizer.step()


@pytest.mark.parametrize("family", FAMILIES)
def test_learning_lowers_the_loss_and_leaves_the_shared_model_alone(tiny_model, family):
    model = tiny_model(family)
    before = checksum(model)
    facts = [Fact("", (60, 61), 62)]
    states = list(
        learn(
            model,
            IDS[:4],
            IDS[4:],
            steps=8,
            learning_rate=1e-2,
            watched=[IDS[4]],
            facts=facts,
        )
    )
    assert [state.step for state in states] == list(range(9))
    assert states[-1].loss < states[0].loss
    assert states[-1].competing[0] > states[0].competing[0]
    start = own_logits(model, [60, 61])[-1].softmax(-1)[62]
    assert states[0].facts[0] == pytest.approx(float(start), abs=1e-5)
    list(prefer(model, IDS[:3], [5], [6], steps=3, learning_rate=1e-2, beta=0.5))
    token_losses(model, IDS)
    assert checksum(model) == before
    assert not any(parameter.requires_grad for parameter in model.network.parameters())
    assert all(parameter.grad is None for parameter in model.network.parameters())
    assert not any(module._forward_pre_hooks for module in model.network.modules())


def test_a_closed_session_frees_its_copy(tiny_model):
    model = tiny_model("llama")
    run = learn(model, IDS[:4], IDS[4:], steps=9, learning_rate=1e-2, watched=[5])
    next(run)
    next(run)
    assert any(type(one) is Tail for one in gc.get_objects())
    run.close()
    del run
    gc.collect()
    assert not any(type(one) is Tail for one in gc.get_objects())


def test_the_preference_loss_equals_its_formula():
    values = [torch.tensor(value) for value in (-2.0, -5.0, -3.0, -4.5)]
    loss, margin = preference_loss(*values, beta=0.3)
    right = 0.3 * ((-2.0 - -3.0) - (-5.0 - -4.5))
    assert float(margin) == pytest.approx(right)
    assert float(loss) == pytest.approx(-math.log(1 / (1 + math.exp(-right))))


def test_a_preference_starts_at_ln_2_and_moves_the_distribution(tiny_model):
    model = tiny_model("llama")
    states = list(
        prefer(
            model,
            IDS[:3],
            [5, 6],
            [7, 8, 9],
            steps=6,
            learning_rate=1e-2,
            beta=0.2,
            watched=[5, 7],
        )
    )
    logits = own_logits(model, [*IDS[:3], 5, 6]).log_softmax(-1)
    assert states[0].chosen == pytest.approx(float(logits[2, 5] + logits[3, 6]), abs=1e-4)
    assert states[0].loss == pytest.approx(math.log(2), abs=1e-6)
    # Exactly, on every machine: the start is not computed a second time.
    assert (states[0].margin, states[0].divergence) == (0, 0)
    assert states[-1].margin > 0
    assert states[-1].loss < states[0].loss
    assert states[-1].divergence > 0
    assert (
        states[-1].watched[0] / states[-1].watched[1] > states[0].watched[0] / states[0].watched[1]
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"steps": 0}, "1 to 50"),
        ({"steps": 51}, "1 to 50"),
        ({"learning_rate": 0.0}, "learning rate"),
        ({"beta": 0.0}, "β"),
        ({"chosen_ids": []}, "two answers"),
        ({"rejected_ids": [5]}, "the same"),
    ],
)
def test_what_cannot_be_learned_is_said(tiny_model, change, said):
    asked = {
        "prompt_ids": IDS,
        "chosen_ids": [5],
        "rejected_ids": [6],
        "steps": 1,
        "learning_rate": 1e-3,
        "beta": 0.1,
    }
    with pytest.raises(EngineError, match=said):
        prefer(tiny_model("llama"), **{**asked, **change})


def test_a_text_of_one_token_has_no_loss(tiny_model):
    with pytest.raises(EngineError, match="has 1"):
        token_losses(tiny_model("llama"), [5])
