"""Makes a figure fit into its place: nothing is cut off at the edge, and no two labels overlap.

Plotly wraps no title, puts a legend wherever it is told, and writes tick labels over each other.
The place's width is known only in the browser, so this counts with the least that it can be
(`components.kit.layout`), and with the widths of the app's own font.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any
from unicodedata import east_asian_width

import plotly.graph_objects as go

from components.kit.text import plotly as escape

TITLE_SIGN, LABEL_SIGN = 7.6, 7.2
"""Pixels of a sign: bold at 16 px, and at 13 px with room for a wide one."""
TITLE_LINE, LEGEND_ROW, ROW = 21, 22, 14
"""Pixels of a line of the title, of a row of the legend, and of a tick label."""
MODE_BAR = 34
"""Pixels of the column of buttons on the right, which no title runs under."""
TITLE_PAD = 6
"""Pixels over the title."""
TILTED = 20
"""Pixels that two labels need between them when they stand at 40 degrees."""
TEXT_AT_BAR = 8
"""The least number of signs that the end of a bar has room for, so that bars in two figures side
by side keep one scale."""


def fit(figure: go.Figure, room: int) -> None:
    """Change a figure so that it fits into `room` pixels of width.

    Long titles take two lines or more, and the figure grows by them; a legend in a row stands
    between the title and the plot; tick labels tilt, then stand upright, then only some are
    written, with all of them on hover; the ends of bars leave room for their numbers.
    """
    above = _wrap_title(figure, room) + _place_legend(figure, room)
    if above:
        top = figure.layout.margin.t or 44
        height = figure.layout.height or 450
        figure.update_layout(height=height + above, margin={"t": top + above})
    if figure.layout.showlegend and figure.layout.legend.yref == "container":
        figure.layout.legend.y = 1 - (_title_height(figure) + 6) / (figure.layout.height or 450)
    across, down = _plot_size(figure, room)
    _fit_labels(figure, "y", down)
    _fit_labels(figure, "x", across)
    if across < 300 and figure.layout.xaxis.tickmode != "array":
        figure.update_xaxes(nticks=max(2, int(across // 60)))
    _leave_room_at_bars(figure, room)


def enlarge(figure: go.Figure, scale: float) -> None:
    """Change a figure that fits so that all of it, and above all its words, is larger.

    Args:
        figure: after `fit` with the room divided by `scale`.
        scale: above 1.
    """
    layout = figure.layout
    figure.update_layout(
        height=round((layout.height or 450) * scale),
        margin={side: round(layout.margin[side] * scale) for side in "lrtb" if layout.margin[side]},
        title={"pad": {"t": (layout.title.pad.t or 0) * scale}},
    )
    for font, usual in _fonts(figure):
        font.size = round((font.size or usual) * scale, 1)


def _fonts(figure: go.Figure) -> Iterator[tuple[Any, float]]:
    """Yield every font of a figure with the size that it has where none is set."""
    layout = figure.layout
    yield layout.font, 12
    yield layout.title.font, 16
    yield layout.legend.font, 12
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        yield axis.tickfont, 12
        yield axis.title.font, 14
    yield from ((note.font, 12) for note in layout.annotations if note.font.size)
    for trace in figure.data:
        if "textfont" in trace and trace.textfont.size:
            yield trace.textfont, 12
        if "colorbar" in trace and getattr(trace, "showscale", None) is not False:
            yield trace.colorbar.tickfont, 12


def wrapped(text: str, room: float) -> list[str]:
    """Return a text in lines of at most `room` pixels; a longer word has a line of its own.

    A number stays with its percent sign.
    """
    lines: list[str] = []
    for word in text.replace(" %", "\u00a0%").split(" "):
        if lines and _signs(lines[-1] + " " + word) * TITLE_SIGN <= room:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return [line.replace("\u00a0%", " %") for line in lines]


def _signs(text: str) -> int:
    """Count the signs of a text; those of Chinese and its neighbours are twice as wide."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _plain(text: str | None) -> str:
    """Return an escaped text as it is read."""
    return html.unescape(text or "")


def _wrap_title(figure: go.Figure, room: int) -> int:
    """Break the title into lines; return by how much the figure grows."""
    title = figure.layout.title.text
    if not title or "<" in title:  # markup of ours, as in a title that is in lines already
        return 0
    lines = wrapped(_plain(title), room - 16 - MODE_BAR)
    figure.layout.title.text = "<br>".join(escape(line) for line in lines)
    # Plotly keeps the middle of the lines where the middle of a single one would stand.
    figure.layout.title.pad.t = TITLE_PAD + TITLE_LINE // 2 * (len(lines) - 1)
    return TITLE_LINE * (len(lines) - 1)


def _title_height(figure: go.Figure) -> int:
    title = figure.layout.title.text
    return 8 + TITLE_LINE * (title.count("<br>") + 1) if title else 0


