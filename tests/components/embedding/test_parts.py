"""What the embedding page says and draws, from plain numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from components.embedding import depth, lookup, order, rope, ways
from components.embedding.rope import rope_table, turns
from components.kit.figure import payload
from tests.components.reading_figures import array, spec


@dataclass(frozen=True)
class Best:
    ids: tuple[int, ...]
    shares: tuple[float, ...]

    @property
    def probabilities(self) -> np.ndarray:
        return np.array(self.shares)


@dataclass(frozen=True, eq=False)
class Effect:
    differences: np.ndarray
    distance: float = 0.1
    first: Best = field(default_factory=lambda: Best((1, 3), (0.5, 0.1)))
    second: Best = field(default_factory=lambda: Best((2, 3), (0.4, 0.1)))


@dataclass(frozen=True, eq=False)
class Comparison:
    with_position: Effect
    without_position: Effect
    same_tokens: bool = True
    only_first: tuple[int, ...] = ()
    only_second: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Map:
    ids: np.ndarray = field(default_factory=lambda: np.array([4, 5, 6]))
    asked: np.ndarray = field(default_factory=lambda: np.array([True, True, False]))
    points: np.ndarray = field(default_factory=lambda: np.zeros((3, 2), dtype=np.float32))
    explained: np.ndarray = field(default_factory=lambda: np.array([0.5, 0.25]))


def comparison(on, off):
    return Comparison(Effect(np.array(on)), Effect(np.array(off)))


def title(figure):
    return figure.layout.title.text.replace("&#37;", "%")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (7.3e-8, "under 0.000001"),
        (0.00002, "0.000020"),
        (0.064, "6.4 %"),
        (0.0011, "0.11 %"),
        (1.2, "120 %"),
    ],
)
def test_small_differences_stay_readable(value, text):
    assert order.share(value) == text


def test_the_order_figure_says_both_numbers():
    found = comparison([0.064, 0.1], [7e-8, 0.14])
    assert "6.4 %" in title(order.figure(found, "RoPE"))
    assert "under 0.000001" in title(order.figure(found, "RoPE"))
    said = order.explanation(found, "RoPE")
    assert "which is rounding" in said
    assert "14 %" in said


def test_what_is_no_rounding_is_not_called_rounding():
    assert "rounding" not in order.explanation(comparison([0.1], [0.01]), "RoPE")


def test_the_most_alike_pair_is_named_and_equal_tokens_are_not():
    cosines = np.array([[1, 1, 0.2], [1, 1, 0.3], [0.2, 0.3, 1]], dtype=np.float32)
    said = title(lookup.cosine_figure(cosines, [b"a", b"a", b"<b>"], 0, "k"))
    assert "0.30" in said
    assert "<b>" not in said
    alone = lookup.cosine_figure(np.ones((1, 1)), [b"a"], 0, "k")
    assert title(alone) == "All tokens of the prompt are the same"


def test_the_map_marks_the_chosen_token_and_says_how_flat_it_is():
    figure = lookup.map_figure(Map(), [b"a", b"b", b"<i>"], 5, "k")
    assert "75 %" in title(figure)
    colours = figure.data[0].marker.color
    assert len(set(colours)) == 3
    assert not any("<i>" in name for name in figure.data[0].text)


def test_angles_are_written_in_degrees():
    assert rope.degrees(math.pi) == "180°"
    assert rope.degrees(0) == "0°"
    assert rope.degrees(0.0001) == "0.0057°"


def test_the_mean_score_names_the_best_distance_that_several_pairs_back():
    means = np.array([1.0, 3.0, 2.0, 9.0], dtype=np.float32)
    counts = np.array([40, 30, 20, 1])
    said = title(rope.mean_figure(means, counts, layer=1, head=2, key="k"))
    assert "1 token back (3.00)" in said
    hidden = rope.mean_figure(np.array([1.0, np.nan]), np.array([5, 0]), layer=0, head=0, key="k")
    assert "the token itself" in title(hidden)


def test_entries_are_spread_over_the_whole_width():
    values = np.arange(200, dtype=np.float32)[None]
    shown = ways.spread(values, 48)
    assert shown.shape == (1, 48)
    assert (shown[0, 0], shown[0, -1]) == (0, 199)
    assert ways.spread(values[:, :5], 48).shape == (1, 5)


def test_figures_of_the_longest_prompt_stay_small():
    rng = np.random.default_rng(0)
    pieces = [b" token"] * 256
    angles = rng.uniform(0, 900, (256, 32))
    cosines = rng.uniform(-1, 1, (256, 256)).astype(np.float32)
    for figure in (
        rope.angle_figure(angles, pieces, token=3, pair=2, key="k"),
        lookup.cosine_figure(cosines, pieces, 0, "k"),
        ways.table_figure(cosines[:64, :48], title="t", key="k"),
    ):
        assert payload(figure) <= 300_000


def test_the_tasks_are_met_by_what_they_ask_for(monkeypatch):
    waves = np.array([6.0, 5000.0])
    strong = Comparison(
        Effect(np.array([0.2]), distance=0.6), Effect(np.array([1e-8]), distance=0.1)
    )
    other = Comparison(Effect(np.array([0.2])), Effect(np.array([0.2])), same_tokens=False)
    monkeypatch.setattr(depth, "order_texts", lambda: ("a b c", "b a c"))
    assert [task.done for task in depth.tasks(strong, waves, 0.3)] == [True, True, False]
    assert [task.done for task in depth.tasks(other, None, 0.5)] == [False, False]
    monkeypatch.setattr(depth, "order_texts", lambda: depth.STARTS)
    assert [task.done for task in depth.tasks(strong, None, 0.5)] == [False, False]
    assert [task.done for task in depth.tasks(None, None, 0.5)] == [False, False]


def test_rope_table_says_how_far_each_pair_turned_after_whole_turns():
    angles = np.array([[0.0, np.pi / 2, np.pi, 5 * np.pi / 2, -np.pi / 2]])
    np.testing.assert_allclose(turns(angles), [[0, 90, 180, 90, 270]], atol=1e-9)
    figure = rope_table(angles, ["0"], title="t", key="k")
    np.testing.assert_allclose(array(spec(figure)["data"][0]["z"]), turns(angles), atol=1e-4)
    assert figure.data[0].zmax == 360
    assert figure.layout.xaxis.title.text
    assert figure.layout.yaxis.title.text


def letter(token):
    return b" " + bytes([96 + token])


def test_the_headline_says_which_token_leads_after_each_order_and_how_far_the_lists_differ():
    found = Comparison(
        Effect(np.array([0.1]), distance=0.8), Effect(np.array([1e-8]), distance=0.13)
    )
    said = order.headline(found, letter, off=False)
    assert "·a leads after one, ·b after the other" in said.replace("\\", "")
    assert "80 %" in said
    said = order.headline(found, letter, off=True)
    assert "differ by 13 %; with position it was 80 %" in said
    assert "the mask" in said
    same = Comparison(Effect(np.array([0.0])), Effect(np.array([0.0])))
    assert "nothing can differ" in order.headline(same, letter, off=False)


def test_bars_of_both_orders_share_a_scale_and_the_number_keeps_its_space():
    found = order.next_figure(Best((1, 3), (0.15, 0.1)), "x <b>", letter, high=0.6, key="k")
    assert title(found).endswith("·a, 15 %")
    assert "<b>" not in title(found)
    assert found.layout.xaxis.range[1] > 0.6
    assert order._best(Best((1,), (0.15,)), letter) == "·a 15 %"
