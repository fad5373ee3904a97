"""The frame around every page: pipeline strip, question and answer, three views, the next stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import streamlit as st

from components.kit.guess import Guess
from components.kit.presenting import presenting as is_presented
from components.kit.tasks import Task
from components.kit.text import markdown, visible
from components.link import check, history, keys, widgets
from components.link.sampling import read_settings
from components.link.selection import follow, pick
from components.shell.glossary import glossary, word_line
from components.shell.pipeline_strip import StageChip, pipeline_strip
from components.shell.question import question
from components.shell.sidebar import Request
from components.shell.stages import STAGES, Facts, Stage, following
from engine.basics.errors import EngineError
from engine.classroom.records import Question
from engine.model.weights import DEFAULT
from engine.sampling.chain import SamplingSettings
from pages.frame import class_rounds, job, trying
from pages.frame.live import HIDES, Live, facts, read_prompt, written
from pages.frame.loading import loaded_model, wait_for_model

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

CURRENT = "current_request"
STRIP = "strip"
VIEWS = ("Visual", "In depth", "Try this")


@dataclass(frozen=True)
class Current:
    """What this run of the script shows."""

    stage: Stage
    request: Request
    settings: SamplingSettings
    seed: int
    beside_title: DeltaGenerator
    """Where the choice of the view stands."""
    closed: bool
    """Whether a question is open on the page, so that nothing is to give its answer away."""
    told: bool
    """Whether something else stands in place of the page's question and answer."""


def header(
    stage: Stage,
    slot: DeltaGenerator,
    request: Request,
    settings: SamplingSettings,
    seed: int,
    *,
    closed: bool = False,
    instead: Callable[[], None] | None = None,
    beside: DeltaGenerator | None = None,
) -> None:
    """Draw the strip, the question and the answer, and keep the request for the page.

    The words are on screen before the model is loaded; the strip gets its facts once it is.

    Args:
        stage: whose page this is.
        slot: where the strip stands.
        request: what the user asks for.
        settings: of the sampling.
        seed: of the random numbers.
        closed: whether a question is open on the page: then neither words nor facts are drawn.
        instead: draws what stands in place of the question and the answer.
        beside: where the choice of the view stands, if not beside those words.
    """
    if st.session_state.get(keys.SHOWN_STAGE, stage.key) != stage.key:
        if not history.by_address():
            st.session_state[keys.VIEW] = VIEWS[0]  # each page opens with its picture
            history.forget(keys.VIEW)
        job.drop()
        trying.close_guess()
    st.session_state[keys.SHOWN_STAGE] = stage.key
    if beside is None:
        words, beside_title = st.columns([2.6, 1], vertical_alignment="top")
    else:
        words, beside_title = st.container(), beside
    if not closed:
        with words:
            instead() if instead else question(stage.question, stage.answer)
    beside_title = beside_title.container(horizontal=True, gap="xxsmall", key="beside_title")
    st.session_state[CURRENT] = Current(
        stage, request, settings, seed, beside_title, closed, told=instead is not None
    )
    if loaded_model(request.source) is not None and not closed:
        with st.spinner("Running the model once over the prompt …", show_time=True):
            _facts(stage, request, settings, seed)
    # A fragment waits for a run of the whole script, so while a page writes its chips would not
    # lead away. Only the sampling page, whose slider has the strip drawn anew, draws it as one.
    draw = st.fragment(key=STRIP)(_strip) if stage.key == "sampling" else _strip
    with slot:
        draw(stage)


@contextmanager
def errors_said() -> Iterator[None]:
    """Say what the engine refused, in its own words, and let the rest of the page live."""
    try:
        yield
    except EngineError as error:
        st.error(markdown(str(error)))


def current_request() -> Request:
    """Return what the user asks for now."""
    return _current().request


def _current() -> Current:
    current: Current = st.session_state[CURRENT]
    return current


def _facts(stage: Stage, request: Request, settings: SamplingSettings, seed: int) -> Facts | None:
    """Return what the strip says of the prompt; None if there is nothing to say yet.

    On the overview it speaks of the text so far, as the picture does.
    """
    with suppress(EngineError):  # the page itself meets the same error and says it
        if loaded_model(request.source) is not None:
            live = read_prompt(request, settings, seed)
            extra = written(live) if stage.key == "overview" else ()
            return facts(live, extra) if live.problem is None else None
    return None


def _strip(current: Stage) -> None:
    """Draw one chip per stage."""
    asked = _current()
    settings = read_settings()[0]
    known = None if asked.closed else _facts(current, asked.request, settings, asked.seed)
    hidden = "lm_head" if current.key == "overview" and st.session_state.get(HIDES) else None
    chips = [
        StageChip(
            key=entry.key,
            label=entry.short or entry.title,
            fact="" if known is None or entry.key == hidden else entry.chip(known),
            url=entry.url,
            current=entry.key == current.key,
            help=entry.question,
        )
        for entry in STAGES
    ]
    event = pipeline_strip(
        chips,
        presenting=presenting(),
        narrow=bool(st.session_state.get(keys.NARROW)),
        shared=history.SHARED,
        fresh=(keys.VIEW,),
    )
    if event.narrow != bool(st.session_state.get(keys.NARROW)):
        st.session_state[keys.NARROW] = event.narrow
        st.rerun()  # so that the sidebar closes
    if event.words:
        glossary()
    if event.present is not None:
        st.session_state[keys.PRESENT] = "true" if event.present else "false"
        st.rerun()


