"""Colours, and what each one means, the same on every page, in light and in dark.

Colours that stand for a meaning are mid-tones that are read on both backgrounds. Scales start at
the background itself (their low end is transparent), so that zero looks like nothing in either
mode, and grow to the same solid colour. `.streamlit/config.toml` holds the same values flattened
onto each background; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping

BACKGROUND: Mapping[str, str] = {"light": "#ffffff", "dark": "#11151c"}

# Query, key and value: blue, orange, green, told apart by colour-blind readers. Everywhere a
# colour stands for one of them its letter stands beside it.
QUERY, KEY, VALUE = "#4a6ee0", "#d9760b", "#2fa866"

# The parts of a block: violet, teal, olive, told apart by everyone, and none of them the hue of a
# query, a key or a value. The name always stands beside it.
ATTENTION, FEED_FORWARD, STREAM = "#b03fd0", "#36989f", "#918830"

# Streamlit's own stand-in for "strong text" in Plotly figures: the browser puts the colour of the
# mode in its place, so that a switch between light and dark needs no new figure.
TEXT = "#000037"

# Accents of charts: what is selected, what was picked, what a step cut away, what is beside it.
ACCENT, PICKED, CUT, NEUTRAL = "#4a6ee0", "#d9760b", "#9aa3af", "#7c8796"

POSITIVE, NEGATIVE = "#3d80e8", "#e0632f"

CATEGORICAL = (
    "#4a6ee0",
    "#d9760b",
    "#2fa866",
    "#b45cc9",
    "#b98415",
    "#d9546b",
    "#3a9fb8",
    "#7c8796",
)

# Twelve soft hues for tokens. Their order puts far hues beside each other, so that ids that follow
# one another are told apart.
TOKEN_COLOURS = (
    "#5b8def",
    "#e0915a",
    "#4fb08a",
    "#c678c9",
    "#c2a33f",
    "#4fa9c4",
    "#e07a8a",
    "#86ad52",
    "#8f80e0",
    "#d6a06b",
    "#5fb3a8",
    "#b58a9e",
)


def token_colour(token_id: int) -> int:
    """Return the index in `TOKEN_COLOURS` of a token: the same wherever the token comes back.

    A multiplicative hash (Knuth) spreads ids that lie near each other over the palette.
    """
    return ((token_id * 2654435761) % 2**32) * len(TOKEN_COLOURS) >> 32


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def with_alpha(colour: str, alpha: float) -> str:
    """Return a `#rrggbb` colour as `rgba(…)` with the given opacity in 0…1."""
    red, green, blue = _channels(colour)
    return f"rgba({red},{green},{blue},{alpha:.3f})"


def flattened(colour: str, alpha: float, background: str) -> str:
    """Return what a colour of that opacity looks like on an opaque background, as `#rrggbb`."""
    pairs = zip(_channels(colour), _channels(background), strict=True)
    return "#" + "".join(f"{round(alpha * top + (1 - alpha) * under):02x}" for top, under in pairs)


# The strongest step of a scale is one solid colour; the steps below are less opaque. The lowest is
# not quite nothing: a cell with value 0 differs from a place where there is no cell.
_STEPS = (0.06, 0.17, 0.28, 0.39, 0.50, 0.60, 0.70, 0.80, 0.90, 1.0)
_HALF_STEPS = (1.0, 0.78, 0.56, 0.34, 0.12)

SEQUENTIAL = tuple((POSITIVE, alpha) for alpha in _STEPS)
DIVERGING = tuple((NEGATIVE, alpha) for alpha in _HALF_STEPS) + tuple(
    (POSITIVE, alpha) for alpha in reversed(_HALF_STEPS)
)


def colorscale(steps: tuple[tuple[str, float], ...]) -> list[list[float | str]]:
    """Return a Plotly colour scale for `SEQUENTIAL` or `DIVERGING`, the same in both modes."""
    last = len(steps) - 1
    return [[index / last, with_alpha(*step)] for index, step in enumerate(steps)]


def palette(steps: tuple[tuple[str, float], ...], mode: str) -> list[str]:
    """Return the ten opaque colours of a scale on the background of `light` or `dark`."""
    return [flattened(colour, alpha, BACKGROUND[mode]) for colour, alpha in steps]
