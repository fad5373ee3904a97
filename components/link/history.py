"""Going to a page by its address: a chip of the strip, the browser's Back and Forward.

The strip's chips do what the browser's Forward does: they put the other page's address into the
browser's history, and Streamlit draws the page of that address. So each page that was seen is one
entry, and Back returns to the view that was left. Streamlit takes the values of bound widgets from
such an address, also where it has none: then the widget's own start counts. What no bound widget
holds asks `by_address`.
"""

from __future__ import annotations

from streamlit.runtime.scriptrunner import get_script_run_ctx

from components.link import keys

SHARED = (
    keys.PROMPT,
    keys.CHAT,
    keys.MODEL,
    keys.LAYER,
    keys.HEAD,
    keys.TOKEN,
    keys.PRESENT,
    keys.ORDER,
    keys.LOGIT_BIAS,
    keys.COUNTED,
    *(entry.key for entry in keys.LIMITS if entry.key != keys.MAX_NEW_TOKENS),
)
"""Parameters that go along from page to page; all others belong to the page that has them."""

_OF_SEVERAL = (*SHARED, keys.VIEW, keys.EDITS)
"""Parameters whose widgets more than one page draws."""


def by_address() -> bool:
    """Return whether this run draws the page of an address of the browser's history."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def share(key: str) -> None:
    """Let a parameter of several pages stay in the address, whichever has drawn its widget now.

    Streamlit 1.67 drops from the address of a page what another page has drawn last.
    """
    context = get_script_run_ctx()
    if context is None or key not in _OF_SEVERAL:
        return
    with context.session_state.query_params() as params:
        binding = params._bindings_by_param.get(key)
        if binding is not None:
            binding.script_hash = context.pages_manager.main_script_hash
            params._bindings_by_widget.pop(binding.widget_id, None)


def forget(key: str) -> None:
    """Take a parameter out of the address before its widget is drawn, so that its start counts."""
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as params:
            params.remove_param(key)
            params.set_initial_query_params_from_current()
