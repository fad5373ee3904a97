"""Read which point of a Plotly figure was clicked, from the event that Streamlit hands over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def selected_points(event: Any) -> list[Mapping[str, Any]]:
    """Return the points of an event of `st.plotly_chart`; none if it is not one."""
    selection = event.get("selection") if isinstance(event, Mapping) else None
    points = selection.get("points") if isinstance(selection, Mapping) else None
    return [point for point in points or [] if isinstance(point, Mapping)]


def chosen_index(event: Any, count: int, *, curve: int | None = None) -> int | None:
    """Return the number of the first chosen point of trace `curve`, or None.

    Args:
        event: of `st.plotly_chart`, or from the session state.
        count: how many points there are; other numbers are refused.
        curve: the trace's number; None takes any.
    """
    for point in selected_points(event):
        number = point.get("point_index", point.get("point_number"))
        ours = curve is None or point.get("curve_number") == curve
        if ours and type(number) is int and 0 <= number < count:
            return number
    return None
