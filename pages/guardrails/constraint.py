"""The format constraint: an answer inside a grammar, the mask at every step, and samples of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.guardrails import depth, view
from components.kit.layout import side_by_side
from components.kit.text import counted, markdown, visible
from components.link import keys, widgets
from engine.basics.errors import EngineError
from engine.guardrails import format
from engine.guardrails.scenario import prompt_ids
from pages.frame import job
from pages.frame.kept import keep, kept
from pages.frame.loading import model_in_use
from pages.frame.shared import shared
from pages.guardrails import answers

if TYPE_CHECKING:
    from engine.guardrails.batch import RowStep
    from engine.guardrails.scenario import Scenario
    from pages.frame.live import Live

DRAW, SAMPLES = "samples", "format_samples"
SAMPLE_COUNT = 200
FORMAT_BUDGET = 80
FORMATS: Mapping[str, Callable[[str], Any]] = {
    "Yes or no": lambda fields: format.yes_or_no(),
    "A date": lambda fields: format.date(),
    "A JSON object": lambda fields: format.json_object(fields.split(",")),
}


@shared
def compiled(source: str, name: str, fields: str) -> tuple[format.Format, format.Constraint]:
    """Return a format and its automaton on a model's vocabulary."""
    wanted = FORMATS[name](fields)
    return wanted, format.Constraint(model_in_use(source), wanted)


def show(live: Live, now: Scenario) -> None:
    """Show an answer inside a format, its mask at every step, and that samples parse."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = widgets.choice(
            "Format", list(FORMATS), key=keys.FORMAT, label_visibility="collapsed"
        )
        fields = (
            widgets.text("Keys, with commas", "place, day", key=keys.FORMAT_KEYS)
            if name == "A JSON object"
            else ""
        )
    try:
        wanted, guard = compiled(live.model.source, name, fields)
    except EngineError as error:
        st.warning(markdown(str(error)))
        return
    note = f" ({wanted.note})" if wanted.note else ""
    ids = prompt_ids(live.model, now.system, now.question)
    inside = f"format {wanted.rule}"
    with st.container(key="main_picture"):
        st.markdown(f"**The rule:** {markdown(visible(wanted.rule))}{markdown(note)}")
        left, right = side_by_side(1, 1)
    with answers.writing(live, [("none", ids), (inside, ids)]) as asked:
        with left:
            st.markdown("**Without a guard**")
            answers.show_answer(live, "none", ids, now, asked=asked)
        with right:
            st.markdown("**Inside the format**")
            steps = answers.show_answer(
                live, inside, ids, now, asked=asked, guard=guard, budget=FORMAT_BUDGET
            )
            if steps is not None:
                st.markdown(_ending(wanted, guard, steps))
    if steps is not None:
        _mask(live, guard, steps)
    _samples(live, wanted, guard, ids)


def _ending(wanted: format.Format, guard: format.Constraint, steps: tuple[RowStep, ...]) -> str:
    """Say whether the answer is whole, and whether an ordinary parser takes it."""
    if steps[-1].cut and not guard.complete([step.id for step in steps]):
        return (
            f"**Cut off** by the budget of {FORMAT_BUDGET} tokens: the format is not finished, and "
            "no parser takes it."
        )
    parses = wanted.parses(answers.text_of(steps))
    return "Finished, and an ordinary parser takes it." if parses else "Finished, but it fails."


def _mask(live: Live, guard: format.Constraint, steps: tuple[Any, ...]) -> None:
    """Draw the mask at every step, and the tokens of one."""
    name_of = live.model.tokenizer.bytes_of
    few = sorted(step.allowed for step in steps)[len(steps) // 2]
    st.markdown(
        f"#### At half of the {counted(len(steps), 'step')} the mask leaves {few:,} tokens or fewer"
    )
    view.mask_table(steps, name_of, live.model.architecture.vocabulary)
    step = st.slider("Step", 1, max(len(steps), 2), 1, key="mask_step", disabled=len(steps) < 2)
    step = min(step, len(steps))
    allowed = guard([one.id for one in steps[: step - 1]]).nonzero()[0]
    names = [visible(name_of(int(token_id))) for token_id in allowed[:24]]
    st.markdown(depth.pieces_line(names, len(allowed)))


def _samples(live: Live, wanted: format.Format, guard: format.Constraint, ids: Any) -> None:
    """Draw 200 samples inside the format and count those that an ordinary parser takes."""
    key = (live.model.source, wanted.rule, ids, live.settings)
    if job.button(f"Draw {SAMPLE_COUNT} samples and parse them", DRAW):
        bar = st.progress(0.0, text="Drawing …")

        def show(done: tuple[tuple[str, bool], ...]) -> None:
            keep(SAMPLES, key, done)
            share = len(done) / SAMPLE_COUNT
            bar.progress(share, text=f"Drawing, {len(done)} of {SAMPLE_COUNT} …")

        with job.running(DRAW):
            run = answers.sampled(live, ids, guard, count=SAMPLE_COUNT, budget=FORMAT_BUDGET)
            job.follow(run, show)
    texts = kept(SAMPLES, key)
    if not texts:
        return
    whole = [text for text, ended in texts if ended]
    good = sum(wanted.parses(text) for text in whole)
    cut = len(texts) - len(whole)
    st.success(
        f"{good} of {len(whole)} finished samples parse; {len(set(whole))} of them are different."
        + (f" {cut} were cut off by the budget of {FORMAT_BUDGET} tokens." if cut else "")
    )
