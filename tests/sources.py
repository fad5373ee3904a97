"""Reads the project's own source, for the tests that hold it to its rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("engine", "components", "pages")


@dataclass(frozen=True, eq=False)
class Source:
    """One Python file of the project."""

    path: Path

    @property
    def name(self) -> str:
        """Path from the project's root, as in messages."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def layer(self) -> str:
        """`app`, `engine`, `components`, `pages`, …: the first part of the dotted name."""
        return self.name.removesuffix(".py").split("/")[0]

    @property
    def module(self) -> str:
        """The dotted name."""
        return self.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def is_page_script(self) -> bool:
        """Whether this is the script that Streamlit runs for one page."""
        return self.layer == "pages" and self.path.name == "page.py"

    @cached_property
    def text(self) -> str:
        """The source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text, self.name)

    def calls(self) -> Iterator[ast.Call]:
        """Yield every call."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))

    def imports(self) -> Iterator[tuple[str, int]]:
        """Yield the dotted name and line of every import, wherever in the file it stands."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                assert node.level == 0, f"{self.name}:{node.lineno}: relative import"
                # `from pages import shared` names a module too, so the imported name is kept.
                yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)

    def docstrings(self) -> set[ast.Constant]:
        """Return the strings that stand as statements: docstrings, of attributes too."""
        return {
            node.value
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }


def sources(*layers: str) -> list[Source]:
    """Return the Python files of the layers (folders, or `app` for app.py)."""
    return [source for layer in layers for source in _sources_of(layer)]


@cache
def _sources_of(layer: str) -> tuple[Source, ...]:
    """Return the files of one layer, each read and parsed once for all tests."""
    paths = [ROOT / "app.py"] if layer == "app" else sorted((ROOT / layer).rglob("*.py"))
    return tuple(Source(path) for path in paths)


def assets() -> list[Path]:
    """Return the scripts and style sheets of the components."""
    return sorted(
        path for path in (ROOT / "components").rglob("*") if path.suffix in {".js", ".css", ".html"}
    )
