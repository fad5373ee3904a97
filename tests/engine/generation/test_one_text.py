"""An answer of several runs has the text that one run without a break would have written."""

import json
from dataclasses import replace

import pytest

from engine.generation.branches import Setup, Tree, Written
from engine.generation.export import rows
from engine.generation.releases import one_text, releases_of
from engine.generation.server_events import server_events
from engine.sampling.chain import SamplingSettings
from tests.engine.runs import END, GREEDY, ids_of, text_of
from tests.engine.runs import run as run_on


def run(model, prompt, **options):
    """Run a scripted model, which counts what it reads, from the start of its script."""
    model.network.read = 0
    return run_on(model, prompt, **options)


def in_runs(model, prompt, budgets, stops):
    """Return an answer that is written in several runs, each going on where the last one ended."""
    answer = ()
    for budget, stop in zip(budgets, stops, strict=True):
        setup = Setup(GREEDY, 0, tuple(stop), budget)
        before = [part.step.id for part in answer]
        steps = run(model, prompt, max_new_tokens=budget, stop=stop, written=before)
        answer += tuple(Written(step, setup) for step in steps)
    return one_text(answer, model.tokenizer, model.stop_ids)


def texts(answer, model):
    """Return the text as the steps, the export, the events and the picture have it."""
    steps = [part.step for part in answer]
    wires = [e.wire.removeprefix("data: ") for e in server_events(steps, model="m", chat=False)]
    sent = [json.loads(wire)["choices"][0]["text"] for wire in wires if "[DONE]" not in wire]
    log, ending = releases_of(answer, model.tokenizer, model.stop_ids)
    return {
        text_of(steps),
        "".join(row["text"] for row in rows(answer, model.tokenizer.piece_of)),
        "".join(sent),
        "".join(release.shown for release in log) + ending.shown,
    }


@pytest.mark.parametrize("cut", range(1, 8))
@pytest.mark.parametrize(
    ("parts", "stop"),
    [
        (("x <", "b", "> ", "y"), ["</b>"]),
        (("one", ".", " two"), [". tw!"]),
        (("🎉 yes",), []),
        (("é and 日本",), ["\ufffd!"]),
        (("aab", "aab"), ["aabc", "aac"]),
        ((" end", " of", " it"), ["end of"]),
        (("x", "E", "N", "D", "y"), ["END"]),
        (("x", "EN", "D", "y"), ["D", "ND"]),
        (("a", "\n", "\n", "b"), ["\n\n"]),
    ],
)
def test_two_runs_have_the_text_of_one(scripted, parts, stop, cut):
    model, prompt = scripted(*parts)
    whole = run(model, prompt, stop=stop, max_new_tokens=30)
    first = run(model, prompt, stop=stop, max_new_tokens=cut)
    if first[-1].stop_reason != "token budget":
        return
    answer = in_runs(model, prompt, (cut, 30), (stop, stop))
    assert [part.step.id for part in answer] == [step.id for step in whole]
    assert texts(answer, model) == {text_of(whole)}
    assert [part.step.text for part in answer] == [step.text for step in whole]
    assert answer[-1].step.stop_reason == whole[-1].stop_reason


@pytest.mark.parametrize(
    ("parts", "budgets", "stops", "text"),
    [
        (("x", " <", "b", ">"), (2, 9), (["</b>"], ["</b>"]), "x <b>"),
        (("x", " <", "b", ">"), (2, 9), (["</b>"], []), "x <b>"),  # the stop string was taken away
        (("x", " <", "b", ">"), (2, 9), ([], ["<b>"]), "x "),  # it came with the second run
        (("x", " <", "b", ">"), (2, 9), (["<q"], ["<b>"]), "x "),
        (("a", "E", "N", "D", "b"), (4, 9), ([], ["END"]), "aENDb"),  # was there before it
        (("a", "E", "N", "D", "b"), (1, 1, 1, 9), (["END"],) * 4, "a"),
        (("a", "E", "N", "o"), (2, 1, 9), (["END"],) * 3, "aENo"),
        (("🎉", "!"), (1, 1, 1, 9), ([],) * 4, "🎉!"),
    ],
)
def test_runs_with_other_stop_strings(scripted, parts, budgets, stops, text):
    model, prompt = scripted(*parts)
    assert texts(in_runs(model, prompt, budgets, stops), model) == {text}


def test_between_two_runs_what_is_held_back_is_the_end(scripted):
    """The first run alone shows everything that it wrote, as a client would get it."""
    model, prompt = scripted("one", ".", " two")
    count = len(ids_of(model, "one")) + 1
    assert texts(in_runs(model, prompt, (count,), ([". tw!"],)), model) == {"one."}


def test_a_branch_begins_with_what_the_run_before_it_held_back(scripted):
    model, prompt = scripted("x", "E", "N", "o")
    one = Setup(SamplingSettings(temperature=0), 0, ("END",), 9)
    other = replace(one, stop=())
    steps = run(model, prompt, stop=one.stop)
    tree = Tree().with_branch(None, 0)
    for step in steps:
        tree = tree.with_token(0, Written(step, one))
    tree = tree.with_branch(0, 3)
    forced = ids_of(model, "a")
    written = [step.id for step in steps[:3]]
    for step in run(model, prompt, written=written, forced=forced, max_new_tokens=1):
        tree = tree.with_token(1, Written(step, other))
    answer = one_text(tree.path(1), model.tokenizer, model.stop_ids)
    assert texts(answer, model) == {"xENa"}
    assert texts(tree.path(0), model) == {"xENo"}


@pytest.mark.parametrize(
    ("parts", "stop", "text"),
    [
        (("a",), "\ufffd", "a"),
        (("ab",), "b\ufffd", "a"),
        (("abc",), "c\ufffd!", "abc\ufffd"),  # begun, and never complete
    ],
)
@pytest.mark.parametrize("end", [True, False])
def test_a_stop_string_of_the_stand_in_that_cuts_is_the_reason(scripted, parts, stop, text, end):
    half = ids_of(scripted()[0], "😀")[:2]
    model, prompt = scripted(*parts, *half)
    budget = 20 if end else len(ids_of(model, *parts)) + 2
    steps = run(model, prompt, stop=[stop], max_new_tokens=budget)
    cuts = text != "abc\ufffd"
    otherwise = "end token" if end else "token budget"
    assert steps[-1].stop_reason == ("stop string" if cuts else otherwise)
    assert (steps[-1].id == END) == end
    setup = Setup(GREEDY, 0, (stop,), budget)
    answer = tuple(Written(step, setup) for step in steps)
    assert texts(answer, model) == {text}
    log, _ = releases_of(answer, model.tokenizer, model.stop_ids)
    assert log[-1].found == (stop if cuts else None)
