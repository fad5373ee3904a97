"""The attention page without a browser: levels, views of a head, the cache, parts taken away."""

from __future__ import annotations

import json
import re

import pytest

from components.kit.text import counted

PROMPT = "The cat sat on the mat. The cat sat on the"


def spec(at, key):
    """Return the figure of a chart."""
    chart = next(c for c in at.get("plotly_chart") if key in c.proto.id)
    return json.loads(chart.proto.spec)


def words(at) -> str:
    kinds = ("markdown", "caption", "warning", "info")
    return "\n".join(element.value for kind in kinds for element in at.get(kind))


@pytest.fixture
def page(open_app):
    """Return the page on a prompt whose tokens come back."""
    return lambda **link: open_app("attention", prompt=PROMPT, **link)


def test_the_pattern_is_drawn_up_to_the_diagonal_and_named_by_what_it_does(page):
    at = page(layer="1", head="3", token="4", picture="Matrix")
    figure = spec(at, "pattern")
    cells = figure["data"][1]
    tokens = len(figure["layout"]["yaxis"]["tickvals"])
    assert len(cells["x"]["bdata"]) > 0
    assert figure["data"][0]["zmax"] == 1
    assert "##### Head 3 of layer 1 " in words(at)
    assert tokens == len(figure["layout"]["xaxis"]["tickvals"])
    assert "Kind of head on this prompt" in words(at)


def test_every_view_of_a_head_and_every_step_runs(page):
    at = page()
    for picture in ("Arcs", "Step by step", "Matrix"):
        at.segmented_control(key="picture").set_value(picture).run()
        assert not at.exception, picture
    at.segmented_control(key="picture").set_value("Step by step").run()
    for name in at.segmented_control(key="step").options:
        at.segmented_control(key="step").set_value(name).run()
        assert not at.exception, name
        assert at.get("plotly_chart"), name
        if "softmax" in name:
            said = re.search(r"sums to 1: here from (\d\.\d+) to (\d\.\d+)", words(at))
            least, most = said.groups()
            assert (float(least), float(most)) == pytest.approx((1, 1), abs=2e-6)


def test_a_button_leads_to_the_head_that_was_asked_for(page):
    at = page(zoom="All heads")
    button = at.button(key="find_induction")
    place = [int(part.split(",")[0].split(" ")[0]) for part in _numbers(button.label)]
    button.click().run()
    assert at.session_state["zoom"] == "One head"
    assert [at.session_state["layer"], at.session_state["head"]] == place


def _numbers(label: str) -> list[str]:
    """Return what follows “layer ” and “head ” in a button's label."""
    return [label.split("layer ")[1], label.split(", head ")[1]]


def test_all_heads_are_ranked_by_how_much_a_token_reads_another_one(page):
    at = page(token="5", read="2")
    assert "(token 6, chosen above) reads" in words(at)
    place = [
        int(part.split(",")[0].split(" ")[0]) for part in _numbers(at.button(key="reader_1").label)
    ]
    shares = [at.button(key=f"reader_{rank}").label.split(" · ")[1] for rank in range(1, 7)]
    assert shares == sorted(shares, key=lambda text: -float(text.split(" ")[0]))
    if not at.button(key="reader_1").disabled:
        at.button(key="reader_1").click().run()
    assert [at.session_state["layer"], at.session_state["head"]] == place
    assert at.button(key="reader_1").disabled
    at.selectbox(key="read").set_value(0).run()
    assert at.query_params["read"] == "0"


def test_the_page_opens_on_the_same_head_after_another_page_had_its_own_start(page):
    at = page()
    opened = [at.session_state["layer"], at.session_state["head"]]
    at.switch_page("pages/embedding/page.py").run()
    at.segmented_control(key="vectors").set_value("Position").run()
    at.switch_page("pages/attention/page.py").run()
    assert [at.session_state["layer"], at.session_state["head"]] == opened
    at.selectbox(key="layer").set_value(1).run()
    at.switch_page("pages/embedding/page.py").run()
    at.switch_page("pages/attention/page.py").run()
    assert at.session_state["layer"] == 1


def test_without_the_first_token_and_on_a_log_scale(page):
    at = page(picture="Matrix")
    at.toggle(key="without_first").set_value(True).run()
    at.toggle(key="log_pattern").set_value(True).run()
    assert not at.exception
    assert spec(at, "pattern")["data"][0]["colorbar"]["ticktext"][-1] == "100 %"
    at.segmented_control(key="zoom").set_value("All heads").run()
    title = spec(at, "mosaic")["layout"]["title"]["text"]
    assert "without the first token" in title.replace("<br>", " ")


