"""The closer looks at the answer that is shown on the generation page, one function per look."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.generation.branch_tree import branch_name, branch_tree, chosen_branch
from components.generation.detokenizer import detokenizer_table, release_cards, summary
from components.generation.events import event_list
from components.generation.examples import EXAMPLES, THIS_ANSWER, example_buttons
from components.generation.surprise import surprise, where_unsure
from components.kit.layout import FULL
from components.kit.show import chart
from components.kit.text import counted
from components.kv_cache.costs import cost_lanes, cost_lines, cost_words, work_figure, work_words
from components.link import check, keys, widgets
from engine.generation import export
from engine.generation.releases import releases
from engine.generation.server_events import server_events
from pages.frame import job
from pages.frame.kept import keep, kept
from pages.frame.live import Live
from pages.generation import answers

if TYPE_CHECKING:
    from engine.generation.branches import Written
    from engine.kv_cache.step_costs import StepCost

    Answer = tuple[Written, ...]

MEASURE = "measure"
COSTS = "answer_costs"
MEASURED_AT_ONCE = 16
"""How many tokens are measured when the view opens: without the cache each takes longer."""
BRANCH_BOX = "branch_box"


def looks(live: Live, answer: Answer, index: int) -> None:
    """Draw the choice of closer looks, and the chosen one.

    Args:
        live: the prompt.
        answer: what is shown, at least one token.
        index: the chosen token.
    """
    pages: dict[str, Callable[[], None]] = {
        "Branches": lambda: branches(live),
        "Surprise": lambda: surprises(answer, index),
        "Cost of each step": lambda: costs(live, answer),
        "Detokenizer": lambda: detokenizer(live, answer),
        "Streaming to a client": lambda: streaming(live, answer),
        "Download": lambda: downloads(live, answer),
    }
    check.renamed(keys.GENERATION_PART, {"Take it away": "Download"})
    pages[widgets.choice("A closer look", list(pages), key=keys.GENERATION_PART)]()


def branches(live: Live) -> None:
    """Draw the tree of answers; a click on an end or the box below goes there."""
    tree, branch = answers.tree(live), answers.current(live)
    if branch is None:
        return

    def clicked(event: Any) -> None:
        chosen = chosen_branch(event, tree)
        if chosen is not None:
            answers.show(live, chosen)

    def walked() -> None:
        answers.show(live, int(st.session_state[BRANCH_BOX]))

    st.session_state[BRANCH_BOX] = branch
    st.selectbox(
        "Answer",
        range(len(tree.branches)),
        key=BRANCH_BOX,
        format_func=lambda number: branch_name(tree, number),
        on_change=walked,
    )
    chart(
        branch_tree(tree, current=branch, key="branches"),
        key="branches",
        alt=f"{counted(len(tree.branches), 'answer')} as a tree; number {branch + 1} is shown",
        on_select=clicked,
        room=FULL,
    )


def surprises(answer: Answer, index: int) -> None:
    """Draw each token's surprise."""
    steps = [part.step for part in answer]
    chart(
        surprise(steps, key="surprise", selected=index),
        key="surprise",
        alt="Bars: how many bits of surprise each token of the answer has",
        room=FULL,
    )
    st.markdown(where_unsure(steps))


def detokenizer(live: Live, answer: Answer) -> None:
    """Draw what became of the bytes of each token: of an example, or of this answer."""
    names = [example.name for example in EXAMPLES]
    log, ending = answers.log_of(live, answer)
    pieces = [part.step.data for part in answer]
    held = any(not release.shown and release.arrived for release in log)
    chosen = st.pills(
        "The tokens of",
        [THIS_ANSWER, *names],
        key="detokenized",
        default=THIS_ANSWER if held else names[0],
        required=True,
    )
    if chosen != THIS_ANSWER:
        tokenizer, example = live.model.tokenizer, EXAMPLES[names.index(chosen)]
        tokens = tokenizer.encode(example.text)
        log, ending = releases(tokenizer, [token.id for token in tokens], stop=example.stop)
        shown = next((i for i, part in enumerate(log) if part.found), len(log)) + 1
        log, pieces = log[:shown], [token.data for token in tokens[:shown]]
        st.caption(example.words)
    st.html(release_cards(log, pieces))
    st.markdown(summary(log, ending))
    with st.expander("As a table"):
        detokenizer_table(log, pieces, key="detokenizer")
    example_buttons()


