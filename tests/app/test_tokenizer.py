"""The tokenizer page, without a browser: strip, card, closer looks, tasks."""

from __future__ import annotations

import pytest

from components.tokenizer.experiments import EXPERIMENTS
from tests.app.hands import prompt_of, set_prompt
from tests.app.test_frame import texts
from tests.tiny import tiny_tokenizer

LOOKS = (
    "How the pieces came to be",
    "What the model receives",
    "Tokens are not words",
    "Other vocabularies",
)


def test_the_counts_and_the_card_are_the_tokenizers(open_app):
    text = "The cat 🤗"
    at = open_app("tokenizer", prompt=text, token="1")
    tokens = tiny_tokenizer().encode(text)
    assert f"9 characters became {len(tokens)} tokens" in texts(at)
    assert "12 bytes in UTF-8" in texts(at)
    assert f"id **{tokens[1].id}**" in texts(at)
    assert tokens[1].data.hex(" ").upper() in texts(at)


def test_the_card_of_a_part_of_a_character_says_so(open_app):
    tokens = tiny_tokenizer().encode("🤗")
    at = open_app("tokenizer", prompt="🤗", token="1")
    assert f"needs {len(tokens)} tokens" in texts(at)
    assert "number 2 of them" in texts(at)


@pytest.mark.parametrize("look", LOOKS)
def test_each_closer_look_runs_on_an_empty_turn(open_app, look):
    at = open_app("tokenizer", prompt="a", look=look, chat="true")
    for prompt in ("", " ", "\n", "\x04"):
        set_prompt(at, prompt)
        assert not at.exception, (look, prompt)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("chat", ["false", "true"])
def test_each_closer_look_runs_on_awkward_text(open_app, look, chat):
    at = open_app("tokenizer", prompt="a", look=look, chat=chat)
    for prompt in (
        "<b>**x**</b> 世界 🤗\n\ta\x04",
        "👩‍👩‍👧‍👦\ufeff",
        "<|im_end|>",
        "a" * 700,
    ):
        set_prompt(at, prompt)
        assert not at.exception, (look, prompt)


def test_the_last_step_of_the_merges_is_the_tokens(open_app):
    at = open_app("tokenizer", prompt="The cat sat", token="1", look=LOOKS[0])
    (word,) = [word for word in tiny_tokenizer().merges("The cat sat") if word.start == 3]
    count = len(word.steps)
    assert f"Merge {count} of {count}" in texts(at)
    at.slider(key=f"merge_step_1_{count}").set_value(0).run()
    assert f"It starts as {len(word.symbols)} symbols" in texts(at)
    at.session_state["token"] = 0
    at.run()
    at.session_state["token"] = 1
    at.run()
    assert f"Merge {count} of {count}" in texts(at), "another choice brings the whole ladder back"


def test_the_page_opens_on_the_longest_word_and_leaves_the_token_of_other_pages(open_app):
    at = open_app("tokenizer", prompt="The unbelievable cat")
    assert "##### ·unbelievable: " in texts(at)
    assert "token" not in at.query_params


def test_one_of_a_kind_is_not_called_several(open_app):
    at = open_app("tokenizer", prompt="a")
    assert "1 character became 1 token" in texts(at)
    assert "1 byte in UTF-8, 1 different token" in texts(at)


def test_a_very_long_run_is_capped_and_said(open_app):
    at = open_app("tokenizer", prompt="a" * 2000, look=LOOKS[0])
    assert "2,000 symbols" in texts(at)
    assert "2,000 characters became" in texts(at)


def test_ten_thousand_characters_are_all_counted(open_app):
    text = ("The cat sat on 12 mats. " * 417)[:10_000]
    at = open_app("tokenizer", prompt="x")
    set_prompt(at, text)
    assert not at.exception
    assert f"10,000 characters became {len(tiny_tokenizer().encode(text)):,} tokens" in texts(at)


def test_the_template_is_unrolled_and_a_forged_turn_is_marked(open_app):
    at = open_app("tokenizer", prompt="Hi", look=LOOKS[1])
    count = len(tiny_tokenizer().chat([{"role": "user", "content": "Hi"}]))
    assert f"**{count} tokens" in texts(at)
    assert "Forged turn" in texts(at)


def test_control_token_text_of_the_user_is_shown_both_ways(open_app):
    at = open_app("tokenizer", prompt="a<|im_end|>b", look=LOOKS[1])
    said = texts(at)
    assert "Your prompt holds the name of a control token" in said
    assert "No control token" in said
    assert "1 control token " in said
    assert "Forged turn" not in said


# Those that compare vocabularies read others' files.
@pytest.mark.parametrize("title", [entry.title for entry in EXPERIMENTS if not entry.compare])
def test_each_experiment_speaks_of_its_own_numbers(open_app, title):
    at = open_app("tokenizer", look=LOOKS[2])
    at.pills(key="experiment").set_value(title).run()
    assert not at.exception
    before = prompt_of(at)
    at.button(key="use_experiment").click().run()
    assert not at.exception
    assert prompt_of(at) != before
    at.button(key="undo_change").click().run()
    assert prompt_of(at) == before


def test_a_link_with_the_old_name_of_an_experiment_opens_it(open_app):
    at = open_app("tokenizer", look=LOOKS[2], experiment="The, the, · the")
    assert "One word for us" in texts(at)
    assert not at.toast


def test_a_word_of_ones_own_is_cut(open_app):
    at = open_app("tokenizer", look=LOOKS[2], experiment="Your own name", own_word="Zoë <b>")
    assert len(tiny_tokenizer().encode("Zoë <b>")) > 1
    assert f"is {len(tiny_tokenizer().encode('Zoë <b>'))} tokens at the start" in texts(at)
    at.text_input(key="own_word").set_value(" ").run()
    assert "Type a name" in texts(at)


def test_other_vocabularies_are_counted_beside_the_models(open_app):
    at = open_app("tokenizer", prompt="In 2024", look=LOOKS[3])
    frame = at.dataframe[0].value
    assert len(frame) == 5
    assert frame["ids"].tolist()[1:] == [32_000, 100_277, 131_072, 200_019]
    assert frame["tokens"].tolist()[1:] == [6, 4, 6, 4]
    assert "An orange edge" in texts(at)
    assert "In·2024 is 4 to" in texts(at)


def open_tasks(at):
    at.session_state["view"] = "Try this"
    at.run()
    assert not at.exception
    return [
        caption.value for caption in at.caption if caption.value.startswith(("Done", "Not yet"))
    ]


def test_the_tasks_know_when_they_are_done(open_app):
    at = open_app("tokenizer", prompt="The cat")
    assert [said.startswith("Done") for said in open_tasks(at)] == [False, False, False]
    set_prompt(at, "s s 🤗")
    assert [said.startswith("Done") for said in open_tasks(at)][:2] == [True, True]
    set_prompt(at, "1234567890123")
    assert open_tasks(at)[2].startswith("Done")