def test_a_cell_is_spelled_out_as_a_sum(page):
    at = page(zoom="One cell", layer="0", head="1", token="5", read="2")
    said = words(at)
    assert "q·k = " in said
    assert "÷ √8" in said
    assert "after the mask and softmax" in said
    assert "(token 6) reads" in said


def test_the_cache_grows_by_a_row_a_token(page):
    at = page(zoom="KV cache")
    shape = "384 bytes"  # 2 · 3 layers · 2 heads · 8 numbers · 4 bytes
    assert shape in words(at)
    assert "1,152" in words(at)  # 6 heads instead of 2
    at.button(key="race").click().run()
    assert not at.exception
    table = at.dataframe[0].value
    tokens = table["rows added"][0]
    assert list(table["step"])[:3] == ["prefill", "decode 1", "decode 2"]
    assert list(table["rows added"])[1:] == [1] * 15
    assert list(table["rows in every layer"]) == list(range(tokens, tokens + 16))
    assert table["same"].isin(["yes", "no"]).all()
    assert (table["same"] == "yes").mean() > 0.8  # a near tie may fall the other way
    drawn = spec(at, "race_chart")
    assert drawn["layout"]["title"]["text"].startswith(f"Prefill of {counted(tokens, 'token')}: ")
    assert f"at {tokens + 15} tokens " in words(at)


def answers(at) -> str:
    """Return the title of the picture of both answers."""
    titles = [element.value for element in at.markdown if element.value.startswith("##### ")]
    return titles[0].removeprefix("##### ").replace("\\", "")


def test_a_part_is_taken_away_and_comes_back(page):
    at = page(zoom="Take a part away", layer="1", head="2")
    assert answers(at).startswith("For example without head ")
    assert at.text_input(key="edits").value == ""
    assert at.button(key="restore").disabled
    at.button(key="take_0").click().run()
    assert at.text_input(key="edits").value == "h1.2"
    assert answers(at).startswith("Without head 2 of layer 1, “")
    assert at.metric[0].value.endswith("bits")
    assert at.metric[0].value != "0.00 bits"
    drawn = spec(at, "answers")
    assert [trace["name"] for trace in drawn["data"]] == ["as it is", "as changed"]
    at.button(key="take_1").click().run()
    assert at.text_input(key="edits").value == "h1.2 a1"
    assert answers(at).startswith("With 2 changes, “")
    at.button(key="back_h1.2").click().run()
    assert at.text_input(key="edits").value == "a1"
    at.button(key="restore").click().run()
    assert at.text_input(key="edits").value == ""
    assert answers(at).startswith("For example without head ")


def test_edits_come_with_the_link_and_wrong_ones_are_said(page):
    at = page(zoom="Take a part away", edits="m0 h99.1 <b>")
    said = words(at)
    assert at.button(key="back_m0").label == "the feed-forward network of layer 0 adds nothing"
    assert "There is no layer 99" in said.replace("\\", "")
    assert len(at.warning) == 2


def test_an_embedding_is_replaced_by_that_of_a_typed_word(page):
    at = page(zoom="Take a part away", token="1")
    at.text_input(key="replacement").set_value(" sky").run()
    at.button(key="replace").click().run()
    assert at.text_input(key="edits").value.startswith("e1:")
    code = at.text_input(key="edits").value
    assert "gets the embedding of" in at.button(key=f"back_{code}").label


def test_a_sweep_fills_the_table_of_heads(page):
    at = page(zoom="Take a part away")
    at.button(key="sweep").click().run()
    assert not at.exception
    figure = spec(at, "sweep_chart")
    assert len(figure["layout"]["yaxis"]["tickvals"]) == 6
    assert len(figure["layout"]["xaxis"]["tickvals"]) == 3
    assert at.run().button(key="sweep").disabled
    dots = spec(at, "looking")["data"][0]
    assert len(dots["text"]) == 18
    assert "Recorded" not in words(at)
    share, probability = at.button(key="telling_matters").label.split(" gives ")[1], "without it"
    assert probability in share


@pytest.mark.parametrize(
    ("zoom", "charts"),
    [("All heads", True), ("One cell", True), ("KV cache", False), ("Take a part away", False)],
)
def test_every_level_runs_on_one_token(open_app, zoom, charts):
    at = open_app("attention", prompt="a", zoom=zoom)
    assert at.segmented_control(key="zoom").value == zoom
    assert bool(at.get("plotly_chart")) or not charts
    keys = {button.key for button in at.button}
    assert ("race" in keys) == (zoom == "KV cache")
    assert ("sweep" in keys) == (zoom == "Take a part away")
