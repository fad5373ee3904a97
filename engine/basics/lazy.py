"""Names that a package offers, and imports only when somebody asks for one (PEP 562).

So `import engine` costs nothing, and `engine.load_model` brings in torch at its first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package.

    Args:
        package: The package's own name.
        homes: By name, the module that defines it, or the package that it is a module of.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        return (
            getattr(home, name) if hasattr(home, name) else import_module(f"{homes[name]}.{name}")
        )

    return load, lambda: sorted(homes)
