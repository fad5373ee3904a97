"""The stage list: unique names, chips with this prompt's facts, and the order of the work."""

from components.shell.stages import STAGES, Facts, following, sections, stage
from tests.sources import ROOT

FACTS = Facts(
    tokens=6,
    width=576,
    layers=30,
    heads=9,
    ff_width=1536,
    vocabulary=49152,
    top_text="·Paris",
    top_probability=0.77,
    survivors=49152,
)


def test_keys_urls_and_titles_are_unique():
    for field in ("key", "url", "title", "page"):
        values = [getattr(entry, field) for entry in STAGES]
        assert len(set(values)) == len(values)
    assert [entry.key for entry in STAGES if not (ROOT / entry.page).is_file()] == []


def test_chips_say_this_prompts_facts():
    said = {entry.key: entry.chip(FACTS) for entry in STAGES}
    assert said["tokenizer"] == "6 tokens"
    assert said["embedding"] == "576 numbers each"
    assert said["attention"] == "30 × 9 heads"
    assert said["lm_head"] == "·Paris 77 %"


def test_sections_follow_the_pipeline():
    assert list(sections()) == ["Overview", "Prompt", "Model", "Output", "Control"]


def test_after_the_last_stage_the_loop_begins_again():
    assert following(STAGES[-1].key) is STAGES[0]
    assert following("tokenizer") is stage("embedding")