def live_prompt(*, traced: bool = True, used: bool = True) -> Live:
    """Return the prompt on the running model.

    Waits for the model and says what is wrong with the prompt, in which case the script stops.

    Args:
        traced: whether the page looks inside the model, so that the prompt's cap holds.
        used: whether the page uses the prompt at all; if not, nothing about it is said.
    """
    current = _current()
    request, settings, seed = current.request, current.settings, current.seed
    first_time = loaded_model(request.source) is None
    wait_for_model(request.source)
    if first_time:
        st.rerun()  # so that the strip gets its facts
    live = read_prompt(request, settings, seed)
    for sentence in live.refused:
        st.warning(markdown(sentence))
    if not used:
        return live
    if live.dropped:
        st.warning(
            "The model's vocabulary has no bytes for these characters, so it never sees them: "
            + markdown(" ".join(live.dropped))
        )
    if live.problem is not None and (traced or not live.tokens):
        st.warning(markdown(live.problem))
        check.show_notices()  # which else come after the page
        st.stop()
    return live


def views(
    visual: Callable[[], None],
    in_depth: Callable[[], None],
    tasks: Callable[[], list[Task]],
    guess: Callable[[], Guess | None],
) -> None:
    """Draw the one of a page's three views that is chosen; the choice stands beside the title.

    Args:
        visual: draws the pictures.
        in_depth: draws the formulas.
        tasks: returns what to try.
        guess: returns the page's question about this prompt, None if there is nothing to ask.
    """
    stage = _current().stage
    with _current().beside_title:
        chosen = widgets.choice(
            "View",
            VIEWS,
            key=keys.VIEW,
            label_visibility="collapsed",
            on_change=trying.close_guess,
        )
        trying.guess_button(stage, chosen == VIEWS[0] and not _current().told)
    with errors_said():
        if chosen == VIEWS[0]:
            if not trying.guess_waits(stage, guess, _offer_to_class):
                visual()
        elif chosen == VIEWS[1]:
            word_line(stage.key)
            in_depth()
        else:
            trying.try_this(stage, tasks(), guess)


def _offer_to_class(guess: Guess) -> None:
    """Draw the teacher's way to put the page's question to the class."""
    class_rounds.offer(
        lambda: Question(guess.question, options=guess.options, right=guess.right, why=guess.reveal)
    )


def sidebar_state() -> Literal["auto", "collapsed"]:
    """Return how the sidebar stands: closed while presenting and in a narrow window."""
    closed = st.session_state.get(keys.NARROW) or is_presented()
    return "collapsed" if closed else "auto"


def model_line(source: str) -> str:
    """Return the words on the running model that stand over the prompt; none while presenting."""
    if presenting():
        return ""
    model = loaded_model(source)
    if model is None:
        return "· the model is being loaded"
    size = f"{model.architecture.parameters / 1e6:,.0f} million parameters"
    character = ": fluent, often wrong" if model.source == DEFAULT else ""
    return f"· {model.name}, {size}, on this computer{character}"


def shows_visual(stage: Stage) -> bool:
    """Tell whether the page shows its first view, before that view's choice is drawn."""
    if history.by_address():
        return st.query_params.get(keys.VIEW, VIEWS[0]) == VIEWS[0]
    came = st.session_state.get(keys.SHOWN_STAGE, stage.key) != stage.key
    return came or (check.text(keys.VIEW) or VIEWS[0]) == VIEWS[0]


def presenting() -> bool:
    """Return whether the page is being presented: larger, without the sidebar."""
    on_off = ("true", "false")
    return widgets.kept_text(keys.PRESENT, "Presenting", "false", names=on_off) == "true"


def footer(stage: Stage) -> None:
    """Draw the link to the next stage."""
    after = following(stage.key)
    st.page_link(after.page, label=f"Next: {after.title}", icon=":material/arrow_forward:")


def selection(
    live: Live,
    *,
    layer: bool = False,
    head: bool = False,
    token: bool = False,
    start: tuple[int, int] = (0, 0),
    boxes: bool = True,
) -> None:
    """Draw the choices of layer, head and token side by side; their values are in the link.

    Until somebody chooses, they follow the prompt. The last token has read the whole prompt, and
    the answer follows it.

    Args:
        live: the prompt.
        layer: whether there is a layer to choose.
        head: whether there is a head to choose.
        token: whether there is a token to choose.
        start: the layer and the head until somebody chooses.
        boxes: whether layer and head have boxes; without, something else on the page chooses them.
    """
    architecture = live.model.architecture
    last = len(live.tokens) - 1

    def spell_token(index: int) -> str:
        return f"{index + 1}: {visible(live.tokens[index].data, limit=14)}"

    with st.container(horizontal=True, key="selection", width="content", gap="xsmall"):
        if layer:
            entry = _whole(keys.LAYER, "Layer", architecture.layers - 1, start[0])
            _numbered(entry, boxes, width=102)
        if head:
            entry = _whole(keys.HEAD, "Head", architecture.heads - 1, start[1])
            _numbered(entry, boxes, width=98)
        if token:
            pick(_whole(keys.TOKEN, "Token", last, last), spell_token, width=142)


def _numbered(entry: keys.Limit, box: bool, width: int) -> None:
    """Draw the box of a layer or a head, or keep what is chosen without one."""
    if box:
        pick(entry, lambda index: f"{entry.label.lower()} {index}", width=width)
    else:
        follow(entry)


def _whole(key: str, label: str, high: int, start: int) -> keys.Limit:
    return keys.Limit(key, label, 0, high, start, 1, whole=True)
