"""Every result of the engine says what it is in one line, and tables have the right cells."""

import importlib
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import pytest

from engine.basics.results import Result, Table
from engine.interpret.lens import LensGrid
from engine.sampling.settings import SamplingSettings
from tests.sources import sources

NO_RESULTS = {
    "engine.observe.edits",  # short values that people write themselves
    "engine.observe.recording",
    "engine.classroom.room",
    "engine.network.decoder",
    "engine.network.sites",
    "engine.tokenizer.chat",
    "engine.tokenizer.spelling",
    "engine.model.sources",
}
"""Modules whose dataclasses stay inside the engine or are given to it."""
INTERNAL = {"BpeTable", "Recipe"}


def public_dataclasses():
    for source in sources("engine"):
        module = importlib.import_module(source.module)
        for name, value in sorted(vars(module).items()):
            own = getattr(value, "__module__", "") == source.module and not name.startswith("_")
            if own and isinstance(value, type) and is_dataclass(value):
                yield value


class Large:
    """Something that must never be printed."""

    def __repr__(self):
        return "line\n" * 1000


def awkward(annotation: str):
    """Return the largest value that a field of this type could hold."""
    if any(word in annotation for word in ("Array", "Ids", "Flags", "NDArray")):
        return np.zeros((30, 9, 64, 64), np.float32)
    if any(word in annotation for word in ("tuple", "Sequence", "list", "set", "Mapping")):
        return tuple(range(100_000, 101_000))
    if annotation.startswith(("str", "Literal")):
        return "one line\nand another " * 100
    if annotation.startswith("bytes"):
        return b"\x00\n" * 500
    return {"float": 1 / 3, "int": 123_456_789, "bool": True}.get(annotation, Large())


def test_every_result_is_one_short_line():
    seen = []
    for kind in public_dataclasses():
        if kind.__module__ in NO_RESULTS or kind.__name__ in INTERNAL:
            continue
        assert issubclass(kind, Result), f"{kind.__module__}.{kind.__name__} prints all it holds"
        if "__repr__" in vars(kind) and vars(kind)["__repr__"] is not Result.__repr__:
            continue  # a line of its own, tested where it is made
        result = object.__new__(kind)
        for field in fields(kind):
            object.__setattr__(result, field.name, awkward(str(field.type)))
        text = repr(result)
        assert text.startswith(f"{kind.__name__}(")
        assert text.endswith(")")
        assert "\n" not in text
        assert len(text) <= 120, text
        seen.append(kind)
    assert len(seen) > 60


def test_every_table_names_its_fields():
    for kind in public_dataclasses():
        if issubclass(kind, Table) and kind.to_pandas is Table.to_pandas:
            names = {field.name for field in fields(kind)}
            assert set(kind.columns) <= names, kind
            assert kind.columns or kind.rows in names, kind


def test_a_default_is_left_out():
    assert repr(SamplingSettings()) == "SamplingSettings()"
    assert repr(SamplingSettings(top_p=0.9, top_k=5)) == "SamplingSettings(top_k=5, top_p=0.9)"


@dataclass(frozen=True, eq=False)
class Places(Table):
    columns = ("ids", "points")
    axes = ("place",)

    ids: np.ndarray
    points: np.ndarray
    explained: np.ndarray


def test_a_table_of_one_axis_has_a_row_for_each_entry():
    places = Places(np.array([7, 8, 9]), np.arange(6).reshape(3, 2), np.ones(3))
    table = places.to_pandas()
    assert list(table.columns) == ["ids", "points_0", "points_1"]
    assert table.index.name == "place"
    assert list(table.loc[1]) == [8, 2, 3]
    assert repr(places) == "Places(ids[3], points[3, 2], explained[3])"
    assert "<td>9</td>" in places._repr_html_()


def test_a_table_of_two_axes_has_a_row_for_each_cell():
    ids = np.arange(6).reshape(3, 2)
    table = LensGrid((4, 9), ids, ids / 10, ids / 100, ids / 1000).to_pandas()
    assert table.index.names == ["layer", "positions"]
    assert len(table) == 6
    assert table.loc[(2, 9), "ids"] == 5
    assert table.loc[(1, 4), "probabilities"] == pytest.approx(0.2)
