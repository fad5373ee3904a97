"""The training page: where the probabilities came from, and how a few steps move them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components.kit.guess import Guess
from components.kit.numbers import percent
from components.kit.tasks import Task
from components.kit.text import markdown
from components.link import keys, widgets
from components.training import depth, view
from engine.basics.errors import EngineError
from pages.frame import frame
from pages.frame.kept import last
from pages.training import guess, session
from pages.training import views as panels

live = frame.live_prompt(traced=False, used=False)
TEXT = "The capital of Australia is Canberra. The capital of Australia is Canberra."


def text_ids() -> tuple[int, ...]:
    """Draw the text whose loss is shown; return its ids."""
    text = widgets.text("Any text", TEXT, key=keys.LOSS_TEXT, area=True, height=80)
    return panels.tokens_of(live, text)


def only_task() -> None:
    """Show the loss of each token of any text."""
    ids = text_ids()
    try:
        found = session.losses(live.model.source, ids)
    except EngineError as error:
        st.warning(markdown(str(error)))
        return
    pieces = [live.model.tokenizer.bytes_of(token_id) for token_id in ids]
    with st.container(key="main_picture"):
        st.html(view.loss_text(pieces, found.bits))
    total = float(found.bits.sum())
    view.loss_metrics(found.mean_nats, found.perplexity, total, len(found.bits))
    st.caption(
        "The small number is the token's surprise in bits, −log₂ p: 0 is certain, 1 is a coin, "
        "10 is one in a thousand. " + depth.CAPTIONS["loss"]
    )


LOOKS: dict[str, Callable[[], None]] = {
    "From nothing": lambda: panels.from_nothing(live),
    "One step of learning": lambda: panels.learn(live),
    "The only task": only_task,
    "Preference": lambda: panels.preference(live),
}


def visual() -> None:
    """Draw the lesson that was chosen."""
    look = widgets.choice("Lesson", list(LOOKS), key=keys.LESSON, label_visibility="collapsed")
    LOOKS[look]()


def in_depth() -> None:
    """Write the formulas with this model's numbers."""
    from engine.training.tail import learned

    found = session.losses(live.model.source, panels.tokens_of(live, TEXT))
    trained, size = learned(live.model)
    st.caption("The text: " + markdown(TEXT))
    depth.in_depth_words(
        trained=trained,
        total=live.model.architecture.parameters,
        taken=size,
        mean_nats=found.mean_nats,
    )


def question() -> Guess | None:
    """Return the question about the text whose loss the page shows."""
    text = str(st.session_state.get(keys.LOSS_TEXT) or TEXT)
    return guess.ask(live, text, panels.tokens_of(live, text))


def tasks() -> list[Task]:
    """Return what to try."""
    steps = last(panels.LEARNED)[1] or []
    pairs = last(panels.PREFERRED)[1] or []
    passed = bool(steps) and steps[-1].competing[0] > 0.9
    hurt = bool(steps) and any(
        after < before - 0.05 for before, after in zip(steps[0].facts, steps[-1].facts, strict=True)
    )
    near = bool(pairs) and pairs[-1].margin > 0.5 and pairs[-1].divergence < 0.1
    return [
        Task(
            "Teach it a sentence until the answer passes 90 %.",
            passed,
            f"It is at {percent(steps[-1].competing[0])}." if steps else "Nothing was taught yet.",
            "Teach it more steps, or move the learning rate one notch up.",
            {keys.LESSON: "One step of learning"},
        ),
        Task(
            "Find a sentence and a learning rate that harm another fact by 5 points or more.",
            hurt,
            "One was harmed." if hurt else "None was harmed so far.",
            "Large steps harm most. The facts are listed beside what was taught.",
            {keys.LESSON: "One step of learning"},
        ),
        Task(
            "Make it prefer your answer (margin above 0.5) without changing the rest of it much "
            "(KL below 0.1). Which slider helps?",
            near,
            f"Margin {pairs[-1].margin:.2f}, KL {pairs[-1].divergence:.3f}."
            if pairs
            else "No preference was trained yet.",
            "A larger β holds the model nearer to what it was; fewer steps do too.",
            {keys.LESSON: "Preference"},
        ),
    ]


frame.views(visual, in_depth, tasks, question)
