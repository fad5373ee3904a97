"""The teacher's guide inside the app: the routes with links, and the guide page by page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from components.kit.text import markdown
from components.link import keys
from components.shell.routes import ROUTES, Stop
from components.shell.stages import STAGES, stage

GUIDE = Path(__file__).parents[2] / "docs" / "teachers-guide.md"
OPEN = "guide_open"
"""Of the session alone: whether the guide is to be opened in this run."""
PAGES = "Page by page"
PARTS = (
    *(f"{minutes} minutes" for minutes in ROUTES),
    PAGES,
    "The class together",
    "Before the lesson",
    "Honest limits",
)


@cache
def sections(path: Path = GUIDE) -> dict[str, str]:
    """Return the guide's sections by heading, those of the single pages too, without the tables."""
    text = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)  # links to files that are not served
    parts = re.split(r"^#{2,3} (.+)\n", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def guide_button(current: str) -> None:
    """Draw the button that opens the guide, and open it if something else asked for it.

    Args:
        current: key of the stage that is on the screen.
    """
    pressed = st.button(
        "Teacher's guide", key="guide", icon=":material/menu_book:", width="stretch"
    )
    if pressed or st.session_state.pop(OPEN, False):
        teachers_guide(current)


@st.dialog("Teacher's guide", width="large")
def teachers_guide(current: str) -> None:
    """Open the guide over the page."""
    chosen = st.segmented_control(
        "Part",
        PARTS,
        key="guide_part",
        default=PARTS[0],
        required=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    route = next((m for m in ROUTES if chosen == f"{m} minutes"), None)
    if route is not None:
        _route(route)
    elif chosen == PAGES:
        _page(current)
    else:
        st.markdown(sections()[str(chosen)])


def _route(minutes: int) -> None:
    """Draw the stops of a route; each leads to its page with everything set."""
    if minutes == max(ROUTES):
        st.markdown(
            "After each page five minutes in pairs on its tasks (“Try this”): the page says "
            "whether a task is done."
        )
    passed = 0
    for number, stop in enumerate(ROUTES[minutes]):
        with st.container(horizontal=True, vertical_alignment="center", key=f"stop_{number}"):
            st.markdown(f"{passed}′ to {passed + stop.minutes}′", width=80)
            page = stage(stop.stage)
            st.page_link(
                page.page,
                label=page.short or page.title,
                icon=page.icon,
                query_params=dict(stop.link),
                width=150,
            )
            st.markdown(f"{markdown(stop.do)}{_prompt(stop)}")
        passed += stop.minutes
    st.caption(
        "A stop opens its page as the class should see it. A prompt that belongs to it replaces "
        "the one on top. To end: “What did you believe this morning that you no longer believe?”"
    )


def _prompt(stop: Stop) -> str:
    return f" (“{markdown(stop.link[keys.PROMPT])}”)" if keys.PROMPT in stop.link else ""


def _page(current: str) -> None:
    """Draw what the guide says of one page, at first of the one that is on the screen."""
    titles = [entry.title for entry in STAGES]
    title = st.selectbox(
        "Page",
        titles,
        index=titles.index(stage(current).title),
        key="guide_page",
        label_visibility="collapsed",
    )
    page = next(entry for entry in STAGES if entry.title == title)
    st.page_link(page.page, label=f"Open “{page.title}”", icon=page.icon)
    st.markdown(sections()[page.title])
