"""The pipeline strip's payload and how it comes to the page."""

from streamlit.testing.v1 import AppTest

from components.shell.pipeline_strip import StageChip, payload

CHIPS = [
    StageChip("tokenizer", "Tokenizer", "6 tokens", "tokenizer"),
    StageChip("lm_head", "LM head", "top: <b>·Paris</b> 77 %", current=True),
]


def test_payload_keeps_text_literal_and_marks_the_current_stage():
    assert payload(CHIPS, presenting=False, narrow=True, shared=["prompt"]) == {
        "presenting": False,
        "narrow": True,
        "shared": ["prompt"],
        "fresh": [],
        "chips": [
            {
                "key": "tokenizer",
                "label": "Tokenizer",
                "fact": "6 tokens",
                "url": "tokenizer",
                "current": False,
                "guard": False,
                "help": "",
            },
            {
                "key": "lm_head",
                "label": "LM head",
                "fact": "top: <b>·Paris</b> 77 %",
                "url": "",
                "current": True,
                "guard": False,
                "help": "",
            },
        ],
    }


def test_strip_is_drawn_and_nothing_is_asked_for_before_a_click():
    def script():
        import streamlit as st

        from components.shell.pipeline_strip import StageChip, pipeline_strip

        chips = [StageChip("a", "A", "1"), StageChip("b", "B", "2", current=True)]
        event = pipeline_strip(chips, presenting=False, narrow=False)
        st.text(f"{event.present} {event.words} {event.narrow}")

    at = AppTest.from_function(script, default_timeout=60).run()

    assert not at.exception
    assert at.text[0].value == "None False False"
