"""A round on the screens of a class: the question, the answers as they come, and the reveal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from components.classroom import answers
from components.classroom.address import join_link, own_computer_only
from components.classroom.join_card import join_card
from components.kit.text import counted, markdown, visible
from components.link import keys
from components.link.changes import change
from components.shell.sidebar import Request
from components.shell.stages import Stage
from engine.basics.errors import EngineError
from engine.classroom.records import LONGEST_ANSWER, Place, Question, RoomState, Round
from engine.classroom.scoring import Score, score
from engine.sampling.chain import SamplingSettings, draw
from pages.frame import classroom
from pages.frame.live import cached_trace, read_prompt, written
from pages.frame.loading import wait_for_model

ASK_AGAIN = "class_ask_again"
"""Of the session alone: ask for the next token as soon as the prompt has the last one."""
LOOKS = 1.0
"""Seconds between two looks at how many have answered, on the teacher's screen alone."""
SHOWN_WORDS = 12


def screen(state: RoomState) -> None:
    """Draw what stands in the place of the page."""
    with st.container(key="class_screen"):
        if state.screen == "code":
            st.fragment(_code, run_every=LOOKS)()
        elif state.round is not None and state.round.revealed:
            _revealed(state, state.round)
        elif state.round is not None:
            _open(state, state.round)


# --- the code ---------------------------------------------------------------------------------


def _code() -> None:
    state = classroom.look()
    if state is None:
        st.rerun()
    url = st.context.url or ""
    join_card(join_link(url, state.code), state.code, state.here)
    if own_computer_only(url):
        st.warning(
            "This address leads to this computer only, so nobody else can join. Start the app with "
            "`make run HOST=0.0.0.0` and open it by this computer's address in the network; the "
            "code then carries that address."
        )


# --- asking -----------------------------------------------------------------------------------


def ask(question: Question) -> None:
    """Open a round on every screen that follows; then the script runs again.

    Args:
        question: what is asked. Options make it a choice; a place in a text, a word against the
            model.
    """
    mine = classroom.seat()
    if mine is None:
        return
    try:
        classroom.rooms().ask(mine.code, mine.key, question)
    except EngineError as error:
        st.error(markdown(str(error)))
        return
    classroom.tell_students()
    st.rerun()


def offer(question: Callable[[], Question]) -> None:
    """Draw the teacher's way to put a question of the page to the class; nothing for others.

    Args:
        question: makes the question when it is put.
    """
    if classroom.leads():
        pressed = st.button(
            "Ask the class",
            key="ask_class",
            icon=":material/groups:",
            help="Everybody who follows chooses; the reveal shows how many chose what.",
        )
        if pressed:
            ask(question())


def ask_for_next(stage: Stage, request: Request, settings: SamplingSettings, seed: int) -> None:
    """Ask the class for the token that comes next after the text on the teacher's page."""
    from engine.generation.random_numbers import uniforms

    live = read_prompt(request, settings, seed)
    if live.problem is not None:
        st.warning(markdown(live.problem))
        return
    extra = written(live) if stage.key == "overview" else ()
    probabilities = live.chain(live.settings, extra)[-1].probabilities
    drawn = draw(probabilities, uniforms(seed, len(extra) + 1)[-1])
    tail = b"".join(live.model.tokenizer.bytes_of(one) for one in extra).decode(errors="replace")
    ask(
        Question(
            text="How does the answer go on?" if request.chat else "What comes next?",
            passage=f"{request.prompt}\n{tail}" if request.chat else request.prompt + tail,
            place=Place(live.model.source, live.ids + extra, drawn),
        )
    )


# --- a round that is open ---------------------------------------------------------------------


def _question(now: Round) -> None:
    st.markdown(f"### {markdown(now.question.text)}")
    if now.question.passage:
        st.html(answers.passage(now.question.passage))


def _open(state: RoomState, now: Round) -> None:
    _question(now)
    if state.role == "student":
        st.fragment(_answer)()
        return
    if now.question.options:
        st.markdown("\n".join(f"- {markdown(one)}" for one in now.question.options))
    st.fragment(_count, run_every=LOOKS)()
    if st.button("Reveal", key="reveal", type="primary", icon=":material/visibility:"):
        _reveal()


def _count() -> None:
    state = classroom.look()
    if state is None or state.round is None:
        st.rerun()
    st.html(answers.big_count(state.round.answered, state.here))


