"""The lessons of the training page that train something: a sentence, a preference, from nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.kit.mosaic import downsampled, mosaic
from components.kit.show import chart
from components.kit.text import visible
from components.link import keys, widgets
from components.training import depth, recorded, view
from engine.model.weights import DEFAULT
from pages.frame import job, results
from pages.frame.kept import forget, keep, kept
from pages.frame.live import Live
from pages.training import session

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from engine.model.model import LanguageModel
    from engine.training.from_nothing import TinyStep
    from engine.training.preference import PreferenceStep
    from engine.training.sentence import LearnStep

TEACH, PREFER, TINY = "teach", "prefer", "tiny"
"""The jobs of the three lessons."""
LEARNED, PREFERRED, TRAINED = "lesson_learn", "lesson_preference", "lesson_tiny"
"""What they leave in the session."""
TINY_STEPS = 1000
DRAWN_EVERY = 50
PAIR = (
    (keys.DPO_PROMPT, "The prompt", depth.PAIR[0]),
    (keys.DPO_PREFERRED, "The answer to prefer", depth.PAIR[1]),
    (keys.DPO_OTHER, "The other one", depth.PAIR[2]),
)
"""The texts of the preference: key, label, what stands there at first."""
BETA = "How much moving away from the start costs: the larger, the less the rest changes."


def tokens_of(live: Live, text: str, *, begins: bool = True) -> tuple[int, ...]:
    """Return a plain text's ids; one that begins gets the model's first token (BOS), if it has one.

    As on every page: a model that saw that token before each text is lost without it. One that
    continues another gets no space in front that the tokenizer would put before a text of its own.
    """
    if begins:
        return tuple(live.model.tokenizer.ids(text, add_bos=True)) if text else ()
    return tuple(token.id for token in live.model.tokenizer.after("", text))


def names_of(live: Live, ids: tuple[int, ...]) -> list[str]:
    """Return the tokens' texts, made visible."""
    return [visible(live.model.tokenizer.bytes_of(token_id), limit=16) for token_id in ids]


def learn(live: Live) -> None:
    """Teach one sentence and show the competing answers after each step."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="learn_row")
    with row:
        start, answer, steps, rate = _sentence()
    prompt = tokens_of(live, start.rstrip())
    answer_ids = tokens_of(live, " " + answer.strip(), begins=False) if answer.strip() else ()
    if not prompt or not answer_ids:
        st.info("Type both the beginning and the end of a sentence.")
        return
    best = results.scores(live.model.source, prompt).best.ids
    watched = session.unique([answer_ids[0], *best], 4)
    key = (live.model.source, prompt, answer_ids, steps, rate)
    with st.container(key="main_picture"):
        place = st.empty()
    with row:
        asked = job.button(f"Teach it, {steps} times", TEACH, primary=True)
    if asked:
        _run_learning(live, key, watched, place)
    result, names, note = kept(LEARNED, key), names_of(live, watched), ""
    usual = (*depth.SENTENCE, int(keys.limit(keys.LEARN_STEPS).default), depth.RATE)
    if result is None and live.model.source == DEFAULT and (start, answer, steps, rate) == usual:
        names, result = recorded.recorded_sentence()
        note = "**Recorded.** The button above runs the same steps here. "
    with place.container():
        if result:
            view.learn_curves(names, result, key="learn")
        else:
            shares = results.scores(live.model.source, prompt).probabilities
            view.next_table(names, [float(shares[i]) for i in watched], [])
    if result:
        view.facts_table(depth.FACTS, result)
    st.caption(note + depth.CAPTIONS["learn"])
    st.button(
        "Throw away what it learned here",
        key="forget",
        icon=":material/replay:",
        on_click=forget,
        args=(LEARNED,),
        disabled=kept(LEARNED, key) is None,
    )


def _sentence() -> tuple[str, str, int, float]:
    """Draw the sentence in its two parts, and the settings."""
    start, answer = depth.SENTENCE
    start = widgets.text("The sentence begins", start, key=keys.LEARN_START, width=200)
    answer = widgets.text("and ends", answer, key=keys.LEARN_ANSWER, width=110)
    steps, rate = session.settings(keys.LEARN_STEPS, keys.LEARN_RATE)
    return start, answer, steps, rate


def _run_learning(
    live: Live, key: tuple[Any, ...], watched: tuple[int, ...], place: DeltaGenerator
) -> None:
    """Run the steps, drawing each one."""
    from engine.training.sentence import Fact
    from engine.training.sentence import learn as learn_sentence

    _, prompt, answer_ids, steps, rate = key
    facts = []
    for text, answer in depth.FACTS:
        ids = tokens_of(live, text)
        facts.append(Fact(text, ids, tokens_of(live, answer, begins=False)[0]))
    names = names_of(live, watched)
    done: list[LearnStep] = []

    def show(state: LearnStep) -> None:
        done.append(state)
        keep(LEARNED, key, tuple(done))
        with place.container():
            view.learn_curves(names, done, key=f"learn_{state.step}")

    with job.running(TEACH), session.turn():
        run = learn_sentence(
            live.model,
            prompt,
            answer_ids,
            facts=facts,
            steps=steps,
            learning_rate=rate,
            watched=watched,
        )
        job.follow(run, show)


def preference(live: Live) -> None:
    """Prefer one answer to another and show how the distribution moves."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = [widgets.text(field[1], field[2], key=field[0], width=260) for field in PAIR]
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        steps, rate = session.settings(keys.DPO_STEPS, keys.DPO_RATE)
        beta = float(widgets.slider(keys.limit(keys.DPO_BETA), width=150, help=BETA))
    tokenizer = live.model.tokenizer
    chat = tokenizer.has_chat
    turn = [{"role": "user", "content": texts[0]}]
    prompt = tuple(tokenizer.chat(turn)) if chat else tokens_of(live, texts[0])
    answers = [
        tokens_of(live, text if chat else " " + text.strip(), begins=False) for text in texts[1:]
    ]
    best = results.scores(live.model.source, prompt).best.ids if prompt else ()
    watched = session.unique([*(ids[0] for ids in answers if ids), *best], 5)
    key = (live.model.source, prompt, *answers, steps, rate, beta)
    with st.container(key="main_picture"):
        place = st.empty()
    with row:
        asked = job.button(f"Train it to prefer the first, {steps} steps", PREFER, primary=True)
    if asked:
        _run_preference(live, key, watched, place)
    result, names, note = kept(PREFERRED, key), names_of(live, watched), ""
    usual = (int(keys.limit(keys.DPO_STEPS).default), depth.RATE)
    beta_then = keys.limit(keys.DPO_BETA).default
    same = (*texts, steps, rate, beta) == (*depth.PAIR, *usual, beta_then)
    if result is None and live.model.source == DEFAULT and same:
        names, result = recorded.recorded_preference()
        note = "**Recorded.** The button above runs the same steps here. "
    if result:
        with place.container():
            view.preference_curves(result, key="dpo")
        view.next_table(names, result[0].watched, result[-1].watched)
    st.caption(note + depth.CAPTIONS["preference"])


