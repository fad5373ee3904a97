"""The slim bar over a page while the ten guesses run: where one is, back, next, and leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from components.kit.text import markdown

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


@dataclass(frozen=True)
class Way:
    """One way on: what the button says, and what a press does."""

    label: str
    go: Callable[[], None]
    primary: bool = False


def bar(where: str, ways: dict[str, Way], leave: Callable[[], None], link: str) -> DeltaGenerator:
    """Draw the bar.

    Args:
        where: where one is, as plain text.
        ways: the ways on, by the key of their button.
        leave: ends the lesson.
        link: the address of this guess with nothing guessed yet; empty if nobody knows it.

    Returns:
        The place at its right end.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="lesson_bar"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(f"**{markdown(where)}**", width="content")
            for key, way in ways.items():
                st.button(
                    way.label,
                    key=key,
                    on_click=way.go,
                    type="primary" if way.primary else "secondary",
                )
            if link:
                with st.popover("Link"):
                    st.caption("Opens this guess with nothing guessed yet: to send to a class.")
                    st.code(link, language=None, wrap_lines=True)
            st.button("Leave", key="lesson_leave", on_click=leave, type="tertiary")
        return st.container(width="content")