def _answer() -> None:
    """Draw the field for an answer, or the options. Drawn alone: thirty answer at once."""
    state = classroom.look()
    if state is None or state.round is None or state.round.revealed:
        st.rerun()
    now = state.round
    problem = None
    if now.question.options:
        for number, option in enumerate(now.question.options):
            if st.button(
                markdown(option),
                key=f"class_option_{now.number}_{number}",
                type="primary" if option == state.mine else "secondary",
                width="stretch",
            ):
                problem = _send(option)
    else:
        with st.form("class_answer", border=False, enter_to_submit=True):
            typed = st.text_input(
                "The next word, or a part of one",
                key=f"class_word_{now.number}",
                max_chars=LONGEST_ANSWER,
                autocomplete="off",
            )
            if st.form_submit_button("Send", type="primary", width="stretch"):
                problem = _send(typed or "")
    after = classroom.look()
    if problem is not None:
        st.error(markdown(problem))
    elif after is not None and after.mine is not None:
        st.markdown(
            f"Your answer: “{markdown(visible(after.mine))}”. You can change it until the reveal."
        )


def _send(text: str) -> str | None:
    """Give an answer; return why it was refused, if it was."""
    mine = classroom.seat()
    try:
        if mine is not None:
            classroom.rooms().answer(mine.code, mine.key, text)
    except EngineError as error:
        return str(error)
    return None


# --- the reveal -------------------------------------------------------------------------------


def _reveal() -> None:
    """Score the round and show it on every screen that follows; then the script runs again."""
    mine = classroom.seat()
    if mine is None:
        return
    question, texts = classroom.rooms().asked(mine.code, mine.key)
    found = _score(question.place, texts) if question.place is not None else None
    classroom.rooms().reveal(mine.code, mine.key, found)
    classroom.tell_students()
    st.rerun()


def _score(place: Place, texts: Sequence[str]) -> Score:
    model = wait_for_model(place.source)
    logits = cached_trace(place.source, place.ids, ()).logits
    return score(model.tokenizer, logits, place.drawn, texts)


def _revealed(state: RoomState, now: Round) -> None:
    found = now.score
    if found is None:
        _question(now)
        st.html(answers.option_bars(now))
        _own(state)
        if now.question.why:
            st.markdown(markdown(now.question.why))
        return
    st.html(answers.passage(now.question.passage, found.came.data, limit=160))
    st.markdown(f"### {markdown(answers.headline(found))}")
    bars, beside = st.columns([1.5, 1], gap="medium")
    with bars:
        st.html(answers.class_beside_model(found))
    with beside:
        _own(state)
        st.markdown(markdown(answers.bits_line(found)))
        overall = answers.standing_line(state.bits)
        if overall:
            st.markdown(f"**{markdown(overall)}**")
        if state.role == "teacher":
            _go_on(found)
        _words(state, now, found)
        with st.expander("How this is scored"):
            told = answers.HOW_IT_IS_SCORED.format(vocabulary=found.vocabulary)
            st.caption(markdown(told))


def _own(state: RoomState) -> None:
    if state.mine is not None:
        st.markdown(f"Your answer was “{markdown(visible(state.mine))}”.")


def _words(state: RoomState, now: Round, found: Score) -> None:
    """Draw the words that were given, each with the teacher's way to hide it."""
    st.caption(markdown(answers.whole_and_cut(found)))
    for number, word in enumerate(found.words[:SHOWN_WORDS]):
        line = markdown(answers.word_line(word, now.answers))
        if state.role != "teacher":
            st.markdown(line)
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(line)
            pressed = st.button(
                "Hide",
                key=f"hide_word_{now.number}_{number}",
                type="tertiary",
                help="Takes it off every screen and out of the score.",
            )
        if pressed:
            _hide(word.texts)
    rest = len(found.words) - SHOWN_WORDS
    if rest > 0:
        st.caption(f"And {counted(rest, 'word')} more.")
    if now.hidden:
        st.caption(f"{counted(now.hidden, 'answer')} hidden, and not counted.")


def _hide(texts: Sequence[str]) -> None:
    mine = classroom.seat()
    if mine is not None:
        classroom.rooms().hide(mine.code, mine.key, texts)
        _reveal()


def _go_on(found: Score) -> None:
    """Draw the way to the next round, with the token that came at the end of the text."""
    mine = st.session_state[classroom.SEAT]
    question, _ = classroom.rooms().asked(mine.code, mine.key)
    try:
        text = question.passage + found.came.data.decode()
    except UnicodeDecodeError:
        return  # a part of a character: no text has it at its end
    if not found.came.data or st.session_state.get(keys.CHAT):
        return
    st.button("Next round: one token on", key="next_round", on_click=_next_round, args=(text,))


def _next_round(text: str) -> None:
    change("The token that came stands at the end of the prompt.", {keys.PROMPT: text})
    st.session_state[ASK_AGAIN] = True