def _run_preference(
    live: Live, key: tuple[Any, ...], watched: tuple[int, ...], place: DeltaGenerator
) -> None:
    """Run the steps, drawing each one."""
    from engine.training.preference import prefer

    _, prompt, chosen, rejected, steps, rate, beta = key
    done: list[PreferenceStep] = []

    def show(state: PreferenceStep) -> None:
        done.append(state)
        keep(PREFERRED, key, tuple(done))
        with place.container():
            view.preference_curves(done, key=f"dpo_{state.step}")

    with job.running(PREFER), session.turn():
        run = prefer(
            live.model,
            prompt,
            chosen,
            rejected,
            beta=beta,
            steps=steps,
            learning_rate=rate,
            watched=watched,
        )
        job.follow(run, show)


def from_nothing(live: Live) -> None:
    """Show a tiny transformer's way from random weights, and train one here on demand."""
    with st.container(key="main_picture"):
        place = st.empty()
    label = f"Train a new one here, {TINY_STEPS:,} steps (about a minute)"
    asked = job.button(label, TINY, primary=True)
    if asked:
        _run_tiny(live.seed, place)
    result = kept(TRAINED, live.seed)
    if result:
        losses, samples, models, chance = result
        with place.container():
            view.tiny_result(losses, samples, chance, key="tiny")
        _tiny_patterns(models)
        note = f"Trained here, with seed {live.seed}. "
    else:
        tiny = recorded.recorded_tiny()
        with place.container():
            view.tiny_result(tiny.losses, tiny.samples, tiny.chance, key="tiny")
        note = (
            "**Recorded**, with seed 0. The button trains another one here, from this page's seed, "
            "and lets you look at its attention. "
        )
    st.caption(note + depth.CAPTIONS["tiny"])


def _run_tiny(seed: int, place: DeltaGenerator) -> None:
    """Train it, drawing the curve from time to time."""
    from engine.training import from_nothing as tiny

    text = tiny.rhymes()
    chance = math.log(len(set(text)))
    losses: dict[int, float] = {}
    samples: dict[int, str] = {}
    models: dict[int, LanguageModel] = {}
    bar = st.progress(0.0, text="Training …")

    def show(state: TinyStep) -> None:
        losses[state.step] = state.loss
        bar.progress(state.step / TINY_STEPS, text=f"Step {state.step:,}")
        if state.model is not None and state.sample is not None:
            samples[state.step] = state.sample
            models[state.step] = state.model
        if state.step % DRAWN_EVERY == 0 or state.model is not None:
            keep(TRAINED, seed, (dict(losses), samples, models, chance))
            with place.container():
                view.tiny_result(losses, samples, chance, key=f"tiny_{state.step}")

    with job.running(TINY), session.turn():
        job.follow(tiny.train(text, steps=TINY_STEPS, seed=seed), show)


def _tiny_patterns(models: dict[int, LanguageModel]) -> None:
    """Draw all heads of the tiny model at the chosen step, on a line of the rhymes."""
    import numpy as np

    from engine.tracing.trace import trace

    steps = list(models)
    step = st.segmented_control(
        "Look inside it after step", steps, default=steps[-1], key="tiny_step", required=True
    )
    model = models[step]
    line = "Twinkle, twinkle, little star,"
    seen = trace(model, model.tokenizer.ids(line))
    layers = model.architecture.layers
    tiles = np.stack([downsampled(seen.pattern(layer), 32) for layer in range(layers)])
    title = f"After {step:,} steps: its {layers * tiles.shape[1]} heads on a line of the rhymes"
    chart(
        mosaic(tiles, title=title, key="tiny_heads", height=420),
        key="tiny_heads",
        alt=f"{title}, {line} One tile per head, one row of tiles per layer.",
    )
