"""The frame of the app: page config, navigation, the shared controls, and around each page."""

from __future__ import annotations

import streamlit as st

from components.kit.text import markdown
from components.link import check, keys
from components.link.sampling import read_settings
from components.sampling.parts import settings_in_page
from components.shell import sidebar
from components.shell.guide import guide_button
from components.shell.stages import STAGES, sections
from pages.frame import class_bar, classroom, frame
from pages.frame.loading import allowed_sources, loader
from pages.frame.memory import forget_old_widgets
from pages.lesson import guesses

st.set_page_config(
    page_title="Token by Token",
    page_icon="components/shell/icon.png",
    layout="wide",
    initial_sidebar_state=frame.sidebar_state(),
)

page_of = {
    entry.key: st.Page(
        entry.page,
        title=entry.title,
        icon=entry.icon,
        url_path=entry.url or None,
        default=entry is STAGES[0],
        help=entry.question,
    )
    for entry in STAGES
}
chosen = st.navigation(
    {name: [page_of[entry.key] for entry in entries] for name, entries in sections().items()},
    position="hidden",
)
stage = next(entry for entry in STAGES if page_of[entry.key] == chosen)
check.read_link()  # it may write to the address, which only now names the page
room = classroom.begin(stage)
guesses.begin(stage)
covered = classroom.invited() or classroom.covers(room)
asking = guesses.asks(stage) and not covered
if st.session_state.get(keys.SHOWN_STAGE, stage.key) != stage.key:
    check.hold_settings()

with st.sidebar:
    source = sidebar.model_picker(allowed_sources())
    drawn = stage.key == "sampling" and not asking
    in_page = settings_in_page(frame.shows_visual(stage)) if drawn else ()
    sidebar.sampling_controls(stage.settings_note, without=in_page)
    seed = sidebar.seed_control()
    sidebar.usual_settings()
    guide_button(stage.key)
    class_bar.sidebar_controls(room)
settings, problems = read_settings()
for problem in problems:
    st.warning(markdown(problem))
loader(source)  # starts at the first visit; the page is painted meanwhile

with st.container(key="frame", gap="xxsmall"):
    strip = st.container(key="strip")
    beside = guesses.show_bar(stage)
    if asking or (covered and not classroom.leads()):
        request = sidebar.request_unseen(source)
    else:
        request = sidebar.prompt_controls(source, frame.model_line(source))
    told = guesses.told(stage, source)
    closed = asking or covered
    frame.header(stage, strip, request, settings, seed, closed=closed, instead=told, beside=beside)
    class_bar.bar(stage, room, request, settings, seed)
with frame.errors_said():
    if covered:
        class_bar.screen(room)
    elif asking:
        guesses.ask(source)
    else:
        chosen.run()
if not closed:
    frame.footer(stage)
classroom.end(stage, request)
check.show_notices()
forget_old_widgets()
