"""The teacher's guide inside the app: every part opens, and every stop's link is one."""

from __future__ import annotations

import pytest

from components.shell.guide import PARTS, sections
from components.shell.routes import ROUTES
from components.shell.stages import STAGES
from tests.app.test_frame import texts

STOPS = {
    (stop.stage, *stop.link.items()): stop
    for stops in ROUTES.values()
    for stop in stops
    if stop.link
}


def test_every_part_of_the_guide_opens_over_a_page(open_app):
    at = open_app("tokenizer")
    at.button(key="guide").click().run()
    assert not at.exception
    assert "strawberry, 2024, your own name" in texts(at)
    # AppTest has no fragments, so a part is opened by its name in the session.
    for part in PARTS[1:]:
        at.session_state["guide_part"] = part
        at.button(key="guide").click().run()
        assert not at.exception, part
        body = sections().get(part, "")
        assert body.splitlines()[0][:40] in texts(at) if part in PARTS[-2:] else True
    assert "How many pieces has" in sections()["Tokenizer"]


def test_the_guide_speaks_of_every_page_and_shows_no_comment_or_file():
    found = sections()
    assert all(found[entry.title] for entry in STAGES)
    assert not any("<!--" in body or "](" in body for body in found.values())


@pytest.mark.parametrize("stop", STOPS.values(), ids=lambda stop: stop.stage)
def test_a_stop_opens_what_it_names(open_app, stop):
    at = open_app(stop.stage, **stop.link)
    for key, value in stop.link.items():
        assert str(at.session_state[key]).lower() == value.lower()
    assert "which is none of" not in texts(at)
