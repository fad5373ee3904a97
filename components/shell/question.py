"""A page's question as its title, and the sentence that answers it, in little room.

Words of the glossary are underlined where they come first, with their sentence on hover and focus.
"""

from __future__ import annotations

import streamlit as st

from components.shell.glossary import STYLE, marked


def question(title: str, answer: str) -> None:
    """Draw the question as the page's heading with the answer under it; both literally."""
    heading, seen = marked(title)
    sentence, _ = marked(answer, but=seen)
    st.html(
        f'{STYLE}<div class="glossary near">'
        '<h1 style="font-size: 1.3rem; line-height: 1.25; font-weight: 650; margin: 0; padding: 0">'
        f"{heading}</h1>"
        f'<p style="margin: 0.15rem 0 0; line-height: 1.35">{sentence}</p></div>'
    )
