"""The tree of answers: what two branches share, and what each keeps of its own."""

import pytest

from engine.basics.errors import EngineError
from engine.generation.branches import Setup, Tree, Written
from engine.generation.token_step import TokenStep
from engine.sampling.chain import SamplingSettings

SETUP = Setup(SamplingSettings(), seed=0, stop=(), budget=5)


def written(token_id, setup=SETUP):
    step = TokenStep(
        index=0,
        id=token_id,
        data=b"x",
        text="x",
        probability=0.5,
        raw_probability=0.5,
        alternatives=(),
        entropy_bits=1.0,
        u=0.5,
        forced=False,
        milliseconds=1.0,
        cache_tokens=1,
        cache_bytes=8,
        stop_reason=None,
    )
    return Written(step, setup)


def grown(tree, parent, at, ids, setup=SETUP):
    tree = tree.with_branch(parent, at)
    for token_id in ids:
        tree = tree.with_token(len(tree.branches) - 1, written(token_id, setup))
    return tree


def test_a_branch_shares_the_beginning_and_changes_nothing_else():
    first = grown(Tree(), None, 0, [1, 2, 3, 4])
    second = grown(first, 0, 2, [9, 8])
    assert first.ids(0) == (1, 2, 3, 4)
    assert second.ids(0) == (1, 2, 3, 4)
    assert second.ids(1) == (1, 2, 9, 8)
    assert second.children(0) == (1,)
    assert len(first.branches) == 1


def test_a_branch_of_a_branch_belongs_to_whoever_wrote_the_shared_part():
    tree = grown(Tree(), None, 0, [1, 2, 3, 4])
    tree = grown(tree, 0, 2, [9, 8, 7])
    early, late, start = (
        grown(tree, 1, 1, [5]),
        grown(tree, 1, 4, [5]),
        grown(tree, 1, 0, [5]),
    )
    assert (early.branches[2].parent, early.ids(2)) == (0, (1, 5))
    assert (late.branches[2].parent, late.ids(2)) == (1, (1, 2, 9, 8, 5))
    assert (start.branches[2].parent, start.ids(2)) == (None, (5,))


def test_a_parent_that_grows_later_does_not_grow_its_branches():
    tree = grown(Tree(), None, 0, [1, 2])
    tree = grown(tree, 0, 2, [3])
    tree = tree.with_token(0, written(7))
    assert tree.ids(0) == (1, 2, 7)
    assert tree.ids(1) == (1, 2, 3)


def test_each_token_keeps_the_setup_it_was_written_with():
    cold = Setup(SamplingSettings(temperature=0), seed=3, stop=(".",), budget=2)
    tree = grown(Tree(), None, 0, [1, 2])
    tree = tree.with_token(0, written(3, cold))
    assert [part.setup for part in tree.path(0)] == [SETUP, SETUP, cold]


@pytest.mark.parametrize("at", [-1, 3])
def test_a_place_that_is_not_there_is_named(at):
    with pytest.raises(EngineError, match=f"has 2 tokens, so it can't part after {at}"):
        grown(Tree(), None, 0, [1, 2]).with_branch(0, at)
