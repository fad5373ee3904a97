"""The feed-forward page without a browser: block, neurons, residual stream, answer."""

from __future__ import annotations

import json

import pytest

PROMPT = "The capital of France is"
VIEWS = (
    "When the answer appears",
    "One block",
    "Neurons",
    "Residual stream",
    "Take a part away",
)


def spec(at, key):
    """Return the figure of a chart."""
    chart = next(c for c in at.get("plotly_chart") if key in c.proto.id)
    return json.loads(chart.proto.spec)


def words(at) -> str:
    kinds = ("markdown", "caption", "warning", "info")
    return "\n".join(element.value for kind in kinds for element in at.get(kind))


def title(at) -> str:
    """Return the title of the page's picture."""
    return next(element.value for element in at.markdown if element.value.startswith("##### "))


@pytest.fixture
def page(open_app):
    """Return the page on a prompt."""
    return lambda **link: open_app("feed_forward", prompt=PROMPT, **link)


@pytest.mark.parametrize("block", VIEWS)
def test_every_view_runs_on_one_token(open_app, block):
    at = open_app("feed_forward", prompt="a", block=block)
    assert at.segmented_control(key="block").value == block
    taken = block == "Take a part away"
    assert ("sweep" in {button.key for button in at.button}) == taken
    assert at.get("plotly_chart")


def test_every_box_of_the_block_opens_to_its_numbers(page):
    at = page(layer="1", token="2", block="One block")
    for box in ("resid_pre", "norm_1", "attention", "norm_2", "mlp", "resid_post"):
        at.session_state["block_box"] = box
        at.run()
        assert not at.exception, box
        assert at.get("plotly_chart"), box
    assert "Layer 1 takes “·of” from length" in words(at)


def test_a_neuron_is_spelled_out(page):
    at = page(block="Neurons", layer="2", token="3")
    assert "times up" in words(at)
    figure = spec(at, "neurons")
    assert figure["layout"]["yaxis"]["ticktext"][0].split()[-1].isdigit()
    assert "do half of the work" in figure["layout"]["title"]["text"].replace("<br>", " ")


def test_the_stream_has_a_point_before_the_first_and_after_the_last_block(page):
    at = page(block="Residual stream")
    figure = spec(at, "norms")
    assert figure["layout"]["yaxis"]["type"] == "log"
    assert figure["data"][0]["x"] == [0, 1, 2, 3]


def test_the_page_opens_on_when_the_answer_appears(page):
    at = page()
    assert at.segmented_control(key="block").value == "When the answer appears"
    assert " rank " in title(at)


def test_the_lens_ends_in_the_models_own_answer(page):
    at = page(block="When the answer appears")
    figure = spec(at, "lens")
    assert len(figure["data"][0]["text"]) == 4
    followed = at.selectbox(key="answer_token")
    assert followed.index == 0
    last = figure["data"][0]["text"][-1][-1]
    assert followed.options[0].startswith(f"{last} (")
    assert "the model's own score is" in words(at)


def test_another_token_is_followed(page):
    at = page(block="When the answer appears")
    before = title(at)
    at.text_input(key="answer_typed").set_value(" cat").run()
    assert not at.exception
    assert title(at) != before


def test_a_part_is_taken_away_here_too(page):
    at = page(block="Take a part away", edits="m1")
    assert at.metric[0].value.endswith("bits")
    assert at.selectbox(key="head")
