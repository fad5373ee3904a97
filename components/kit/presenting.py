"""Whether the page is being presented on a projector, and how much larger it is then."""

from __future__ import annotations

import streamlit as st

KEY = "present"
"""Of the session and of the link: "true" while presenting."""
SCALE = 1.25


def presenting() -> bool:
    """Return whether the page is being presented."""
    return st.session_state.get(KEY) == "true"
