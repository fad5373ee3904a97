"""Beam search as a tree: what was kept, what was dropped, what won."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import streamlit as st

from components.kit import theme
from components.kit.figure import frame
from components.kit.text import plotly as escape

if TYPE_CHECKING:
    from engine.generation.beam import BeamNode, BeamTree

_LOOK: Mapping[str, tuple[str, int, str]] = {
    "kept": (theme.ACCENT, 15, "circle"),
    "finished": (theme.CATEGORICAL[6], 15, "square"),
    "dropped": (theme.CUT, 9, "circle-open"),
    "ended too low": (theme.CUT, 9, "square-open"),
}
_WORDS: Mapping[str, str] = {
    "kept": "kept open",
    "finished": "finished",
    "dropped": "dropped",
    "ended too low": "ended, but too low",
}


def places(tree: BeamTree) -> dict[int, tuple[float, float]]:
    """Return where each node stands: its depth, and its rank among those of its depth."""
    by_depth: dict[int, list[int]] = {}
    for node in tree.nodes:
        by_depth.setdefault(node.depth, []).append(node.index)
    return {
        index: (float(depth), float(rank))
        for depth, indexes in by_depth.items()
        for rank, index in enumerate(sorted(indexes, key=lambda i: -tree.nodes[i].total))
    }


def tree_figure(tree: BeamTree, name_of: Callable[[int], str]) -> go.Figure:
    """Return the tree, the prompt on the left, the best sum of each step on top.

    Args:
        tree: of one search.
        name_of: gives a token's visible text.
    """
    at = places(tree)
    rows = max((y for _, y in at.values()), default=0.0) + 1
    depth = max((x for x, _ in at.values()), default=1.0)
    winner = set(tree.path(tree.hypotheses[0].node)) if tree.hypotheses else set()
    kept = sum(node.state == "kept" for node in tree.nodes)
    title = f"{len(tree.nodes)} continuations looked at, {kept} kept open"
    figure = frame(title, height=int(130 + 44 * rows), revision="beams")
    figure.add_trace(_edges(tree, at, [n.index for n in tree.nodes], theme.CUT, 1.2))
    winning = _edges(tree, at, sorted(winner), theme.PICKED, 4)
    winning.update(name="the winner", showlegend=bool(winner))
    figure.add_trace(winning)
    for state in _LOOK:
        for wins in (False, True):
            nodes = [n for n in tree.nodes if n.state == state and (n.index in winner) == wins]
            if nodes:
                figure.add_trace(_nodes(nodes, at, state, wins, name_of))
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.12, "yanchor": "top"})
    figure.update_xaxes(
        range=[-0.2, depth + 0.5],
        dtick=1,
        title="tokens after the prompt",
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(visible=False, range=[rows - 0.4, -0.9])
    return figure


def _nodes(
    nodes: Sequence[BeamNode],
    at: dict[int, tuple[float, float]],
    state: str,
    wins: bool,
    name_of: Callable[[int], str],
) -> go.Scatter:
    """Return nodes of one state, those of the winner in its colour."""
    colour, size, symbol = _LOOK[state]
    return go.Scatter(
        x=[at[n.index][0] for n in nodes],
        y=[at[n.index][1] for n in nodes],
        mode="markers+text",
        name=_WORDS[state],
        showlegend=not wins,
        marker={"color": theme.PICKED if wins else colour, "size": size, "symbol": symbol},
        text=[escape(name_of(n.token_id), limit=11) for n in nodes],
        textposition="top center",
        textfont={"size": 12, "family": "monospace", "color": theme.TEXT},
        hovertext=[
            f"{escape(name_of(n.token_id), limit=30)}<br>ln p = {n.log_prob:.3f}<br>"
            f"sum = {n.total:.3f}<br>{_WORDS[state]}"
            for n in nodes
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _edges(
    tree: BeamTree,
    at: dict[int, tuple[float, float]],
    nodes: Sequence[int],
    colour: str,
    width: float,
) -> go.Scatter:
    """Return the lines from parents to these nodes; the prompt is the parent of the first ones.

    They turn in the middle between two columns, so that none runs through a token's name, which
    stands above its dot.
    """
    x: list[float | None] = []
    y: list[float | None] = []
    for index in nodes:
        parent = tree.nodes[index].parent
        start = at[parent] if parent is not None else (0.0, 0.0)
        end = at[index]
        turn = end[0] - 0.5
        x += [start[0], turn, turn, end[0], None]
        y += [start[1], start[1], end[1], end[1], None]
    line = {"color": colour, "width": width}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def comparison_table(rows: Sequence[tuple[str, str, float, int, float]]) -> None:
    """Show the winner beside greedy and a sample.

    Args:
        rows: way, text, sum of ln p, tokens, score.
    """
    st.dataframe(
        {
            "way": [row[0] for row in rows],
            "text": [row[1] for row in rows],
            "sum of ln p": [row[2] for row in rows],
            "tokens": [row[3] for row in rows],
            "score": [row[4] for row in rows],
        },
        hide_index=True,
        width="stretch",
        height="content",
        key="beam_table",
        column_config={
            name: st.column_config.NumberColumn(format="%.3f") for name in ("sum of ln p", "score")
        },
    )


def score_words(length_penalty: float) -> None:
    """Say how a score is made."""
    st.markdown(
        f"**Score** = sum of ln p ÷ length^{length_penalty:g}. Each ln p is below 0, so every "
        "token lowers the sum: with 0 short texts win, 1 compares the mean per token, above 1 long "
        "texts gain, below 0 short ones gain still more. The likeliest text is not the best one: "
        "beams like safe and repeated phrases, which is why chat products sample."
    )
