"""Figures keep every token apart, show text literally, stay small, and give clicks back."""

from __future__ import annotations

import html

import numpy as np
import pytest

from components.embedding.rope_clock import clock
from components.kit import theme
from components.kit.clicks import chosen_index, selected_points
from components.kit.figure import payload, token_axis, token_labels
from components.kit.heatmap import (
    clickable_cells,
    heatmap,
    selected_cell,
    stepped,
    steps,
)
from components.kit.lines import lines, selected_point
from components.kit.mosaic import downsampled, mosaic, selected_head
from components.kit.text import plotly as escape
from components.kit.vector_strip import fold, robust_limit, strip
from tests.components.reading_figures import NASTY, array, event, spec


def causal(size: int, *outer: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    weights = rng.random((*outer, size, size)).astype(np.float32)
    return np.where(np.tri(size, dtype=bool), weights, np.nan).astype(np.float32)


# Labels


def test_labels_are_literal_and_equal_ones_stay_apart():
    labels = token_labels([*NASTY, b"\xf0", b"\xf0"])
    axis = token_axis(labels)
    assert len(labels) == len(NASTY) + 2
    assert axis["tickvals"] == list(range(len(NASTY) + 2))
    assert axis["ticktext"] == labels
    assert html.unescape(labels[0]) == "<b>x</b>"
    assert "<" not in "".join(labels)
    assert labels[-1] == labels[-2] == "⟨F0⟩"


def test_long_axis_is_labelled_by_position():
    axis = token_axis([f"w{i}" for i in range(256)])
    assert axis["tickvals"] == list(range(0, 256, 10))
    assert axis["ticktext"][:2] == ["0", "10"]
    assert axis["range"] == [-0.5, 255.5]


@pytest.mark.parametrize("raw", NASTY)
def test_titles_and_names_are_literal(raw):
    figure = lines({raw or "x": [1, 2]}, title=f"a {raw}", key="k", y_title=raw)
    texts = [figure.layout.title.text, figure.layout.yaxis.title.text or "", figure.data[0].name]
    for text in texts:
        assert not set("<$%") & set(text)
    assert html.unescape(texts[0]) == f"a {raw}"


# Heatmap


def test_heatmap_fixes_range_and_scale_and_keeps_float32():
    values = causal(5)
    figure = heatmap(values, ["a"] * 5, ["b"] * 5, title="t", key="k", low=0, high=1)
    cells = spec(figure)["data"][0]
    assert (cells["zmin"], cells["zmax"]) == (0, 1)
    assert cells["colorscale"] == theme.colorscale(theme.SEQUENTIAL)
    assert cells["z"]["dtype"] == "f4"
    np.testing.assert_array_equal(array(cells["z"]), values)
    assert figure.layout.uirevision == "k"
    assert tuple(figure.layout.yaxis.range) == (4.5, -0.5)


def test_heatmap_of_signed_values_diverges():
    figure = heatmap(np.zeros((1, 1)), ["a"], ["b"], title="t", key="k", low=-2, high=2)
    assert spec(figure)["data"][0]["colorscale"] == theme.colorscale(theme.DIVERGING)


def test_texts_stand_in_the_cells_literally():
    figure = heatmap(
        np.eye(2),
        ["a", "b"],
        ["c", "d"],
        title="t",
        key="k",
        low=0,
        high=1,
        texts=[["1.00", "<b>"], ["", "0.5"]],
    )
    assert [list(row) for row in figure.data[0].text] == [["1.00", escape("<b>")], ["", "0.5"]]
    assert figure.data[0].texttemplate == "%{text}"
    assert figure.data[0].textfont.color == theme.TEXT
    assert not figure.layout.annotations  # one each would be slow to draw


def test_every_cell_under_the_mask_can_be_clicked_and_no_other():
    values = causal(4)
    figure = heatmap(values, ["a"] * 4, ["b"] * 4, title="t", key="k", low=0, high=1)
    overlay = spec(figure)["data"][1]
    rows, cols = array(overlay["y"]), array(overlay["x"])
    assert len(rows) == 10
    for number, (row, col) in enumerate(zip(rows, cols, strict=True)):
        assert selected_cell(event(1, number), values) == (row, col)
        assert array(overlay["customdata"])[number] == values[row, col]
    assert (clickable_cells(values) == np.argwhere(np.tri(4))).all()


@pytest.mark.parametrize("number", [-1, 10, 1.0, "1", None, True])
def test_a_click_that_is_no_cell_is_refused(number):
    assert selected_cell(event(1, number), causal(4)) is None


@pytest.mark.parametrize(
    "nothing", [None, {}, {"selection": {}}, {"selection": {"points": []}}, {"selection": None}, []]
)
def test_no_selection(nothing):
    assert selected_points(nothing) == []
    assert chosen_index(nothing, 3) is None
    assert selected_cell(nothing, causal(4)) is None


def test_heatmap_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"\(2, 2\) under 1 × 2"):
        heatmap(np.zeros((2, 2)), ["a"], ["b", "c"], title="t", key="k", low=0, high=1)
    with pytest.raises(ValueError, match="low < high"):
        heatmap(np.zeros((1, 1)), ["a"], ["b"], title="t", key="k", low=1, high=1)


