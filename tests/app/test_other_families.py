"""The model pages follow the model: GPT-2's, GPT-NeoX's and Gemma 2's parts instead of Llama's."""

from __future__ import annotations

import pytest
from transformers import PreTrainedTokenizerFast

from tests.tiny import SPECIAL_TOKENS, tiny_backend, tiny_network

LEVELS = ("All heads", "One head", "One cell", "KV cache", "Take a part away")
VIEWS = ("Neurons", "Residual stream", "When the answer appears", "Take a part away", "One block")


@pytest.fixture(scope="module", params=["gpt2", "gpt_neox", "gemma2"])
def family(request, tmp_path_factory):
    """Return a family and a folder with a tiny model of it."""
    folder = tmp_path_factory.mktemp("families") / request.param
    tiny_network(request.param).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tiny_backend(),
        eos_token=SPECIAL_TOKENS[2],
        clean_up_tokenization_spaces=False,
    ).save_pretrained(folder)
    return request.param, str(folder)


def words(at) -> str:
    return "\n".join(element.value for kind in ("markdown", "latex") for element in at.get(kind))


def test_the_attention_page_follows_the_family(open_app, family):
    name, folder = family
    at = open_app("attention", models=folder, prompt="The cat sat on the cat")
    for level in LEVELS:
        at.segmented_control(key="zoom").set_value(level).run()
        assert not at.exception, level
    at.segmented_control(key="zoom").set_value("One head").run()
    at.segmented_control(key="picture").set_value("Step by step").run()
    steps = at.segmented_control(key="step").options
    assert any("RoPE" in step for step in steps) == (name != "gpt2")
    for step in steps:
        at.segmented_control(key="step").set_value(step).run()
        assert not at.exception, step


def test_the_feed_forward_page_follows_the_family(open_app, family):
    name, folder = family
    at = open_app("feed_forward", models=folder, prompt="The cat sat on the cat", edits="h0.1")
    for view in VIEWS:
        at.segmented_control(key="block").set_value(view).run()
        assert not at.exception, view
    for box in ("norm_1", "attention", "norm_2", "mlp"):
        at.session_state["block_box"] = box
        at.run()
        assert not at.exception, box
        if box == "norm_1":
            kind = "RMSNorm" if name == "gemma2" else "LayerNorm"
            assert f"{kind} before attention" in words(at)
