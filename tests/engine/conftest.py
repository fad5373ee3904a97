"""Fixtures of the engine tier."""

from dataclasses import replace

import pytest

from tests.engine.runs import END, Scripted, ids_of


@pytest.fixture
def scripted(tiny_model):
    """A function that makes a model which answers "x" with the given texts or ids."""
    model = tiny_model("llama")

    def make(*parts):
        tokens = []
        for part in parts:
            tokens += [part] if isinstance(part, int) else ids_of(model, part)
        prompt = ids_of(model, "x")
        return replace(model, network=Scripted(model, [*tokens, *[END] * 50], len(prompt))), prompt

    return make
