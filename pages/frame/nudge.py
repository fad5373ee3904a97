"""Tell other sessions that something has changed for them, so that none has to ask all the time.

Streamlit 1.67 has a timer that draws a fragment anew and no way to do so from another session. What
its timer asks for when it fires is asked for here, once, when there is something new: a run of the
one fragment, with the values of all widgets as they are. A timer that is quick enough would run
thirty sessions forty times per second for nothing, and each run collects garbage.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from streamlit.errors import StreamlitAPIException
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

if TYPE_CHECKING:
    from streamlit.runtime.app_session import AppSession


def own_session() -> str:
    """Return the id of the session whose script runs here; empty outside of one."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


def in_fragment() -> bool:
    """Return whether this run draws a fragment alone."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def closed(sessions: Collection[str]) -> list[str]:
    """Return those of the sessions whose browser tab is gone; none without a server."""
    if not exists():
        return []
    return [one for one in sessions if not get_instance().is_active_session(one)]


def nudge(sessions: Collection[str], fragment: str) -> None:
    """Have a fragment drawn anew in other sessions; one that is busy does so afterwards.

    Args:
        sessions: their ids; those whose tab is closed are passed over.
        fragment: its key.
    """
    if not exists():
        return  # no server: a test of the app
    for one in sessions:
        session = get_instance().get_app_session(one)
        if session is not None:
            session._call_soon_on_event_loop(lambda known=session: _draw_anew(known, fragment))  # type: ignore[misc]


def _draw_anew(session: AppSession, fragment: str) -> None:
    try:
        found = session._fragment_storage.resolve_target(fragment)
    except StreamlitAPIException:
        return  # the session draws no such fragment now
    last = session._client_state
    wanted = RerunData(
        query_string=last.query_string,
        page_script_hash=last.page_script_hash,
        fragment_id=found[0],
        is_auto_rerun=True,
        cached_message_hashes=frozenset(),
        context_info=last.context_info if last.HasField("context_info") else None,
    )
    runner = session._scriptrunner
    if runner is None or not runner.request_rerun(wanted):
        session._create_scriptrunner(wanted)
