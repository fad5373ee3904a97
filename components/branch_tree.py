"""The answers as a small tree: one line a branch, from where it parts; a click goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from components import theme
from components.chart import chosen_index, frame
from components.text import plotly as escape
from components.text import visible

if TYPE_CHECKING:
    from engine.branches import Tree

MOST = 40
"""Beyond so many branches only the newest are drawn."""


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
    title = f"{count} answer{'' if count == 1 else 's'} to this prompt"
    figure = frame(title, height=100 + 34 * len(order), revision=key)
    way = _way(tree, current)
    for branch in order:
        _line(figure, tree, branch, rows, on_way=branch in way)
    _ends(figure, tree, order, current)
    longest = max(len(tree.path(branch)) for branch in order)
    figure.update_xaxes(title="tokens of the answer", range=[-0.5, longest * 1.45 + 2])
    figure.update_yaxes(visible=False, range=[len(order) - 0.4, -0.6], fixedrange=True)
    return figure


def chosen_branch(event: Any, tree: Tree) -> int | None:
    """Return the branch whose end was clicked, or None."""
    order = _drawn(tree)
    number = chosen_index(event, len(order), curve=len(order))
    return None if number is None else order[number]


def _drawn(tree: Tree) -> list[int]:
    order = drawing_order(tree)
    if len(order) <= MOST:
        return order
    newest = set(sorted(order)[-MOST:])
    return [branch for branch in order if branch in newest]


def _way(tree: Tree, branch: int) -> set[int]:
    """Return the branch and those that it comes from."""
    way, step = set(), branch
    while True:
        way.add(step)
        parent = tree.branches[step].parent
        if parent is None:
            return way
        step = parent


def _line(
    figure: go.Figure, tree: Tree, branch: int, rows: dict[int, int], *, on_way: bool
) -> None:
    """Draw one branch: down from where it parts, then along its tokens."""
    entry, row = tree.branches[branch], rows[branch]
    end = entry.at + len(entry.own)
    x, y = [entry.at, end], [row, row]
    if entry.parent in rows:
        x, y = [entry.at, *x], [rows[entry.parent], *y]
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": theme.PICKED if on_way else theme.NEUTRAL, "width": 3 if on_way else 2},
            hoverinfo="skip",
        )
    )


def _ends(figure: go.Figure, tree: Tree, order: Sequence[int], current: int) -> None:
    """Draw the end of each branch with its name: what can be clicked."""
    colours = [theme.PICKED if branch == current else theme.ACCENT for branch in order]
    names = [escape(branch_name(tree, branch)) for branch in order]
    figure.add_trace(
        go.Scatter(
            x=[len(tree.path(branch)) for branch in order],
            y=list(range(len(order))),
            mode="markers+text",
            marker={"size": 13, "color": colours},
            text=[f"  {name}" for name in names],
            textposition="middle right",
            textfont={"size": 13, "color": theme.TEXT},
            hovertext=names,
            hovertemplate="%{hovertext}<extra></extra>",
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            cliponaxis=False,
        )
    )
