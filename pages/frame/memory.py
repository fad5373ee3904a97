"""What keeps memory flat over a long day: nothing of a page that was left, or of an old model.

A model is full of circles (modules that know each other), and so is what a page has drawn
(functions that know the page's variables). Such circles go when Python collects garbage, unless
somebody holds on to one of their members. Two do: the collector itself, which passes over frozen
objects, and Streamlit, which keeps the callbacks of every widget that a session has ever drawn.
"""

from __future__ import annotations

import gc
import importlib
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import streamlit as st
from streamlit.components.v2.bidi_component.constants import EVENT_DELIM
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

if TYPE_CHECKING:
    from engine.model.model import LanguageModel


@cache
def freeze_libraries() -> None:
    """Let the collection of garbage pass over what the libraries have made, once per process.

    Streamlit collects after every run of a page. Over the hundreds of thousands of objects of
    torch, transformers and numba that takes 0.6 s, in which no picture reaches the browser; frozen
    objects are passed over. It is done before the first model is built, since one that is frozen
    would stay in memory for good after another has taken its place. Unfrozen it costs 10 ms.
    """
    with suppress(Exception):  # the first pass that needs them deals with what is wrong with them
        importlib.import_module("engine.network.few_rows_kernel")
        importlib.import_module("engine.network.decode_kernel")
    gc.collect()
    gc.freeze()


@st.cache_resource(show_spinner=False)
def living_models() -> WeakValueDictionary[str, LanguageModel]:
    """Return the models that somebody still uses, by source.

    A run that writes or trains keeps its model to its end, also when others have taken its place in
    the cache. Who asks for that model meanwhile gets the same one, not a second copy.
    """
    return WeakValueDictionary()


def forget_old_widgets() -> None:
    """After all widgets of a run were drawn: forget the callbacks of those that are gone.

    Streamlit 1.67 drops a widget's value with its page, but keeps its callback, and with that the
    page's variables, for as long as the session lasts: a model and a trace for each page.
    """
    context = get_script_run_ctx()
    if context is None or context.fragment_ids_this_run:
        return
    drawn = context.shared.widget_ids_this_run.snapshot()
    known = context.session_state._state._new_widget_state.widget_metadata
    for widget_id in known.keys() - drawn:
        if _owner(widget_id) not in drawn:
            del known[widget_id]


def _owner(widget_id: str) -> str:
    """Return the component of our own whose events a widget that nobody draws carries.

    Streamlit keeps the callbacks of a component's triggers under such an id, made of the
    component's: without it a click in the component would be lost.
    """
    name = widget_id.removeprefix(f"{STREAMLIT_INTERNAL_KEY_PREFIX}_")
    return name.rpartition(EVENT_DELIM)[0]
