"""The commands of make: which check holds what, and that nothing is left out of the whole one."""

from __future__ import annotations

import subprocess

from tests.sources import ROOT


def dry_run(*arguments):
    """Return what make would run, were everything installed."""
    known = ("--dry-run", "--always-make", "--no-print-directory")
    done = subprocess.run(
        ["make", *known, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_help_lists_the_commands():
    listed = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for command in ("run", "test", "check", "lint", "bench"):
        assert f"make {command} " in listed


def test_continuous_integration_runs_every_test():
    lines = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "REQUIRE_BROWSER=1 make test"
    said = dry_run("test")
    (pytest_line,) = [
        line for line in said.replace("\\\n", " ").splitlines() if "-m pytest" in line
    ]
    # No marker, file or name is left out.
    assert not {"-m not", " -k ", "--ignore", "--deselect", "tests/"} & set(pytest_line.split())
    assert "not " not in pytest_line
    for check in ("ruff check", "ruff format --check", "-m mypy"):
        assert check in said


def test_the_quick_check_needs_no_weights_and_no_browser():
    said = dry_run("check")
    assert "fetch_weights" not in said
    assert "tests/browser" not in said
    assert "tests/app" not in said
    assert "not real" in said
    for part in ("tests/engine", "tests/components", "tests/test_*.py", "ruff check", "-m mypy"):
        assert part in said