def _place_legend(figure: go.Figure, room: int) -> int:
    """Put a legend that is a row between title and plot; return by how much the figure grows."""
    legend = figure.layout.legend
    if not figure.layout.showlegend or legend.orientation != "h":
        return 0
    names = [_plain(trace.name) for trace in figure.data if trace.showlegend is not False]
    widths = [44 + LABEL_SIGN * _signs(name) for name in names if name]
    if not widths:
        return 0
    beside = max(1, int((room - 40) // max(widths)))
    rows = 1 if sum(widths) <= room - 40 else math.ceil(len(widths) / beside)
    figure.update_layout(
        legend={"x": 0, "xanchor": "left", "yref": "container", "yanchor": "top", "y": 0.9}
    )
    return max(0, 30 + LEGEND_ROW * rows + 8 - (figure.layout.margin.t or 44))


def _plot_size(figure: go.Figure, room: int) -> tuple[float, float]:
    """Return about how many pixels the plot itself is wide and high."""
    layout = figure.layout
    left = _widest(layout.yaxis) + (26 if layout.yaxis.title.text else 0) + 12
    beside = any(
        (trace.type == "heatmap" and trace.showscale is not False)
        or getattr(trace, "yaxis", None) == "y2"
        for trace in figure.data
    )
    right = 76 if beside else 14
    below = 12 + (22 if layout.xaxis.title.text else 0) + _label_height(layout.xaxis)
    return room - left - right, (layout.height or 450) - (layout.margin.t or 44) - below


def _widest(axis: Any) -> float:
    """Return the pixels of the widest tick label."""
    texts = axis.ticktext or ["0000"]
    return LABEL_SIGN * max(_signs(_read(text)) for text in texts)


def _read(label: str) -> str:
    """Return a tick label without the markup of a small number beside it."""
    name, *number = label.split("<span")
    return _plain(name) + (" 00" if number else "")


def _label_height(axis: Any) -> float:
    tilt = abs(axis.tickangle or 0)
    return ROW + _widest(axis) * math.sin(math.radians(tilt)) if tilt else ROW


def _fit_labels(figure: go.Figure, letter: str, pixels: float) -> None:
    """Tilt the labels of an axis, or leave some out, so that none overlaps the next."""
    axis = figure.layout[f"{letter}axis"]
    if axis.tickmode != "array" or not axis.ticktext or not axis.range:
        return
    shown = [(at, text) for at, text in zip(axis.tickvals, axis.ticktext, strict=True) if text]
    if len(shown) < 2:
        return
    gap = min(abs(b[0] - a[0]) for a, b in pairwise(shown))
    each = pixels * gap / abs(axis.range[1] - axis.range[0])
    numbers = all(_plain(text).isdigit() for _, text in shown)
    wide = LABEL_SIGN * max(_signs(_read(text)) for _, text in shown) + 6
    if letter == "y":
        needed = float(ROW)
    elif numbers or (not axis.tickangle and each >= wide):
        axis.tickangle, needed = 0, wide
    elif each >= TILTED:
        axis.tickangle, needed = -40, TILTED
    else:
        axis.tickangle, needed = -90, ROW
        figure.layout.height = (figure.layout.height or 450) + int(wide * 0.36)
    if each < needed:
        _thin_out(figure, letter, shown, _step(needed / each, numbers))


def _step(least: float, numbers: bool) -> int:
    """Return which labels stay: every n-th, a round n where they are numbers."""
    if not numbers:
        return math.ceil(least)
    return next((step for step in (2, 5, 10, 20, 50, 100) if step >= least), 500)


def _thin_out(figure: go.Figure, letter: str, shown: Sequence[tuple[Any, str]], step: int) -> None:
    """Write every n-th label only, and the others where the pointer is."""
    axis, names = figure.layout[f"{letter}axis"], dict(shown)
    kept = shown[::step]
    axis.tickvals, axis.ticktext = [at for at, _ in kept], [text for _, text in kept]
    for trace in _hovered(figure, f"%{{{letter}}}"):
        field = "text" if letter == "x" else "hovertext"
        if getattr(trace, field) is None:
            trace[field] = [names.get(int(at), str(int(at))) for at in trace[letter]]
            trace.hovertemplate = trace.hovertemplate.replace(f"%{{{letter}}}", f"%{{{field}}}")


def _hovered(figure: go.Figure, part: str) -> Iterator[go.Scatter]:
    """Yield the invisible markers whose hover text names `part`."""
    for trace in figure.data:
        if trace.type == "scatter" and trace.mode == "markers" and part in str(trace.hovertemplate):
            yield trace


def _leave_room_at_bars(figure: go.Figure, room: int) -> None:
    """Widen the range of horizontal bars until the texts at their ends fit in."""
    reach = figure.layout.xaxis.range
    for trace in figure.data:
        if trace.type != "bar" or trace.orientation != "h" or trace.text is None or not reach:
            continue
        ends = [float(value) for value in trace.x]
        texts = [max(TEXT_AT_BAR, _signs(_plain(str(text)))) * LABEL_SIGN for text in trace.text]
        left = max((w for end, w in zip(ends, texts, strict=True) if end < 0), default=0.0)
        right = max((w for end, w in zip(ends, texts, strict=True) if end >= 0), default=0.0)
        low, high = min(0.0, *ends), max(0.0, *ends)
        high = max(high, float(reach[1]) / 1.18 if low == 0 else high)
        each = (high - low) / max(room - 150 - left - right, 60)
        reach = (min(float(reach[0]), low - left * each), max(float(reach[1]), high + right * each))
        figure.layout.xaxis.range = reach
