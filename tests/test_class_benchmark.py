"""The report on a class: its place in the docs, and the numbers that it states."""

import pytest

from benchmarks import class_of_thirty
from benchmarks.class_of_thirty import PROMPTS, Kind


def test_a_report_takes_the_place_of_the_last_one(tmp_path, monkeypatch):
    target = tmp_path / "benchmarks.md"
    target.write_text("# Benchmarks\n\n| a |\n\n## File handles\n\nMeasured.\n", encoding="utf-8")
    monkeypatch.setattr(class_of_thirty, "TARGET", target)
    class_of_thirty.keep("first report", "one command")
    class_of_thirty.keep("second report", "another command")
    text = target.read_text(encoding="utf-8")
    assert "first report" not in text
    assert text.count(class_of_thirty.TITLE) == 1
    for kept in ("| a |", "## File handles\n\nMeasured.", "`another command`", "second report"):
        assert text.count(kept) == 1


def test_a_row_states_what_was_seen():
    kind = Kind("a slider", 0.3, seconds=[i / 100 for i in range(1, 101)], cpu=5.0, passes=20.0)
    assert kind.at(0.5) == pytest.approx(0.51)
    assert kind.at(0.95) == pytest.approx(0.96)
    assert kind.cells(None)[1:] == (
        "100",
        "0.51 s",
        "0.96 s",
        "≤ 0.3 s",
        "**no**",
        "0.20",
        "50 ms",
        "",
    )


def test_thirty_have_thirty_prompts():
    assert len(set(PROMPTS)) == 30
