"""What a person does and reads on a page of AppTest, where a component of our own stands."""

from __future__ import annotations

import html
import re

from streamlit.testing.v1 import AppTest

from components.link import keys


def set_prompt(at: AppTest, text: str) -> AppTest:
    """Apply a prompt, as the box on top does, and run the page."""
    at.session_state[keys.PROMPT] = text
    return at.run()


def prompt_of(at: AppTest) -> str:
    """Return the prompt that the page works with."""
    return str(at.session_state[keys.PROMPT])


def html_of(at: AppTest) -> str:
    """Return all that stands on the page as HTML, without its tags."""
    bodies = "\n".join(_without_words(element.proto.body) for element in at.get("html"))
    return html.unescape(re.sub(r"<[^>]+>", "\n", bodies))


def _without_words(body: str) -> str:
    """Take the underlines of the glossary and the style sheets out of HTML."""
    body = re.sub(r"<style>.*?</style>", "", body, flags=re.DOTALL)
    return re.sub(r'<span class="glossary-word"[^>]*>([^<]*)</span>', r"\1", body)


def question_of(at: AppTest) -> str:
    """Return the page's heading."""
    found = re.search(
        r"<h1[^>]*>(.*?)</h1>",
        "".join(_without_words(element.proto.body) for element in at.get("html")),
    )
    return html.unescape(found.group(1)) if found else ""
