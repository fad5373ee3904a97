"""Keep the documents' tables equal to the code: pages and rooms, and the guide's examples.

`python -m scripts.readme_tables` says what is out of date; with `--write` it puts it right. A test
runs the first.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from components.shell.example_prompts import PRESETS
from components.shell.stages import STAGES

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
GUIDE = ROOT / "docs" / "teachers-guide.md"


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


def examples_table() -> str:
    """Return the example prompts with what to see in each."""
    rows = ["| example | prompt | what to see |", "|---|---|---|"]
    for preset in PRESETS:
        how = "As a chat turn. " if preset.chat else ""
        rows.append(f"| {preset.name} | {preset.prompt} | {how}{_cell(preset.see)} |")
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


def filled(path: Path) -> str:
    """Return a document's text with its tables as they should be.

    Raises:
        ValueError: a table's markers are missing.
    """
    text = path.read_text(encoding="utf-8")
    for name, table in DOCUMENTS[path].items():
        text = _put(path, text, name, table())
    return text


def _put(path: Path, text: str, name: str, table: str) -> str:
    """Put a table between its two markers."""
    opening, closing = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = text.partition(opening)
    _, also_found, after = rest.partition(closing)
    if not (found and also_found):
        raise ValueError(f"{path.name} has no place marked {opening.strip()} … {closing}")
    return f"{before}{opening}{table}\n{closing}{after}"


DOCUMENTS: Mapping[Path, Mapping[str, Callable[[], str]]] = {
    README: {"pages": pages_table, "rooms": rooms_table},
    GUIDE: {"examples": examples_table},
}
"""The documents with tables, and how each table is made."""


def main(arguments: list[str]) -> int:
    """Check the documents, or write them."""
    old = [path for path in DOCUMENTS if path.read_text(encoding="utf-8") != filled(path)]
    for path in old:
        if "--write" in arguments:
            path.write_text(filled(path), encoding="utf-8")
            print(f"{path.name} is rewritten.")
        else:
            print(f"{path.name} is out of date: run `make readme`.", file=sys.stderr)
    return 1 if old and "--write" not in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
