"""Bars stand for token ids, carry the digits that matter, and give a token back on a click."""

from __future__ import annotations

import html

import numpy as np
import pytest

from components.kit import theme
from components.kit.bars import bars, selected_token
from components.kit.figure import payload
from tests.components.reading_figures import NASTY, event, spec


def test_bars_are_keyed_by_id_even_when_texts_are_equal():
    ids = list(range(265))
    figure = bars(ids, [b"\xff"] * 265, np.full(265, 1 / 265), title="t", key="k")
    drawn = spec(figure)
    assert drawn["data"][0]["y"] == list(range(265))
    assert drawn["data"][0]["customdata"] == ids
    assert len(set(drawn["layout"]["yaxis"]["ticktext"])) == 265
    assert selected_token(event(0, 264), ids) == 264
    assert payload(figure) <= 300_000


def test_bars_grey_what_is_cut_and_mark_what_is_drawn():
    figure = bars(
        [7, 8, 9],
        NASTY[:3],
        [0.7, 0.2, 0.1],
        title="t",
        key="k",
        kept=[True, True, False],
        cut_after=2,
        cut_label="top-k keeps 2",
        selected=8,
        picked=7,
    )
    marker = spec(figure)["data"][0]["marker"]
    assert marker["color"] == [theme.PICKED, theme.ACCENT, theme.with_alpha(theme.CUT, 0.45)]
    assert marker["line"]["color"][1] == theme.PICKED
    assert figure.layout.shapes[0].y0 == 1.5
    assert figure.layout.annotations[0].text == "top-k keeps 2"
    assert tuple(figure.layout.yaxis.range) == (2.5, -0.5)


def test_bar_numbers_carry_the_digits_that_matter():
    figure = bars(range(6), list("abcdef"), [0.77, 0.042, 0.0031, 2e-5, 0, 1], title="t", key="k")
    written = [html.unescape(text) for text in spec(figure)["data"][0]["text"]]
    assert written == ["77 %", "4.2 %", "0.31 %", "< 0.01 %", "0 %", "100 %"]
    logits = bars([1, 2], ["a", "b"], [12.345, -1], title="t", key="k", percent=False)
    assert list(spec(logits)["data"][0]["text"]) == ["12.35", "-1.00"]


def test_bars_refuse_lists_of_different_length():
    with pytest.raises(ValueError, match="1 ids, 2 pieces and 2 values"):
        bars([1], ["a", "b"], [0.1, 0.2], title="t", key="k")


def test_a_clicked_bar_is_a_token_of_the_list():
    assert selected_token(event(0, 1), [50, 60]) == 60
    assert selected_token(event(0, 2), [50, 60]) is None
    assert selected_token(event(1, 0), [50, 60]) is None
