"""The answers as a small tree: one line a branch, from where it parts; a click goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from components.kit import theme
from components.kit.clicks import chosen_index
from components.kit.figure import frame
from components.kit.text import counted, visible
from components.kit.text import plotly as escape

if TYPE_CHECKING:
    from engine.generation.branches import Tree

MOST = 40
"""Beyond so many branches only the newest are drawn."""
NAME = 44
"""The most signs of a branch's name over its line; the whole name is under the pointer."""


def branch_name(tree: Tree, branch: int) -> str:
    """Return a branch's name as plain text: where it begins and its first few tokens."""
    entry = tree.branches[branch]
    start = visible(b"".join(part.step.data for part in entry.own[:6]), limit=34)
    where = "from the prompt" if entry.parent is None else f"after token {entry.at}"
    taken = ", taken by you" if entry.own and entry.own[0].step.forced else ""
    return f"{branch + 1}: {where}{taken}: {start}"


def drawing_order(tree: Tree) -> list[int]:
    """Return the branches from top to bottom, each beneath the one that it leaves."""
    order: list[int] = []
    # A stack instead of recursion: a long chain of branches is no reason to fail.
    stack = list(reversed(tree.children(None)))
    while stack:
        branch = stack.pop()
        order.append(branch)
        stack += reversed(tree.children(branch))
    return order


def branch_tree(tree: Tree, *, current: int, key: str) -> go.Figure:
    """Return the tree: tokens from left to right, branches one below the other.

    Args:
        tree: all answers to one prompt, at least one.
        current: the branch that is shown; its whole way is drawn in the picked colour.
        key: the chart's key.
    """
    order = _drawn(tree)
    rows = {branch: row for row, branch in enumerate(order)}
    count = len(tree.branches)
    title = f"{counted(count, 'answer')} to this prompt"
    figure = frame(title, height=110 + 46 * len(order), revision=key)
    for branch in order:
        _line(figure, tree, branch, rows, picked_to=_way(tree, current).get(branch, 0))
    _ends(figure, tree, order, current)
    longest = max(len(tree.path(branch)) for branch in order)
    _names(figure, tree, order, longest)
    figure.update_xaxes(title="tokens of the answer", range=[-0.5, longest + 1])
    figure.update_yaxes(visible=False, range=[len(order) - 0.5, -0.8], fixedrange=True)
    return figure


def chosen_branch(event: Any, tree: Tree) -> int | None:
    """Return the branch whose end was clicked, or None."""
    order = _drawn(tree)
    number = chosen_index(event, len(order), curve=2 * len(order))
    return None if number is None else order[number]


def _drawn(tree: Tree) -> list[int]:
    order = drawing_order(tree)
    if len(order) <= MOST:
        return order
    newest = set(sorted(order)[-MOST:])
    return [branch for branch in order if branch in newest]


def _way(tree: Tree, branch: int) -> dict[int, int]:
    """Return the branches that a whole answer goes along, and up to which of its tokens each."""
    way, end = {}, len(tree.path(branch))
    step: int | None = branch
    while step is not None:
        way[step] = end
        end, step = tree.branches[step].at, tree.branches[step].parent
    return way


def _line(
    figure: go.Figure, tree: Tree, branch: int, rows: dict[int, int], *, picked_to: int
) -> None:
    """Draw one branch: down from where it parts, then along its tokens; a part of it picked."""
    entry, row = tree.branches[branch], rows[branch]
    start = [(entry.at, rows[entry.parent])] if entry.parent in rows else []
    for colour, width, end in (
        (theme.NEUTRAL, 2, entry.at + len(entry.own)),
        (theme.PICKED, 3.5, picked_to),
    ):
        points = [*start, (entry.at, row), (end, row)] if end > entry.at else []
        figure.add_trace(
            go.Scatter(
                x=[x for x, _ in points],
                y=[y for _, y in points],
                mode="lines",
                line={"color": colour, "width": width},
                hoverinfo="skip",
            )
        )


def _ends(figure: go.Figure, tree: Tree, order: Sequence[int], current: int) -> None:
    """Draw the end of each branch: what can be clicked."""
    colours = [theme.PICKED if branch == current else theme.ACCENT for branch in order]
    figure.add_trace(
        go.Scatter(
            x=[len(tree.path(branch)) for branch in order],
            y=list(range(len(order))),
            mode="markers",
            marker={"size": 13, "color": colours},
            hovertext=[escape(branch_name(tree, branch)) for branch in order],
            hovertemplate="%{hovertext}<extra></extra>",
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            cliponaxis=False,
        )
    )


def _names(figure: go.Figure, tree: Tree, order: Sequence[int], longest: int) -> None:
    """Write each branch's name over its line, to the side where there is more room."""
    starts = [tree.branches[branch].at for branch in order]
    early = [start <= longest / 2 for start in starts]
    figure.add_trace(
        go.Scatter(
            x=[
                start if left else len(tree.path(branch))
                for start, left, branch in zip(starts, early, order, strict=True)
            ],
            y=list(range(len(order))),
            mode="text",
            text=[escape(branch_name(tree, branch), limit=NAME) for branch in order],
            textposition=["top right" if left else "top left" for left in early],
            textfont={"size": 13, "color": theme.TEXT},
            hoverinfo="skip",
            cliponaxis=False,
        )
    )
