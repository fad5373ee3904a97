"""docs/engine.md: every snippet runs on the real model, prints what the page says, and is right.

The snippets run in order in one namespace, as in a notebook. What they print is compared with what
stands under them: words exactly, numbers within a tolerance, since another machine adds up in
another order. Recorded choices are far from ties: the text that is drawn by at least 0.0002, the
greedy ones by at least 0.05.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys

import pytest

from components.shell.stages import STAGES
from tests.sources import ROOT

GUIDE = (ROOT / "docs/engine.md").read_text(encoding="utf-8")
SNIPPET = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
REBUILT = re.compile(r"by hand (\S+), page (\S+)")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def near(expected: str) -> object:
    """Return what a printed number may be on another machine: a count or an id only itself."""
    if re.fullmatch(r"[-+]?\d+", expected):
        return int(expected)
    return pytest.approx(float(expected), rel=3e-3, abs=1e-4)


def parts(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a printed text, with `#` for each number, and the numbers."""
    return NUMBER.sub("#", text).split(), NUMBER.findall(text)


def check_printed(printed: str, expected: str, where: str) -> None:
    words, numbers = parts(printed)
    expected_words, expected_numbers = parts(expected)
    assert words == expected_words, where
    for number, wanted in zip(numbers, expected_numbers, strict=True):
        assert float(number) == near(wanted), where


def test_every_page_has_a_number_that_is_rebuilt():
    rebuilt = GUIDE.split("\n## One number of each page, rebuilt\n")[1].split("\n### ")[1:]
    assert [part.splitlines()[0] for part in rebuilt] == [stage.title for stage in STAGES]
    for part in rebuilt:
        assert REBUILT.search(part), part.splitlines()[0]


def test_every_snippet_prints_what_stands_under_it(real_model, monkeypatch):
    """One model for all tests: the snippets' `load_model` gives the one that is loaded."""
    monkeypatch.setattr("engine.model.model.load_model", lambda *_, **__: real_model)
    namespace: dict[str, object] = {}
    rebuilt = 0
    for number, (code, expected) in enumerate(SNIPPET.findall(GUIDE), 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"docs/engine.md, snippet {number}", "exec"), namespace)
        check_printed(printed.getvalue(), expected, f"snippet {number}: {printed.getvalue()}")
        for by_hand, page in REBUILT.findall(printed.getvalue()):
            assert float(by_hand) == near(page), f"snippet {number}"
            rebuilt += 1
    assert rebuilt >= len(STAGES)


def test_the_names_of_a_trace_exist(tiny_model):
    """The left column of the table of hook points is code that runs, with the shapes it states."""
    from engine.attention.head_steps import head_steps
    from engine.tracing.trace import trace

    model = tiny_model("llama")
    run, shape = trace(model, range(5)), model.architecture
    sizes = {"T": 5, "S": 5, "D": shape.width, "H": shape.heads, "G": shape.kv_heads}
    sizes |= {"K": shape.head_size, "F": shape.ff_width}
    rows = re.findall(r"^\| (`(?:run|head).*?) \| (.*?) \| `", GUIDE, re.MULTILINE)
    assert len(rows) == 16
    for codes, shapes in rows:
        values = [
            value
            for code in re.findall(r"`(.*?)`", codes)
            for value in as_arrays(
                eval(code, {"run": run, "head_steps": head_steps, "l": 1, "h": 2})
            )
        ]
        stated = [
            tuple(sizes[axis] for axis in axes.split(", "))
            for axes in re.findall(r"\[(.*?)\]", shapes)
        ]
        assert [value.shape for value in values] == stated, codes


def as_arrays(value: object) -> list:
    return list(value) if isinstance(value, tuple) else [value]


def test_figures_are_drawn_without_streamlit():
    script = (
        "import sys\n"
        "import numpy as np\n"
        "import components.attention.figures, components.kit.bars, components.kit.mosaic\n"
        "from components.kit.figure import token_labels\n"
        "from components.kit.heatmap import heatmap\n"
        "names = token_labels(['a', 'b'])\n"
        "figure = heatmap(np.eye(2), names, names, title='t', key='k', low=0, high=1)\n"
        "assert 'heatmap' in figure.to_json()\n"
        "assert figure._repr_mimebundle_ is not None\n"
        "assert 'streamlit' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
