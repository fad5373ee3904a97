"""What the README says is so: its tables, its links, its commands and its settings."""

from __future__ import annotations

import re

from scripts.readme_tables import DOCUMENTS, README, filled
from tests.sources import ROOT, sources


def readme() -> str:
    return README.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_code():
    for path in DOCUMENTS:
        assert path.read_text(encoding="utf-8") == filled(path), "run `make readme`"


def test_every_link_and_picture_leads_to_a_file():
    targets = re.findall(r"\]\(([^)#]+)\)", readme())
    local = [target for target in targets if not target.startswith("http")]
    assert local
    assert [target for target in local if not (ROOT / target).exists()] == []


def test_the_readme_is_short_and_its_film_is_small():
    prose = re.sub(r"<!-- (\w+) -->.*?<!-- /\1 -->|```.*?```", "", readme(), flags=re.DOTALL)
    assert len(prose.split()) <= 1_100
    assert (ROOT / "docs" / "overview.gif").stat().st_size <= 2_000_000
    rooms = re.search(r"<!-- rooms -->(.*?)<!-- /rooms -->", readme(), re.DOTALL)
    assert rooms is not None
    assert len(rooms.group(1).strip().splitlines()) <= 34


def test_every_command_of_make_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", readme(), re.MULTILINE))
    assert {"run", "test"} <= named
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_every_setting_is_described():
    shipped = sources("app", "engine", "components", "pages")
    used = {name for source in shipped for name in re.findall(r"TOKEN_BY_TOKEN_\w+", source.text)}
    assert used
    assert set(re.findall(r"TOKEN_BY_TOKEN_\w+", readme())) == used


def test_the_licence_is_the_whole_apache_licence():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