def streaming(live: Live, answer: Answer) -> None:
    """Draw the answer as server-sent events."""
    steps = [part.step for part in answer]
    events = server_events(steps, model=live.model.name, chat=live.request.chat)
    event_list(events, len(steps), key="events")


def downloads(live: Live, answer: Answer) -> None:
    """Offer the answer as JSON and CSV, and show its first lines."""
    piece_of = live.model.tokenizer.piece_of
    table = export.to_csv(answer, piece_of)
    whole = export.to_json(
        answer, piece_of, model=live.model.name, prompt=live.text, prompt_ids=live.ids
    )
    with st.container(horizontal=True):
        st.download_button(
            "JSON, with all alternatives",
            whole,
            file_name="answer.json",
            mime="application/json",
            key="export_json",
            icon=":material/download:",
        )
        st.download_button(
            "CSV, one line per token",
            table,
            file_name="answer.csv",
            mime="text/csv",
            key="export_csv",
            icon=":material/download:",
        )
    st.caption(f"In Python: `{export.READ_CSV}`")
    lines = table.removeprefix(export.MARK).splitlines()
    st.code("\n".join(lines[:6]), language=None, wrap_lines=False)


def costs(live: Live, answer: Answer) -> None:
    """Draw what each step costs: counted by formula, and measured with and without the cache."""
    from engine.kv_cache.step_work import step_work

    shape, tokens = live.model.architecture, len(live.ids) + len(answer)
    work = step_work(shape)
    chart(
        work_figure(work, tokens, shape.context, key="work"),
        key="work",
        alt="Multiplications per step against the length of the text: matrices and attention",
        room=FULL,
    )
    st.markdown(work_words(work, tokens, shape.context))
    _measured_costs(live, answer)


def _measured_costs(live: Live, answer: Answer) -> None:
    """Measure the first tokens at once, all of them on demand, and draw the result."""
    ids = tuple(part.step.id for part in answer)
    request = (live.model.source, live.ids, ids)
    measured: tuple[StepCost, ...] | None = kept(COSTS, request)
    wanted: int | None = job.asked(MEASURE)
    if wanted is None and measured is None and not job.failed(MEASURE):
        wanted = MEASURED_AT_ONCE
    with st.container(horizontal=True, vertical_alignment="center"):
        job.start_button(
            "Measure all tokens",
            MEASURE,
            running=wanted is not None,
            wanted=len(ids),
            icon=":material/timer:",
            disabled=len(measured or ()) == len(ids),
        )
        if wanted is not None:
            job.stop_button(MEASURE, on_stop=lambda: keep(COSTS, request, kept(COSTS, request, ())))
        st.caption(
            "Measured here and now: the tokens of the answer are read once with the KV cache and "
            f"once without it, at first {MEASURED_AT_ONCE} of them."
        )
    job.say_problem(MEASURE)
    if wanted is not None:
        _measure(live, ids[:wanted], request)
    if measured:
        _draw_costs(measured, [part.step.data for part in answer])


def _measure(live: Live, ids: tuple[int, ...], request: tuple[Any, ...]) -> None:
    """Measure step by step, and keep each step."""
    from engine.kv_cache.step_costs import step_costs

    bar = st.progress(0.0, text="Measuring …")
    measured: list[StepCost] = []

    def show(cost: StepCost) -> None:
        measured.append(cost)
        keep(COSTS, request, tuple(measured))
        bar.progress(len(measured) / len(ids), text=f"Token {len(measured)} of {len(ids)}")

    with job.running(MEASURE):
        job.follow(step_costs(live.model, live.ids, ids), show)


def _draw_costs(measured: tuple[StepCost, ...], pieces: list[bytes]) -> None:
    chart(
        cost_lanes(measured, pieces, key="cost_lanes"),
        key="cost_lanes",
        alt="Two lanes on one clock: when each token was there, with the cache and without it",
        room=FULL,
    )
    chart(
        cost_lines(measured, key="cost_lines"),
        key="cost_lines",
        alt="Milliseconds per step against the number of tokens that are attended to",
        room=FULL,
    )
    st.markdown(cost_words(measured))
