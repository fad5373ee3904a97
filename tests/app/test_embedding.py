"""The embedding page, without a browser: look-up, orders, positions, three ways, tasks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from components.embedding.order import FIRST, SECOND
from tests.app.test_frame import texts
from tests.app.test_tokenizer import open_tasks
from tests.tiny import CHAT_TEMPLATE, SPECIAL_TOKENS, tiny_backend, tiny_network, tiny_tokenizer

LOOKS = ("Look-up", "Order", "Position", "Three ways")


@pytest.fixture(scope="module")
def gpt2_folder(tmp_path_factory) -> Path:
    """Return a folder with a tiny random GPT-2, which learns its positions."""
    from transformers import PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny-gpt2"
    tiny_network("gpt2").save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tiny_backend(), eos_token=SPECIAL_TOKENS[2]
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    return folder


def titles(at) -> list[str]:
    specs = [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]
    return [spec["layout"]["title"]["text"].replace("<br>", " ") for spec in specs]


def test_the_row_is_that_of_the_chosen_tokens_id(open_app):
    at = open_app("embedding", prompt="The cat sat", token="1", vectors="Look-up")
    token = tiny_tokenizer().encode("The cat sat")[1]
    row = tiny_network("llama").get_input_embeddings().weight[token.id].detach().numpy()
    title = next(title for title in titles(at) if "of the table" in title)
    assert f"row {token.id} of the table: {len(row)} numbers" in title
    assert f"{np.linalg.norm(row):.2f}" in title
    assert "One table, used twice (tied)" in texts(at)
    assert "difference between the two rows: 0." in texts(at)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("prompt", ["a", "The cat sat on the mat.", "<b>$x$</b> %{x} 🤗\n\u200b"])
def test_each_look_runs_on_any_prompt(open_app, look, prompt):
    at = open_app("embedding", prompt=prompt, vectors=look)
    assert at.get("plotly_chart")
    assert not any("<b>" in title for title in titles(at))


@pytest.mark.parametrize("look", LOOKS)
def test_each_look_runs_on_a_model_with_learned_positions(open_app, gpt2_folder, look):
    at = open_app(
        "embedding", models=str(gpt2_folder), prompt="The cat sat", token="0", vectors=look
    )
    said = texts(at)
    assert titles(at)
    if look == "Position":
        assert "This model has no RoPE" in said
        assert "Row 0 of the position table" in titles(at)
    if look == "Three ways":
        assert "A learned row for each position" in titles(at)
        assert "has no RoPE" in said


def test_no_way_has_an_empty_box(open_app):
    at = open_app("embedding", vectors="Three ways")
    assert "the running model has none" in texts(at)
    assert not at.info
    assert len(titles(at)) == 2


def test_two_orders_of_the_same_words(open_app):
    at = open_app("embedding")
    assert "The two lists of next tokens differ by" in texts(at)
    assert [title.split(":")[0] for title in titles(at)] == [
        f"After “{text}”" for text in (FIRST, SECOND)
    ]
    assert "Let it write on" in texts(at)
    at.toggle(key="position_off").set_value(True).run()
    assert "with position it was" in texts(at)
    at.text_input(key="order_second").set_value("man bites cat.").run()
    assert "not two orders of the same tokens" in texts(at)
    at.text_input(key="order_second").set_value(" ").run()
    assert "One of the boxes is empty" in texts(at)
    assert not at.exception
    at.button(key="order_classic").click().run()
    assert "man bites dog" in titles(at)[1]
    at.session_state["view"] = "In depth"
    at.run()
    assert "which is rounding" in texts(at)


def test_the_position_view_leaves_layer_and_head_of_other_pages_alone(open_app):
    at = open_app("attention", prompt="The cat sat on the mat.")
    before = [at.session_state[key] for key in ("layer", "head")]
    at = open_app("embedding", prompt="The cat sat on the mat.", vectors="Position")
    at.segmented_control(key="vectors").set_value("Three ways").run()
    at.switch_page("pages/attention/page.py").run()
    assert [at.session_state[key] for key in ("layer", "head")] == before
    assert not {"layer", "head", "token"} & set(at.query_params)


def test_moving_both_tokens_leaves_the_score(open_app):
    at = open_app("embedding", prompt="The cat sat on the mat.", token="3", vectors="Position")
    at.slider(key="rope_shift").set_value(150).run()
    at.slider(key="rope_key").set_value(1).run()
    said = texts(at)
    bold = [part.replace("−", "-") for part in re.findall(r": \*\*([-−]?[\d.,]+)\*\*", said)]
    own = re.search(r"score \*\*([-−]?[\d.]+)\*\*", said).group(1).replace("−", "-")
    # Both are rounded for the screen, so they may differ by one in the last digit.
    apart = min(abs(float(score.replace(",", "")) - float(own)) for score in bold)
    assert apart <= 1.5 * 10.0 ** -len(own.partition(".")[2])


def test_the_tasks_know_when_they_are_done(open_app):
    at = open_app("embedding", prompt="The cat sat")
    said = open_tasks(at)
    assert len(said) == 3
    assert "They differ by" in said[1]
    at.session_state["rope_pair"] = 3
    assert "Pair 3:" in open_tasks(at)[2]
