"""What an example or a preset changed, said in a sentence, and the way back.

Nobody's prompt or settings are replaced in silence: whoever changes several shared values at once
does it with `change`, from a callback, and the frame shows `change_line`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from components.kit.text import markdown

LAST = "last_change"


def change(sentence: str, values: Mapping[str, Any]) -> None:
    """Set values of the session and remember what stood there before.

    Args:
        sentence: what the user reads, shown literally.
        values: the new values, by key of the session state.
    """
    before = {key: st.session_state[key] for key in values if key in st.session_state}
    for key, value in values.items():
        st.session_state[key] = value
    st.session_state[LAST] = (sentence, before, dict(values))


def change_line() -> None:
    """Draw the sentence on the last change with a button that takes it back, while it stands."""
    last = st.session_state.get(LAST)
    if last is None:
        return
    sentence, before, after = last
    if any(st.session_state.get(key) != value for key, value in after.items()):
        del st.session_state[LAST]  # somebody went on from there
        return
    with st.container(horizontal=True, vertical_alignment="center", key="change_line"):
        st.caption(markdown(sentence), width="content")
        if before:
            st.button("Undo", key="undo_change", type="tertiary", on_click=_undo)


def _undo() -> None:
    _, before, _ = st.session_state.pop(LAST)
    for key, value in before.items():
        st.session_state[key] = value
