"""A wrapped model: same logits as before, frozen facts, the right stop tokens, and clear errors."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import torch
import transformers

from engine.basics.errors import EngineError, ModelLoadError
from engine.model.fair_lock import FairLock
from engine.model.model import DEFAULT, LanguageModel, load_model
from tests.tiny import FAMILIES, tiny_network, tiny_tokenizer

LOGITS = json.loads(
    (Path(__file__).parents[2] / "data" / "cases" / "logits.json").read_text(encoding="utf-8")
)


@torch.inference_mode()
def last_logits(network, ids):
    return network(input_ids=torch.tensor([ids])).logits[0, -1]


@pytest.mark.parametrize("family", FAMILIES)
def test_wrapping_keeps_the_logits(family):
    network = tiny_network(family)
    ids = list(range(20, 44))
    before = last_logits(network, ids)
    model = LanguageModel.wrap(network, tiny_tokenizer(), name="tiny")
    assert (last_logits(model.network, ids) - before).abs().max() <= 1e-4
    assert not any(parameter.requires_grad for parameter in network.parameters())
    assert not network.training


def test_a_model_is_frozen_and_has_a_lock_of_its_own(tiny_model):
    one, other = (tiny_model("llama", fresh=True) for _ in range(2))
    assert one != other
    assert isinstance(one.lock, FairLock)
    assert one.lock is not other.lock
    assert (one.name, one.source, one.device) == ("tiny-llama", "tiny-llama", "cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "another"


def test_stop_ids_are_those_of_generate():
    network = tiny_network("llama")
    assert LanguageModel.wrap(network, tiny_tokenizer(), name="x").stop_ids == {2}
    network.generation_config.eos_token_id = [2, 7]
    assert LanguageModel.wrap(network, tiny_tokenizer(), name="x").stop_ids == {2, 7}
    network.generation_config.eos_token_id = network.config.eos_token_id = None
    expected = tiny_tokenizer().end_ids
    assert expected == {0, 2}
    assert LanguageModel.wrap(network, tiny_tokenizer(), name="x").stop_ids == expected


def test_the_tokenizer_covers_a_padded_head():
    config = transformers.LlamaConfig(
        vocab_size=512,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    network = transformers.AutoModelForCausalLM.from_config(config)
    model = LanguageModel.wrap(network, tiny_tokenizer(), name="padded")
    assert model.tokenizer.vocabulary == model.architecture.vocabulary == 512
    assert model.tokenizer.decode([511]) == ""


def test_errors_are_engine_errors():
    with pytest.raises(EngineError):
        load_model("no such model!")
    assert issubclass(ModelLoadError, EngineError)


@pytest.mark.real
def test_facts_of_the_default_model(real_model):
    assert real_model.name == real_model.source == DEFAULT
    assert dataclasses.asdict(real_model.architecture) == {
        "family": "llama",
        "layers": 30,
        "heads": 9,
        "kv_heads": 3,
        "head_size": 64,
        "width": 576,
        "ff_width": 1536,
        "vocabulary": 49_152,
        "context": 8192,
        "tied": True,
        "positions": "rope",
        "rope_theta": 100_000.0,
        "norm": "RMSNorm",
        "activation": "silu",
        "gated": True,
        "parallel": False,
        "parameters": 134_515_008,
    }
    assert real_model.stop_ids == {2}
    assert real_model.tokenizer.piece_of(2) == "<|im_end|>"


@pytest.mark.real
def test_the_capital_of_france_is_paris(real_model):
    ids = [token.id for token in real_model.tokenizer.encode("The capital of France is")]
    probabilities = last_logits(real_model.network, ids).softmax(-1)
    best = int(probabilities.argmax())
    assert real_model.tokenizer.decode([best]) == " Paris"
    assert float(probabilities[best]) == pytest.approx(0.7725, abs=5e-4)


@pytest.mark.real
@pytest.mark.parametrize("case", LOGITS["cases"], ids=lambda case: case["text"][:24])
def test_logits_are_those_of_llama_cpp(real_model, case):
    tokens = real_model.tokenizer.encode(case["text"], parse_special=True)
    assert [token.id for token in tokens] == case["ids"]
    logits = last_logits(real_model.network, case["ids"])
    values, ids = logits.topk(len(case["top"]))
    expected_ids, expected = zip(*case["top"], strict=True)
    assert ids.tolist() == list(expected_ids)
    assert (values - torch.tensor(expected)).abs().max() <= LOGITS["tolerance"]


@pytest.mark.real
def test_loading_says_how_far_it_is_and_nothing_to_the_log(real_model, capfd, caplog):
    stages = []
    load_model(progress=lambda step: stages.append((step.stage, step.done, step.total)))
    assert stages == [("load", 0, 1), ("load", 1, 1)]
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []
