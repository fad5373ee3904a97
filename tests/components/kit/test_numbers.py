"""Numbers on the screen carry the digits that matter, and only what is whole is 100 %."""

import ast
import re
from pathlib import Path

import pytest

from components.kit.numbers import percent, size

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (1.0, "100 %"),
        (0.9999, "99.99 %"),
        (0.99999, "99.99 %"),
        (0.774, "77 %"),
        (0.1, "10 %"),
        (0.0321, "3.2 %"),
        (0.00099, "0.099 %"),
        (0.00001, "< 0.01 %"),
        (0.0, "0 %"),
    ],
)
def test_shares(share, shown):
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (80, "80 bytes"),
        (999, "999 bytes"),
        (4_096, "4.1 kB"),
        (46_080, "46 kB"),
        (276_480, "276 kB"),
        (999_999, "1.0 MB"),
        (1_382_400, "1.4 MB"),
        (9_960_000, "10 MB"),
        (2_500_000_000, "2.5 GB"),
        (3_000_000_000_000_000, "3,000 TB"),
    ],
)
def test_sizes(count, shown):
    assert size(count) == shown


STRAY = re.compile(
    r"(?<!\$)\.\d%"  # a format of Python's or d3's own, which write 77%
    r"|(?<!\.)\d%(?![\d{])"  # a number with its sign close by; not one of Plotly's %{x}
    r"|^percent$"  # Streamlit's column format
)


def strays(source: str) -> list[str]:
    """Return the texts of a Python source that would write a share in another way."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            # What is put in stands as a digit, so that a sign right after it is seen.
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values
            )
        elif isinstance(node, ast.keyword) and node.arg == "format":
            text = str(getattr(node.value, "value", ""))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value if node.value != "percent" else ""
        else:
            continue
        found += [text] if STRAY.search(text) else []
    return found


@pytest.mark.parametrize(
    "line",
    ['f"{x:.1%} of"', 'f"{100 * x}% of"', '".0%"', '"77% of it"', 'column(format="percent")'],
)
def test_a_stray_percent_is_found(line):
    assert strays(line)


@pytest.mark.parametrize("line", ['f"{percent(x)} of"', '"$.0%"', '"at %{x:.1f}%{y}"', '"%.2f %%"'])
def test_the_one_way_is_let_through(line):
    assert not strays(line)


def test_every_share_on_the_screen_is_written_in_one_way():
    files = [ROOT / "app.py", *(ROOT / "components").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    found = {str(path.relative_to(ROOT)): strays(path.read_text("utf-8")) for path in files}
    assert not {path: texts for path, texts in found.items() if texts}
    # In the scripts of the browser a percent sign is a length of the style, or a remainder.
    for path in (ROOT / "components").rglob("*.js"):
        for line in path.read_text("utf-8").splitlines():
            if re.search(r"[\d}] ?%", line):
                assert ".style." in line or "color-mix(" in line, f"{path.name}: {line}"
