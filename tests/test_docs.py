"""The guides keep up with the code: stages, examples, settings, names on buttons, links."""

from __future__ import annotations

import ast
import re

from components.sampling.presets import PRESETS as SETTINGS
from components.shell.example_prompts import PRESETS
from components.shell.routes import ROUTES
from components.shell.stages import STAGES, stage
from tests.sources import ROOT, sources

GUIDE = (ROOT / "docs/teachers-guide.md").read_text(encoding="utf-8")
DEPLOYMENT = (ROOT / "docs/deployment.md").read_text(encoding="utf-8")


def test_the_guide_has_a_question_and_a_misconception_for_every_page_in_order():
    parts = GUIDE.split("\n### ")[1:]
    assert [part.splitlines()[0] for part in parts] == [stage.title for stage in STAGES]
    for part in parts:
        for word in ("**Ask:**", "**Click:**", "**See:**", "**Misconception:**"):
            assert word in part, f"{part.splitlines()[0]} says nothing under {word}"


def test_the_guide_lists_the_examples_as_they_are():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|[^|]+\|$", GUIDE, re.MULTILINE)
    for preset in PRESETS:
        assert (preset.name, preset.prompt) in rows


def test_what_the_guide_tells_to_click_is_on_the_screen():
    labels = {
        node.value
        for source in sources("app", "components", "pages")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    labels |= {preset.name for preset in SETTINGS}
    # Made of parts: the number of tokens, a guard's name, what is taught.
    parts = ("Write ", "Run ", "Teach it")
    assert all(any(label.startswith(part) for label in labels) for part in parts)
    clicks = re.findall(r"^- \*\*(?:Click|Then):\*\*.*(?:\n  .*)*", GUIDE, re.MULTILINE)
    found = (name for click in clicks for name in re.findall(r'"([^"]+)"', click))
    named = {" ".join(name.split()) if "\n" in name else name for name in found}
    typed = {"Hi", "#7042", "Paris"}
    assert named - typed
    unknown = [name for name in named - typed if not {name, name.rstrip(".")} & labels]
    assert [name for name in sorted(unknown) if not name.startswith(parts)] == []


def test_the_routes_are_those_of_the_app_and_their_minutes_add_up():
    assert list(ROUTES) == [20, 45, 90]
    for total, stops in ROUTES.items():
        part = GUIDE.split(f"\n## {total} minutes\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|$", part, re.MULTILINE)
        assert rows == [(str(s.minutes), stage(s.stage).title, s.do) for s in stops]
        assert sum(stop.minutes for stop in stops) == total


def test_every_setting_is_described_for_operators():
    used = {
        name
        for source in sources("app", "engine", "components", "pages")
        for name in re.findall(r"TOKEN_BY_TOKEN_\w+", source.text)
    }
    assert set(re.findall(r"TOKEN_BY_TOKEN_\w+", DEPLOYMENT)) == used


def test_links_lead_to_files():
    for text in (GUIDE, DEPLOYMENT):
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (ROOT / "docs" / target).exists(), target
