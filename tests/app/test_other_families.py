"""The model pages follow the model: GPT-2's, GPT-NeoX's and Gemma 2's parts instead of Llama's."""

from __future__ import annotations

import pytest
from transformers import PreTrainedTokenizerFast

from tests.tiny import SPECIAL_TOKENS, tiny_backend, tiny_network

LEVELS = ("All heads", "One head", "One cell", "KV cache", "Take a part away")
VIEWS = ("Neurons", "Residual stream", "When the answer appears", "Take a part away", "One block")


@pytest.fixture(scope="module", params=["gpt2", "gpt_neox", "gemma2", "cohere"])
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


PAIRS = {"gpt_neox": "i and i + 1", "gemma2": "i and i + 8", "cohere": "2i and 2i + 1"}
"""Numbers that RoPE turns together: 2 of 8 in GPT-NeoX, 16 of 16 in Gemma 2, 8 of 8 in Cohere."""
DIVISORS = {
    "gpt2": "divided by √K = √8 = 2.828",
    "gpt_neox": "divided by √K = √8 = 2.828",
    "gemma2": "this model divides them by √24 = 4.899",
    "cohere": "divided by √K = √8 = 2.828",
}


def words(at) -> str:
    kinds = ("markdown", "latex", "caption")
    return "\n".join(element.value for kind in kinds for element in at.get(kind))


def read_out(at) -> str:
    """Return what a screen reader says of the charts, and the help of the sliders."""
    alts = [chart.proto.alt for chart in at.get("plotly_chart")]
    return "\n".join([*alts, *(slider.help or "" for slider in at.slider)])


def open_step(at, part: str) -> str:
    """Open the step of a head whose name holds `part`, and return what it says."""
    steps = at.segmented_control(key="step")
    steps.set_value(next(option for option in steps.options if part in option)).run()
    assert not at.exception
    return words(at)


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
    if name != "gpt2":
        assert f"({PAIRS[name]})" in open_step(at, "RoPE")
    said = open_step(at, "scale")
    assert DIVISORS[name] in said
    assert ("±c = 50" in said) == ("capped to" in said) == (name == "gemma2")


def test_the_formula_has_the_models_own_divisor(open_app, family):
    name, folder = family
    at = open_app("attention", models=folder, prompt="The cat sat on the cat", view="In depth")
    at.session_state["view"] = "In depth"
    at.run()
    said = words(at)
    assert (r"\sqrt{24}" in said) == (r"c\tanh" in said) == (name == "gemma2")
    assert (r"{\sqrt{K}}" in said) == (name != "gemma2")


@pytest.mark.parametrize("prompt", ["The cat sat", "a"])
def test_the_embedding_page_pairs_numbers_as_the_model_does(open_app, family, prompt):
    name, folder = family
    if name == "gpt2":
        return  # it has no RoPE
    at = open_app("embedding", models=folder, prompt=prompt, vectors="Position")
    assert f"(numbers {PAIRS[name]})" in read_out(at)
    first = "(numbers 0 and 8)" if name == "gemma2" else "(numbers 0 and 1)"
    assert f"Clock hands of pair 0 {first}" in read_out(at)
    at.segmented_control(key="vectors").set_value("Three ways").run()
    assert f"pair by pair (numbers {PAIRS[name]})" in words(at)
    at.session_state["view"] = "In depth"
    at.run()
    assert f"Pair i is made of the numbers {PAIRS[name]}." in words(at)
    assert ("Only 2 of the 8 numbers of a head are turned" in words(at)) == (name == "gpt_neox")
    assert (r"q'_{2i} \\ q'_{2i+1}" in words(at)) == (name == "cohere")


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
