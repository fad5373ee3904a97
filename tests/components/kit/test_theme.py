"""Colours are told apart, read on both backgrounds, and agree with the configuration file."""

from __future__ import annotations

import ast
import itertools
import tomllib
from pathlib import Path

import numpy as np
import pytest

from components.kit import theme
from tests.sources import sources

CONFIG = tomllib.loads(
    (Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text(encoding="utf-8")
)

# Machado, Oliveira and Fernandes 2009: full protanopia, deuteranopia, tritanopia on linear RGB.
COLOUR_BLINDNESS = {
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colour: str) -> np.ndarray:
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def nearest(colours, kind):
    """Return how far apart the two most alike of some colours are, to eyes of this kind."""
    matrix = np.eye(3) if kind is None else np.array(COLOUR_BLINDNESS[kind])
    seen = [lab(matrix @ linear(colour)) for colour in colours]
    return min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2))


@pytest.mark.parametrize("colour", [theme.QUERY, theme.KEY, theme.VALUE, *theme.CATEGORICAL])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_meaningful_colours_stand_out_on_both_backgrounds(colour, mode):
    # The eye needs 3:1 for a thin line; these are areas and thick lines, with a letter beside.
    assert contrast(colour, theme.BACKGROUND[mode]) >= 2.85


@pytest.mark.parametrize("kind", [None, *COLOUR_BLINDNESS])
def test_query_key_value_are_told_apart_by_everyone(kind):
    assert nearest((theme.QUERY, theme.KEY, theme.VALUE), kind) >= 20


PARTS = (theme.ATTENTION, theme.FEED_FORWARD, theme.STREAM)


@pytest.mark.parametrize("colour", PARTS)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_parts_of_a_block_stand_out_on_both_backgrounds(colour, mode):
    assert contrast(colour, theme.BACKGROUND[mode]) >= 3


@pytest.mark.parametrize("kind", [None, *COLOUR_BLINDNESS])
def test_the_parts_of_a_block_are_told_apart_by_everyone(kind):
    assert nearest(PARTS, kind) >= 30


def test_the_parts_of_a_block_are_no_hue_of_query_key_or_value():
    for part, vector in itertools.product(PARTS, (theme.QUERY, theme.KEY, theme.VALUE)):
        assert np.linalg.norm(lab(linear(part)) - lab(linear(vector))) >= 40


def test_colours_of_query_key_and_value_are_used_for_nothing_else():
    reserved = {"theme.QUERY", "theme.KEY", "theme.VALUE"}
    used = {
        source.path.name
        for source in sources("components", "pages")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in reserved
    }
    # What each head shares, the cache on the overview, and who reads whom.
    assert used == {"sharing.py", "flow.py", "arcs.py"}


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_scales_are_ten_steps_that_leave_the_background_evenly(mode):
    colours = theme.palette(theme.SEQUENTIAL, mode)
    lightness = np.array([lab(linear(colour))[0] for colour in colours])
    steps = np.diff(lightness) * (1 if mode == "dark" else -1)
    assert len(colours) == 10
    assert (steps > 1.5).all()
    diverging = theme.palette(theme.DIVERGING, mode)
    assert len(diverging) == 10
    assert contrast(diverging[0], theme.BACKGROUND[mode]) > 3
    assert contrast(diverging[-1], theme.BACKGROUND[mode]) > 3


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_configuration_holds_the_same_colours(mode):
    section = CONFIG["theme"][mode]
    assert section["backgroundColor"] == theme.BACKGROUND[mode]
    assert section["chartCategoricalColors"] == list(theme.CATEGORICAL)
    assert section["chartSequentialColors"] == theme.palette(theme.SEQUENTIAL, mode)
    assert section["chartDivergingColors"] == theme.palette(theme.DIVERGING, mode)
    assert contrast(section["textColor"], section["backgroundColor"]) >= 7
    assert contrast(section["primaryColor"], "#ffffff") >= 4


def test_configuration_keeps_to_itself():
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["server"]["enableXsrfProtection"] is True
    assert CONFIG["client"]["showErrorDetails"] == "none"
    assert "http" not in str(CONFIG)


def test_colorscale_is_what_plotly_takes():
    scale = theme.colorscale(theme.DIVERGING)
    assert [scale[0][0], scale[-1][0], len(scale)] == [0.0, 1.0, 10]
    assert scale[0][1] == "rgba(224,99,47,1.000)"
    assert scale[-1][1] == "rgba(61,128,232,1.000)"


def test_token_colours_are_stable_and_spread():
    assert [theme.token_colour(i) for i in (0, 1, 504, 49151)] == [0, 7, 5, 11]
    counts = np.bincount([theme.token_colour(i) for i in range(49152)], minlength=12)
    assert len(counts) == len(theme.TOKEN_COLOURS)
    assert counts.min() > 4000
    same = sum(theme.token_colour(i) == theme.token_colour(i + 1) for i in range(1000))
    assert same == 0
