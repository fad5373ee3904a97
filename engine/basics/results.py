"""What every result of the engine can do: say what it is in one line, and become a table.

A result is a frozen dataclass. `Result` gives it a short `repr`, in which an array stands with its
shape and not with its numbers. `Table` is a result that becomes a pandas DataFrame, whose first
rows a notebook shows. `to_pandas` makes a table of several results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from engine.basics.errors import EngineError

if TYPE_CHECKING:
    import pandas as pd

WIDEST_REPR = 110
"""Characters of a repr; what comes after them is left out."""

WIDEST_TEXT = 32
"""Characters of a text inside a repr."""

SHOWN_ROWS = 12
"""Rows that a notebook shows of a table."""


class Result:
    """A frozen dataclass with a `repr` of one line.

    Numbers and short texts are shown, arrays and long collections with their shape, and fields that
    are at their default or kept out of `repr` are left out: `Neighbours(ids[10], cosines[10])`.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keep the short repr: `@dataclass` writes its own into a class that has none itself."""
        super().__init_subclass__(**kwargs)
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        shown = [
            _shown(field.name, getattr(self, field.name))
            for field in fields(self)  # type: ignore[arg-type]
            if field.repr and not _is_default(field, getattr(self, field.name))
        ]
        return _cut(f"{type(self).__name__}({', '.join(shown)})", WIDEST_REPR, "…)")


class Table(Result):
    """A result that becomes a pandas DataFrame, and is shown as one in a notebook.

    Each class says which of its fields are the table, in one of two ways: `columns` names arrays
    of one shape, with a row for each of their entries, or `rows` names a tuple of results.
    """

    columns: ClassVar[tuple[str, ...]] = ()
    """Fields that are columns: arrays of one shape. Of an array with one axis more the entries
    along the last one become columns of their own, `points_0` and `points_1`."""
    axes: ClassVar[tuple[str, ...]] = ("",)
    """The names of the columns' axes, which name the index. An axis that is called like a field is
    labelled with that field's values, any other is counted from 0."""
    rows: ClassVar[str] = ""
    """The field that holds one result for each row, where there are no columns."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the table that `columns`, or `rows`, describe."""
        if self.rows:
            return to_pandas(getattr(self, self.rows))
        # Imported here: pandas takes a third of a second, and few who use the engine need it.
        import numpy as np
        import pandas as pd

        arrays = {name: np.asarray(getattr(self, name)) for name in self.columns}
        shape = next(iter(arrays.values())).shape[: len(self.axes)]
        labels = [
            np.asarray(getattr(self, axis)) if hasattr(self, axis) else np.arange(size)
            for axis, size in zip(self.axes, shape, strict=True)
        ]
        columns: dict[str, Any] = {}
        for name, array in arrays.items():
            if array.ndim == len(shape):
                columns[name] = array.reshape(-1)
            else:
                for i in range(array.shape[-1]):
                    columns[f"{name}_{i}"] = array[..., i].reshape(-1)
        if len(labels) == 1:
            return pd.DataFrame(columns, index=pd.Index(labels[0], name=self.axes[0] or None))
        index = pd.MultiIndex.from_product(labels, names=self.axes)
        return pd.DataFrame(columns, index=index)

    def _repr_html_(self) -> str:
        """Return the first rows as HTML, for a notebook. Texts are escaped."""
        return first_rows(self.to_pandas())


def first_rows(frame: pd.DataFrame) -> str:
    """Return the first rows of a table as HTML with every text escaped, and how many there are."""
    html = str(frame.head(SHOWN_ROWS).to_html(escape=True, float_format="{:.4g}".format))
    hidden = len(frame) - SHOWN_ROWS
    return html if hidden <= 0 else f"{html}<p>{hidden} more rows: to_pandas()</p>"


def to_pandas(results: Iterable[Any]) -> pd.DataFrame:
    """Return a table of several results of one kind, one row each, with their plain values.

    Arrays and collections are left out: `to_pandas(model.generate(…))` has a row for each token.

    Raises:
        EngineError: Something among them is no dataclass.
    """
    import pandas as pd

    rows = []
    for result in results:
        if not is_dataclass(result):
            raise EngineError(f"A table is made of results, but this is {type(result).__name__}.")
        values = {field.name: getattr(result, field.name) for field in fields(result)}
        plain = str | bytes | bool | int | float | None
        rows.append({name: value for name, value in values.items() if isinstance(value, plain)})
    return pd.DataFrame(rows)


def _is_default(field: Field[Any], value: Any) -> bool:
    """Say whether a plain value is the one that its field has anyway."""
    if field.default is MISSING or hasattr(value, "shape"):
        return False
    return bool(type(value) is type(field.default) and value == field.default)


def _shown(name: str, value: Any) -> str:
    """Return one field: an array with its shape, a short value as it is, a long one with its size.

    Nothing large is ever printed to be cut. Imports no numpy: settings are results too.
    """
    if hasattr(value, "shape"):
        return f"{name}{list(value.shape)}"
    if isinstance(value, bool | int | None):
        return f"{name}={value}"
    if isinstance(value, float):
        return f"{name}={value:.4g}"
    if isinstance(value, str | bytes):
        return f"{name}={_cut(repr(value[: WIDEST_TEXT + 1]), WIDEST_TEXT, '…')}"
    if isinstance(value, Collection):
        return f"{name}[{len(value)}]"
    return f"{name}={type(value).__name__}"


def _cut(text: str, most: int, end: str) -> str:
    """Return a text of at most `most` characters; where it was longer it ends in `end`."""
    return text if len(text) <= most else text[: most - len(end)] + end
