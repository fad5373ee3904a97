"""Keep the README's tables equal to the code: the pages, and the map of the rooms.

`python -m scripts.readme_tables` says what is out of date; with `--write` it puts it right. A test
runs the first.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from components.shell.stages import STAGES

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


def pages_table() -> str:
    """Return the pages as a table: section, page, question, and the file that holds it."""
    rows = ["| section | page | the question that it answers | script |", "|---|---|---|---|"]
    section = ""
    for stage in STAGES:
        shown = stage.section if stage.section != section else ""
        section = stage.section
        link = f"[{stage.page}]({stage.page})"
        rows.append(f"| {shown} | {stage.title} | {_cell(stage.question)} | {link} |")
    return "\n".join(rows)


def rooms_table() -> str:
    """Return the map of the rooms: engine's packages, and those that only another layer has.

    A stage's folder has the same name in each layer, so it stands here once.
    """
    shown = [path.parent.relative_to(ROOT).as_posix() for path in _packages("engine")]
    stages = {name.split("/")[-1] for name in shown}
    for layer in ("components", "pages"):
        names = [path.parent.relative_to(ROOT).as_posix() for path in _packages(layer)]
        shown += [name for name in names if name.split("/")[-1] not in stages]
    shown += ["scripts", "benchmarks"]
    rows = ["| room | what it holds |", "|---|---|"]
    rows += [
        f"| [{name}/]({name}) | {_cell(_summary(ROOT / name / '__init__.py'))} |" for name in shown
    ]
    return "\n".join(rows)


def _packages(layer: str) -> list[Path]:
    """Return the packages inside a layer, without the layer itself."""
    return sorted(path for path in (ROOT / layer).rglob("__init__.py") if path.parent.name != layer)


def _summary(path: Path) -> str:
    """Return the first paragraph of a module's docstring, as one line."""
    documentation = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(documentation.split("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def filled(readme: str) -> str:
    """Return the README's text with its tables as they should be.

    Raises:
        ValueError: a table's markers are missing.
    """
    return _put(_put(readme, "pages", pages_table()), "rooms", rooms_table())


def _put(readme: str, name: str, table: str) -> str:
    """Put a table between its two markers."""
    opening, closing = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = readme.partition(opening)
    _, also_found, after = rest.partition(closing)
    if not (found and also_found):
        raise ValueError(f"README.md has no place marked {opening.strip()} … {closing}")
    return f"{before}{opening}{table}\n{closing}{after}"


def main(arguments: list[str]) -> int:
    """Check the README, or write it."""
    before = README.read_text(encoding="utf-8")
    after = filled(before)
    if before == after:
        print("README.md is up to date.")
        return 0
    if "--write" in arguments:
        README.write_text(after, encoding="utf-8")
        print("README.md is rewritten.")
        return 0
    print("README.md is out of date: run `make readme`.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
