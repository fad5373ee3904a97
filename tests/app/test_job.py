"""Jobs on a page of their own: whatever ends the script run ends the job within a step."""

from __future__ import annotations

import pytest
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx
from streamlit.testing.v1 import AppTest

STEPS = 6
ENDED_AT = 3


def page() -> None:
    import streamlit as st

    from engine.basics.errors import EngineError
    from pages.frame import job, kept

    def count(wanted):
        hooks = st.session_state.setdefault("hooks", [])
        hooks.append("on")
        try:
            for step in range(1, 7):
                if wanted == "refused" and step == 2:
                    raise EngineError("Two *is* too many.")
                yield step
        finally:
            hooks.pop()

    def show(step):
        kept.keep("counted", "request", step)
        st.session_state["taken"] = [*st.session_state.get("taken", []), step]
        end = st.session_state.get("end_from_outside")
        if end is not None and step == 3:
            end()
        st.write(step)

    job.start_button("Refused", "count", running=False, key="refused", wanted="refused")
    wanted = job.button("Count", "count")
    if wanted is not None:
        with job.running("count"):
            job.follow(count(wanted), show)
    st.text(f"kept {kept.kept('counted', 'request')}")


def ask_for_a_rerun() -> None:
    """What Stop, another control or another page asks for."""
    context = get_script_run_ctx()
    context.script_requests.request_rerun(
        RerunData(query_string=context.query_string, page_script_hash=context.page_script_hash)
    )


def ask_to_stop() -> None:
    """What a closed tab asks for."""
    get_script_run_ctx().script_requests.request_stop()


def started() -> AppTest:
    at = AppTest.from_function(page, default_timeout=120).run()
    assert not at.exception
    return at


def stop_buttons(at: AppTest) -> list[str]:
    return [entry.key for entry in at.button if entry.key == "stop_count"]


def test_a_job_runs_to_its_end_and_keeps_its_result():
    at = started()
    assert stop_buttons(at) == []
    at.button(key="count").click().run()
    assert at.session_state["taken"] == list(range(1, STEPS + 1))
    assert at.session_state["hooks"] == []
    assert at.text[0].value == f"kept {STEPS}"
    assert stop_buttons(at) == []
    at.run()
    assert len(at.session_state["taken"]) == STEPS, "the note was taken out"


@pytest.mark.parametrize("end", [ask_for_a_rerun, ask_to_stop])
def test_what_ends_the_script_ends_the_job_within_a_step_and_keeps_what_it_has(end):
    at = started()
    at.session_state["end_from_outside"] = end
    at.button(key="count").click().run()
    at.session_state["end_from_outside"] = None
    at.run()
    assert at.session_state["taken"] == list(range(1, ENDED_AT + 1))
    assert at.session_state["hooks"] == [], "the engine's generator is closed"
    assert at.text[0].value == f"kept {ENDED_AT}"
    assert stop_buttons(at) == []


def test_what_the_engine_refuses_is_said_once_literally():
    at = started()
    at.button(key="refused").click().run()
    assert [entry.value for entry in at.error] == ["Two \\*is\\* too many\\."]
    assert at.session_state["hooks"] == []
    at.run()
    assert not at.error


def test_a_note_that_no_page_took_out_is_thrown_away():
    from pages.frame import job

    def elsewhere() -> None:
        import streamlit as st

        from pages.frame import job

        job.ask("count")
        job.drop()
        st.text(str(job.asked("count")))

    at = AppTest.from_function(elsewhere, default_timeout=60).run()
    assert at.text[0].value == "None"
    assert job.ASKED not in at.session_state
