"""The facts that the sharpness of a model is measured on."""

from engine.sampling.sharpness import load_facts


def test_there_are_enough_facts_and_each_is_well_formed():
    facts = load_facts()
    assert len(facts) >= 60
    assert len({fact.prompt for fact in facts}) == len(facts)
    for fact in facts:
        assert fact.prompt == fact.prompt.strip()
        assert fact.answer.strip()
        # A word begins with a space; only a number goes on where its first digits stand.
        assert fact.answer.startswith(" ") or fact.prompt[-1].isdigit()