def test_steps_keep_order_and_mark_empty_cells():
    values = np.array([np.nan, -1, 0, 0.5, 1, 7], dtype=np.float32)
    assert steps(values, 0, 1).tolist() == [0, 1, 1, 51, 100, 100]
    scale = stepped(theme.colorscale(theme.SEQUENTIAL))
    assert scale[0] == [0.0, "rgba(0,0,0,0)"]
    assert scale[-1][0] == 1.0
    places = [at for at, _ in scale]
    assert places == sorted(places)


@pytest.mark.parametrize("size", [6, 40, 128, 256])
def test_heatmap_payload(size):
    labels = [f"token {i}" for i in range(size)]
    figure = heatmap(causal(size), labels, labels, title="t", key="k", low=0, high=1)
    assert payload(figure) <= 300_000


# Mosaic


def test_downsampling_keeps_a_thin_stripe():
    pattern = np.eye(100, k=-1, dtype=np.float32)
    small = downsampled(pattern, 20)
    assert small.shape == (20, 20)
    assert (np.diag(small) == 1).all()
    assert downsampled(pattern[:5, :5], 20).shape == (5, 5)
    assert downsampled(causal(100, 2, 3), 32).shape == (2, 3, 32, 32)


@pytest.mark.parametrize("across", ["heads", "layers"])
def test_mosaic_places_every_head(across):
    values = np.zeros((3, 2, 2, 2), dtype=np.float32)
    values[2, 1] = [[1, 1], [0, 1]]
    figure = mosaic(values, title="t", key="k", high=1, across=across, selected=(2, 1))
    picture = array(spec(figure)["data"][0]["z"])
    assert picture.shape == ((9, 6) if across == "heads" else (6, 9))
    row, col = (6, 3) if across == "heads" else (3, 6)
    # Above the diagonal stays empty even where a value stands.
    assert picture[row : row + 3, col : col + 3].tolist() == [[100, 0, 0], [1, 100, 0], [0, 0, 0]]
    overlay = spec(figure)["data"][1]
    assert array(overlay["customdata"])[5].tolist() == [2, 1]
    assert (array(overlay["y"])[5], array(overlay["x"])[5]) == (row + 0.5, col + 0.5)
    box = figure.layout.shapes[0]
    assert (box.x0, box.x1, box.y0, box.y1) == (col - 1, col + 2, row - 1, row + 2)


def test_mosaic_click_gives_layer_and_head():
    assert selected_head(event(1, 0), 30, 9) == (0, 0)
    assert selected_head(event(1, 9 * 12 + 4), 30, 9) == (12, 4)
    assert selected_head(event(1, 270), 30, 9) is None
    assert selected_head(event(0, 3), 30, 9) is None


@pytest.mark.parametrize("size", [6, 24, 32])
def test_mosaic_payload(size):
    assert payload(mosaic(causal(size, 30, 9), title="t", key="k")) <= 500_000


# Strip


@pytest.mark.parametrize(
    ("width", "shape"), [(576, (8, 72)), (64, (2, 32)), (7, (1, 7)), (4096, (64, 64))]
)
def test_fold(width, shape):
    rows, columns = fold(width)
    assert (rows, columns) == shape
    assert rows * columns >= width


def test_strip_reads_like_text_and_ignores_one_outlier():
    values = np.linspace(-1, 1, 576, dtype=np.float32)
    values[100] = 500
    figure = strip(values, title="t", key="k", selected=75)
    cells = spec(figure)["data"][0]
    np.testing.assert_array_equal(array(cells["z"]).ravel(), values)
    assert -cells["zmin"] == cells["zmax"] == pytest.approx(robust_limit(values))
    assert cells["zmax"] < 1.01
    assert cells["colorbar"]["ticktext"][2].startswith("≥")
    box = figure.layout.shapes[0]
    assert (box.x0, box.y0) == (2.5, 0.5)
    assert payload(figure) <= 300_000


@pytest.mark.parametrize("values", [np.zeros(8), np.full(8, np.nan), np.eye(1, 576)[0]])
def test_strip_limit_is_never_zero(values):
    assert robust_limit(values) > 0
    strip(values, title="t", key="k")


# Lines and clocks


def test_lines_on_a_log_axis_leave_a_gap_at_zero():
    figure = lines({"a": [0, 1, 10]}, title="t", key="k", log=True, selected=1)
    drawn = array(spec(figure)["data"][0]["y"])
    assert np.isnan(drawn[0])
    assert drawn[1:].tolist() == [1, 10]
    assert figure.layout.yaxis.type == "log"
    assert figure.layout.shapes[0].x0 == 1
    assert selected_point(event(0, 2), 3) == 2


def test_lines_of_different_length_are_refused():
    with pytest.raises(ValueError, match=r"not \[1, 2\]"):
        lines({"a": [1], "b": [1, 2]}, title="t", key="k")


def test_clock_hands_point_where_the_angle_says():
    figure = clock(
        np.array([[0.0, np.pi / 2]]),
        title="t",
        key="k",
        position_names=["position 1"],
        pair_names=["pair 0", "pair 1"],
    )
    hands = spec(figure)["data"][1]
    x, y = array(hands["x"]).reshape(2, 3), array(hands["y"]).reshape(2, 3)
    np.testing.assert_allclose(x[:, 1] - x[:, 0], [0.92, 0], atol=1e-6)
    np.testing.assert_allclose(y[:, 1] - y[:, 0], [0, 0.92], atol=1e-6)
    assert np.isnan(x[:, 2]).all()
