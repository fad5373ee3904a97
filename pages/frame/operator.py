"""What the operator sets by variables of the environment."""

from __future__ import annotations

import logging
import os


def whole_number(variable: str, usual: int, what: str) -> int:
    """Return a whole number of at least 1 that the operator set, or the usual one.

    Args:
        variable: its name in the environment.
        usual: what holds without it, and where it is no such number; the log says so then.
        what: the number in words, as the sentence in the log has it: "the cap is {} tokens".
    """
    text = os.environ.get(variable, "")
    if text.strip().isdecimal() and int(text) > 0:
        return int(text)
    if text:
        logging.getLogger(__name__).warning(
            "%s is “%s”, which is no whole number of at least 1, so %s.",
            variable,
            text,
            what.format(usual),
        )
    return usual
