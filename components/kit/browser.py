"""Components that run in the browser: register one with its files, and check what it sends back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

COMPONENTS = Path(__file__).parents[1]


def component(
    place: str,
    html: str,
    *,
    scripts: Sequence[str] = (),
    colours: Mapping[str, str] | None = None,
) -> ComponentRenderer:
    """Register the component whose style sheet and script lie at `place`.

    Args:
        place: folder and name below `components/`: `attention/arcs` has the files `arcs.css` and
            `arcs.js` there.
        html: the element that the script fills.
        scripts: names of scripts of the same folder that come before its own, since an inline
            component can't import.
        colours: words of the style sheet, and the colour that takes the place of each.
    """
    folder, name = (COMPONENTS / place).parent, Path(place).name
    css = (folder / f"{name}.css").read_text(encoding="utf-8")
    for word, colour in (colours or {}).items():
        css = css.replace(word, colour)
    names = (*scripts, name)
    js = "\n".join((folder / f"{script}.js").read_text(encoding="utf-8") for script in names)
    return st.components.v2.component(
        f"token_by_token_{place.replace('/', '_')}", html=html, css=css, js=js
    )


def checked_index(value: Any, count: int) -> int | None:
    """Return what the browser sent if it is an index below `count`, else None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < count else None
