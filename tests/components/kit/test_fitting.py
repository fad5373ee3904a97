"""Figures fit into their place: titles in lines, labels apart, room for the numbers at bars."""

import html

import numpy as np
import pytest

from components.kit.bars import bars
from components.kit.fitting import LABEL_SIGN, TITLE_SIGN, enlarge, fit, wrapped
from components.kit.heatmap import heatmap
from components.kit.layout import FULL, HALF, THIRD
from components.kit.lines import lines
from components.kit.signed_bars import signed_bars
from tests.components.reading_figures import NASTY

LONG = "The feed-forward network adds the longer vector in 24 of 30 layers of this model, and more"


def title_lines(figure) -> list[str]:
    return [html.unescape(line) for line in figure.layout.title.text.split("<br>")]


@pytest.mark.parametrize("room", [FULL, HALF, THIRD])
def test_a_long_title_takes_lines_that_fit_and_the_figure_grows_by_them(room):
    figure = lines({"a": [1, 2]}, title=LONG, key="k", height=300)
    top = figure.layout.margin.t
    fit(figure, room)
    found = title_lines(figure)
    assert " ".join(found) == LONG
    assert all(len(line) * TITLE_SIGN <= room - 16 for line in found)
    assert figure.layout.height - 300 == 21 * (len(found) - 1)
    assert figure.layout.margin.t - top == 21 * (len(found) - 1)


def test_a_short_title_leaves_the_figure_alone():
    figure = lines({"a": [1, 2]}, title="short", key="k", height=300)
    fit(figure, FULL)
    assert (title_lines(figure), figure.layout.height) == (["short"], 300)


def test_a_figure_that_fits_is_not_fitted_twice():
    figure = lines({"a": [1, 2], "b": [3, 4]}, title=LONG, key="k")
    fit(figure, THIRD)
    once = figure.to_json()
    fit(figure, THIRD)
    assert figure.to_json() == once


@pytest.mark.parametrize("raw", NASTY)
def test_a_title_in_lines_stays_literal(raw):
    figure = lines({"a": [1]}, title=f"{LONG} {raw}", key="k")
    fit(figure, THIRD)
    for line in figure.layout.title.text.split("<br>"):
        assert not set("<$%") & set(line)
    assert raw.replace("<br>", "") in " ".join(title_lines(figure)).replace("<br>", "")


def test_signs_that_are_twice_as_wide_count_twice():
    assert wrapped("ab cd", 5 * TITLE_SIGN) == ["ab cd"]
    assert wrapped("日本 日本", 5 * TITLE_SIGN) == ["日本", "日本"]


@pytest.mark.parametrize("names", [["a", "b"], ["median of the others"] * 3])
def test_a_legend_stands_between_title_and_plot(names):
    series = {f"{name} {number}": [1, 2] for number, name in enumerate(names)}
    figure = lines(series, title=LONG, key="k", height=300)
    fit(figure, THIRD)
    rows = 1 if len(names) == 2 else len(names)
    title = 8 + 21 * len(title_lines(figure))
    legend = (1 - figure.layout.legend.y) * figure.layout.height
    assert legend == pytest.approx(title + 6)
    assert figure.layout.margin.t >= legend + 22 * rows


def square(tokens: int, label: str = "·token"):
    values = np.tril(np.full((tokens, tokens), 0.5)).astype(np.float32)
    values[~np.tri(tokens, dtype=bool)] = np.nan
    labels = [f"{label}{i}" for i in range(tokens)]
    return heatmap(values, labels, labels, title="t", key="k", low=0, high=1, height=560)


@pytest.mark.parametrize("tokens", [6, 12, 24, 42, 48])
@pytest.mark.parametrize("room", [FULL, HALF, THIRD])
def test_labels_of_tokens_do_not_overlap(tokens, room):
    figure = square(tokens)
    fit(figure, room)
    across, down = figure.layout.xaxis, figure.layout.yaxis
    widest = LABEL_SIGN * max(len(text) for text in down.ticktext)
    pixels = room - widest - 12 - 76
    apart = pixels / tokens * min(np.diff(across.tickvals))
    assert apart >= (20 if across.tickangle == -40 else 14)
    assert (560 - 44 - 26 - widest) / tokens * min(np.diff(down.tickvals)) >= 13
    assert across.ticktext[0] == down.ticktext[0] == "·token0"


def test_tokens_whose_labels_are_left_out_are_named_on_hover():
    figure = square(42)
    fit(figure, HALF)
    cells = figure.data[1]
    assert len(figure.layout.xaxis.ticktext) < 42
    assert cells.hovertemplate.startswith("query %{hovertext}<br>key %{text}<br>")
    for number in (0, 100, 800):
        assert cells.text[number] == f"·token{cells.x[number]}"
        assert cells.hovertext[number] == f"·token{cells.y[number]}"


def test_numbers_stay_level_and_round_ones_are_left():
    values = np.zeros((2, 30), dtype=np.float32)
    names = [str(i) for i in range(30)]
    figure = heatmap(values, ["a", "b"], names, title="t", key="k", low=0, high=1)
    fit(figure, HALF)
    assert figure.layout.xaxis.tickangle == 0
    assert list(figure.layout.xaxis.ticktext) == [str(i) for i in range(0, 30, 2)]


def test_the_texts_of_long_bars_fit_beside_them():
    texts = ["-4.44 · 11.09 = -49.27", "6.24 · 4.61 = 28.74"]
    figure = signed_bars(["dimension 1"] * 2, [-49.27, 28.74], title="t", key="k", texts=texts)
    fit(figure, FULL)
    low, high = figure.layout.xaxis.range
    each = (FULL - 150) / (high - low)
    assert (-49.27 - low) * each >= LABEL_SIGN * len(texts[0]) - 0.01
    assert (high - 28.74) * each >= LABEL_SIGN * len(texts[1]) - 0.01


def test_bars_of_two_figures_keep_one_scale():
    ranges = set()
    for values in ([0.9, 0.1], [0.5, 0.0001]):
        figure = bars([1, 2], ["a", "b"], values, title="t", key="k", high=0.9)
        fit(figure, HALF)
        ranges.add(tuple(figure.layout.xaxis.range))
    assert len(ranges) == 1


def test_presenting_enlarges_all_words_and_the_room_that_they_need():
    small = lines({"a": [1, 2], "b": [3, 4]}, title=LONG, key="k", height=300)
    large = lines({"a": [1, 2], "b": [3, 4]}, title=LONG, key="k", height=300)
    fit(small, HALF)
    fit(large, HALF)
    enlarge(large, 1.25)
    assert large.layout.height == round(small.layout.height * 1.25)
    assert large.layout.margin.t == round(small.layout.margin.t * 1.25)
    assert large.layout.title.font.size == small.layout.title.font.size * 1.25
    assert large.layout.yaxis.tickfont.size == round(small.layout.yaxis.tickfont.size * 1.25, 1)
    assert large.layout.title.text == small.layout.title.text
