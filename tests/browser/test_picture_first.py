"""Every page at three sizes: the main picture begins high, most of it is seen, none sticks out."""

from __future__ import annotations

import pytest

from components.shell.stages import STAGES
from tests.browser.harness.actions import visit, wait_for_model, wait_until_idle, widget

SIZES = {
    (1440, 900): (300, 0.5),
    (1024, 768): (310, 0.5),
    (390, 844): (640, 0.15),
}
"""The size of the window; where the picture begins at the latest, in pixels; and how much of it, or
of the window's height if it is taller than that, is seen without scrolling."""


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_picture_comes_first(page_at, size):
    width, height = size
    latest, share = SIZES[size]
    offences = []
    page = page_at("/", viewport=size)
    if width < 1200:
        page.get_by_role("button", name="Expand sidebar").wait_for()
        wait_until_idle(page)
    for entry in STAGES:
        if entry is not STAGES[0]:
            visit(page, entry.key)
            wait_for_model(page)
        picture = widget(page, "main_picture")
        if not picture.count():
            offences.append(f"{entry.key}: no main picture")
            continue
        box = picture.first.bounding_box()
        seen = (min(height, box["y"] + box["height"]) - box["y"]) / min(box["height"], height)
        if box["y"] > latest or seen < share:
            offences.append(f"{entry.key}: begins at {box['y']:.0f}, {seen:.0%} seen")
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        if wide > width:
            offences.append(f"{entry.key}: {wide} pixels wide")
    assert not offences, "\n".join(offences)
