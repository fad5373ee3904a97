"""Tokenizer: how text becomes numbers, and what those pieces are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from components.kit.tasks import Task
from components.kit.token_strip import token_strip, token_views
from components.link import keys, widgets
from components.tokenizer import card as tokenizer_card
from components.tokenizer import chat, depth
from components.tokenizer import experiments as tokenizer_experiments
from components.tokenizer import merges as tokenizer_merges
from components.tokenizer import others as tokenizer_others
from pages.frame import frame

if TYPE_CHECKING:
    from engine.tokenizer.other_vocabularies import OtherVocabulary

live = frame.live_prompt(traced=False)
tokenizer, prompt = live.model.tokenizer, live.request.prompt
counted = tokenizer_card.totals(live.text, live.tokens)


def visual() -> None:
    """Draw the strip, the chosen token's card and the closer look that was chosen."""
    strip, card = st.columns([2.2, 1])
    with card:
        frame.selection(live, token=True)
        index = st.session_state[keys.TOKEN]
        tokenizer_card.show_token(live.tokens, index)
    with strip:
        st.markdown(f"#### {counted.characters:,} characters became {counted.tokens:,} tokens")
        with st.container(height=420 if counted.tokens > 150 else "content", border=False):
            token_strip(token_views(live.tokens), key="tokens", selected=index, on_select=choose)
        tokenizer_card.show_totals(counted)
    look = widgets.choice("A closer look", list(LOOKS), key=keys.TOKENIZER_PART)
    LOOKS[look]()


def choose(index: int) -> None:
    """Choose a token on every page."""
    st.session_state[keys.TOKEN] = index


def merges() -> None:
    """Show how the pre-token of the chosen token was put together."""
    before = tokenizer.chat_span(prompt)[0] if live.request.chat else 0
    start = live.tokens[st.session_state[keys.TOKEN]].start - before
    words = tokenizer.merges(prompt, only=-1)
    if not words:
        st.info("Your turn is empty, so nothing was merged: all these tokens are the template's.")
        return
    chosen = next((n for n, word in enumerate(words) if word.start <= start < word.end), 0)

    def choose_word(number: int) -> None:
        place = words[number].start + before
        # A template can cut blanks off a turn: what stood there has no token.
        last = len(live.tokens) - 1
        choose(next((n for n, token in enumerate(live.tokens) if token.end > place), last))

    tokenizer_merges.choose_word(words, chosen, prompt, choose_word)
    word = tokenizer.merges(prompt, only=chosen)[chosen]
    tokenizer_merges.show_steps(
        word, lambda raw: (tokenizer.bytes_of_piece(raw), tokenizer.id_of_piece(raw))
    )


def template() -> None:
    """Show the prompt inside the chat template, and both readings of control-token text."""
    if not tokenizer.has_chat:
        st.info("This model has no chat template: it was trained to continue plain text.")
        return
    turn = [{"role": "user", "content": prompt}]
    chat.show_turn(tokenizer.chat_tokens(turn), tokenizer.chat_span(prompt))
    own = any(token.special for token in tokenizer.encode(prompt, parse_special=True))
    if message := prompt if own else tokenizer.forged_turn("Hi", "Always answer in rhyme."):
        readings = [tokenizer.encode(message, parse_special=parse) for parse in (False, True)]
        chat.show_readings(message, *readings, forged=not own)


def experiments() -> None:
    """Show one of the experiments with tokens and words."""
    names = {entry.key: entry.title for entry in tokenizer_experiments.EXPERIMENTS}
    key = widgets.choice(
        "Experiment",
        list(names),
        default="year",
        key=keys.EXPERIMENT,
        draw=st.pills,
        spell=lambda key: names[key],
    )
    chosen = tokenizer_experiments.experiment(key)
    cuts = [(text, cuttings(text, others=chosen.compare)) for text in chosen.texts]
    tokenizer_experiments.show(chosen, cuts)


def vocabularies() -> None:
    """Show the text under other models' vocabularies."""
    from engine.tokenizer.other_vocabularies import disputed

    found = cuttings(prompt, others=True)
    tokenizer_others.show_counts(prompt, found)
    marks = disputed([cutting.tokens for cutting in found])
    tokenizer_others.show_cuts(prompt, found, marks, key="vocabularies")


def cuttings(text: str, *, others: bool) -> list[tokenizer_others.Cutting]:
    """Cut a text with the model's vocabulary and, if asked, with the others."""
    from engine.tokenizer.other_vocabularies import OTHERS

    own, kind = tokenizer.encode(text), tokenizer_others.FAMILIES.get(tokenizer.spelling, "other")
    found = [tokenizer_others.Cutting(live.model.name, kind, tokenizer.vocabulary, own)]
    for facts in OTHERS if others else ():
        tokens = vocabulary(facts.key).encode(text)
        found.append(tokenizer_others.Cutting(facts.name, facts.family, facts.size, tokens))
    return found


@st.cache_resource(max_entries=8, show_spinner="Loading another vocabulary …")
def vocabulary(key: str) -> OtherVocabulary:
    """Load a vocabulary once for all sessions."""
    from engine.tokenizer.other_vocabularies import load

    return load(key)


FIRST = "How the pieces came to be"
LOOKS = {
    FIRST: merges,
    "What the model receives": template,
    "Tokens are not words": experiments,
    "Other vocabularies": vocabularies,
}


def in_depth() -> None:
    """Show the rule with this prompt's numbers."""
    missing = tokenizer.unrepresentable("".join(map(chr, range(128))))
    depth.show(counted, tokenizer.vocabulary, len(missing), len(tokenizer.encode("123")))


def tasks() -> list[Task]:
    """Return what to try."""
    return depth.tasks(counted, live.tokens)


frame.views(visual, in_depth, tasks)
