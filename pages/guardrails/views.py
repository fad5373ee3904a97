"""The guards with a laboratory of their own: input filter, format, and all of them compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.guardrails import depth, view
from components.guardrails.scenario import wrongly_refused
from components.kit.tasks import Task
from components.kit.text import markdown, visible
from components.link import keys, widgets
from components.overview.flow import overview_flow
from engine.basics.errors import EngineError
from engine.guardrails import filters, format
from engine.guardrails.scenario import leaks, prompt_ids
from pages.frame import job
from pages.frame.kept import keep, kept
from pages.frame.live import Live
from pages.frame.loading import model_in_use
from pages.frame.results import uniforms
from pages.guardrails import answers

if TYPE_CHECKING:
    from engine.guardrails.comparison import Tally
    from engine.guardrails.scenario import Scenario

COMPARE, TALLIES = "compare", "guard_tallies"
DRAW, SAMPLES = "samples", "format_samples"
SAMPLE_COUNT = 200
FORMAT_BUDGET = 80
FORMATS: Mapping[str, Callable[[str], Any]] = {
    "Yes or no": lambda fields: format.yes_or_no(),
    "A date": lambda fields: format.date(),
    "A JSON object": lambda fields: format.json_object(fields.split(",")),
}


def input_filter(live: Live, now: Scenario) -> None:
    """Show which wordings get past a filter on the prompt, and what the model answers."""
    rows = []
    for name, text in now.wordings():
        found = [bool(filters.hits(text, [now.topic], normalised=form)) for form in (False, True)]
        rows.append((name, text, found[0], found[1]))
    past = [sum(not row[column] for row in rows) for column in (2, 3)]
    st.markdown(
        f"#### {past[0]} of {len(rows)} wordings get past the filter, {past[1]} when the text is "
        "normalised first"
    )
    view.wordings_table(rows)
    harmless = wrongly_refused(now.topic)
    wrong = sum(bool(filters.hits(text, [now.topic], normalised=True)) for text in harmless)
    st.caption(
        f"The filter looks for {markdown(now.topic)} and refuses {wrong} of these "
        f"{len(harmless)} harmless questions: {markdown(' '.join(harmless))}"
    )
    names = [row[0] for row in rows]
    chosen = widgets.choice("Wording", names, key=keys.WORDING)
    _, text, plain, normal = rows[names.index(chosen)]
    ids = prompt_ids(live.model, now.system, text)
    with answers.ask("Ask this wording") as asked:
        columns = st.columns(2)
        with columns[0]:
            st.markdown("**Without a guard**")
            answers.show_answer(live, "none", ids, now.word, asked=asked)
    with columns[1]:
        st.markdown("**With the filter**")
        if plain:
            st.info("The filter refuses this question, so the model never runs.")
        elif normal:
            st.info("The plain filter lets it through; after normalisation it is refused.")
        else:
            st.info("The filter lets it through, normalised or not: the answer is the one beside.")


@st.cache_resource(max_entries=16, show_spinner=False)
def compiled(source: str, name: str, fields: str) -> tuple[format.Format, format.Constraint]:
    """Return a format and its automaton on a model's vocabulary."""
    wanted = FORMATS[name](fields)
    return wanted, format.Constraint(model_in_use(source), wanted)


def constraint(live: Live, now: Scenario) -> None:
    """Show an answer inside a format, its mask at every step, and that samples parse."""
    row = st.columns([2, 2], vertical_alignment="bottom")
    with row[0]:
        name = widgets.choice("Format", list(FORMATS), key=keys.FORMAT)
    with row[1]:
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
    st.caption("The rule: " + markdown(wanted.rule))
    ids = prompt_ids(live.model, now.system, now.question)
    with answers.ask() as asked:
        columns = st.columns(2)
        with columns[0]:
            st.markdown("**Without a guard**")
            answers.show_answer(live, "none", ids, now.word, asked=asked)
        with columns[1]:
            st.markdown("**Inside the format**")
            steps = answers.show_answer(
                live,
                f"format {wanted.rule}",
                ids,
                now.word,
                asked=asked,
                guard=guard,
                budget=FORMAT_BUDGET,
            )
    if steps is not None:
        _mask(live, guard, steps)
    _samples(live, wanted, guard, ids)


def _mask(live: Live, guard: format.Constraint, steps: tuple[Any, ...]) -> None:
    """Draw the mask at every step, and the tokens of one."""
    name_of = live.model.tokenizer.bytes_of
    st.markdown(f"#### At each of {len(steps)} steps the mask leaves a few tokens")
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


def compare(live: Live, now: Scenario) -> None:
    """Count the leaks of every guard over fifty runs, under the table of places."""
    runs = len(now.wordings()) * len(answers.SEEDS)
    key = (live.model.source, now, live.settings)
    place = st.empty()
    if job.button(f"Run every guard {runs} times", COMPARE):

        def show(tallies: tuple[Tally, ...]) -> None:
            keep(TALLIES, key, tallies)
            ran = [tally for tally in tallies if tally.runs]
            with place.container():
                view.leak_bars(ran, key=f"leaks_{sum(tally.runs for tally in ran)}")

        with job.running(COMPARE):
            job.follow(answers.compared(live, now), show)
    tallies = kept(TALLIES, key)
    with place.container():
        if tallies is not None:
            view.leak_bars([tally for tally in tallies if tally.runs])
            st.caption(
                f"{len(now.wordings())} wordings × {len(answers.SEEDS)} seeds, "
                f"{answers.COMPARE_BUDGET} tokens each; a leak is an answer in which a person can "
                "read the word, whatever its spelling. The filters judge the runs without a guard. "
                + view.cost_line(tallies)
            )
        else:
            st.markdown(
                f"#### Where does {markdown(now.word)} leak? Every guard meets the same "
                f"{runs} runs."
            )
    st.markdown(view.PLACES)
    if live.problem is None:
        st.markdown("#### The places on this prompt's way through the pipeline")
        facts = live.overview((), uniforms(live.seed, 1)[0])
        overview_flow(facts, stages=(), key="guard_places", guards=True, walks=False)


def tasks(live: Live, now: Scenario) -> list[Task]:
    """Return what to try: the task, whether it is done, and where it stands."""
    ids = prompt_ids(live.model, now.system, now.question)
    token_ban = answers.bans(live.model.source, now.word)[0]
    steps = answers.kept(live, "token ban", ids)
    text = "" if steps is None else "".join(step.text for step in steps)
    spelled = leaks(text, now.word)
    through = [
        name
        for name, wording in now.wordings()
        if not filters.hits(wording, [now.topic], normalised=True)
    ]
    return [
        Task(
            "Find a word that the token ban can't hold: with its ids banned, the answer still "
            "spells it from other pieces.",
            spelled,
            f"{len(token_ban.banned)} ids are banned. "
            + ("The word was spelled." if spelled else "The word was not spelled under the ban."),
        ),
        Task(
            "Choose the word of the input filter so that only one wording gets through after "
            "normalisation.",
            len(through) == 1,
            f"{len(through)} get through" + (f": {', '.join(through)}." if through else "."),
        ),
    ]
