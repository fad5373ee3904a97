"""A page's question as its title, and the sentence that answers it, in little room."""

from __future__ import annotations

import html

import streamlit as st


def question(title: str, answer: str) -> None:
    """Draw the question as the page's heading with the answer under it; both literally."""
    st.html(
        '<h1 style="font-size: 1.3rem; line-height: 1.25; font-weight: 650; margin: 0; padding: 0">'
        f"{html.escape(title)}</h1>"
        f'<p style="margin: 0.15rem 0 0; line-height: 1.35">{html.escape(answer)}</p>'
    )
