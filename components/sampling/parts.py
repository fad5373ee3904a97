"""The parts of the sampling page, and which settings the open one draws by itself.

Every setting has exactly one field on the screen, or the link would lose it: what the page does
not draw stands in the sidebar.
"""

from __future__ import annotations

from collections.abc import Mapping

from components.link import check, keys, widgets
from components.sampling.cards import CARDS

PARTS = ("The chain", "Draw", "Turn one knob", "Compare two settings", "Sharpness", "Beam search")
FORMERLY: Mapping[str, str] = {
    "Sweeps": "Turn one knob",
    "A and B": "Compare two settings",
    "Beams": "Beam search",
}
"""What older links call a part, and its name today."""


def open_step() -> str:
    """Return the step of the chain whose card is open; empty if none is."""
    return widgets.kept_text(keys.OPEN_STEP, "Open step", "", names=("", *CARDS))


def settings_in_page(visual: bool) -> frozenset[str]:
    """Return the settings that the page's cards draw in this run of the script.

    Args:
        visual: whether the page's first view is shown.
    """
    opened = open_step()
    # A name that there is not becomes the first part, as soon as the choice of the part is drawn.
    if not visual or check.text(keys.SAMPLING_PART) in PARTS[1:]:
        return frozenset()
    in_card = CARDS[opened].keys if opened else ()
    texts = {"logit_bias": keys.LOGIT_BIAS, "count_penalties": keys.COUNTED}
    also = {texts[opened]} if opened in texts else set()
    return frozenset({keys.TEMPERATURE, keys.ORDER, *in_card, *also})
