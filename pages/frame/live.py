"""This prompt on the running model: its ids, its trace, and what the strip says about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from components.kit.text import visible
from components.shell.sidebar import Request
from components.shell.stages import Facts
from engine.sampling import chain as sampling
from pages.frame.kept import keep, kept
from pages.frame.loading import model_in_use, wait_for_model
from pages.frame.operator import whole_number
from pages.frame.shared import shared

if TYPE_CHECKING:
    from engine.model.model import LanguageModel
    from engine.observe.edits import Edit
    from engine.overview.facts import HeadFact, Overview
    from engine.tokenizer.tokenizer import Token
    from engine.tracing.trace import Trace

CAP_VARIABLE, USUAL_CAP = "TOKEN_BY_TOKEN_CAP", 256

PROMPT_CAP = whole_number(CAP_VARIABLE, USUAL_CAP, "the cap is {} tokens")
"""Most tokens of a prompt on the traced pages."""
LONGEST_PROMPT = 50_000
"""Most characters of a prompt. To cut a million into tokens takes up to fifteen seconds, in which
everybody else waits."""


CHAIN = "chain"
"""The last sampling chain, as `pages.frame.kept` keeps it."""


@dataclass(frozen=True)
class Live:
    """One prompt, read by one model."""

    request: Request
    settings: sampling.SamplingSettings
    seed: int
    text: str
    """What the model receives: the prompt, or the chat template around it."""
    tokens: tuple[Token, ...]
    problem: str | None
    """Why this prompt can't be shown, or None."""
    dropped: tuple[str, ...]
    """Characters that the vocabulary has no bytes for, made visible."""
    refused: tuple[str, ...] = ()
    """What is wrong with the settings for this vocabulary; `settings` does without it."""

    @property
    def model(self) -> LanguageModel:
        """The model, from its loader: what a page keeps of itself must not keep a model alive."""
        return model_in_use(self.request.source)

    @property
    def ids(self) -> tuple[int, ...]:
        """The prompt's token ids."""
        return tuple(token.id for token in self.tokens)

    def trace(self, extra: tuple[int, ...] = (), edits: tuple[Edit, ...] = ()) -> Trace:
        """Return the hooked pass over the prompt and `extra` ids, from the cache if it is there."""
        return cached_trace(self.model.source, self.ids + extra, edits)

    def chain(
        self, settings: sampling.SamplingSettings, extra: tuple[int, ...] = ()
    ) -> list[sampling.Stage]:
        """Return every step of the chain after the prompt and `extra` ids, those off too."""
        return chain_after(self.model.source, self.ids, settings, extra)

    def overview(self, extra: tuple[int, ...], u: float) -> Overview:
        """Return the facts of the overview picture: the next token is drawn with `u`."""
        return cached_overview(
            self.model.source, self.ids, extra, self.request.chat, self.settings, u
        )


@shared
def cached_trace(source: str, ids: tuple[int, ...], edits: tuple[Edit, ...]) -> Trace:
    """Run one hooked pass, or return the one that was run for the same request."""
    from engine.tracing.trace import trace

    model = model_in_use(source)
    return trace(model, ids, edits=edits)


def chain_after(
    source: str,
    ids: tuple[int, ...],
    settings: sampling.SamplingSettings,
    extra: tuple[int, ...] = (),
) -> list[sampling.Stage]:
    """Run the sampling chain after a prompt and `extra` ids: the strip and the cards show it.

    It takes 2 ms and 2 MB, so the session keeps the last one for the parts of its page. Among what
    all share, a class's sliders would push out what took the model seconds.
    """
    request = (source, ids, settings, extra)
    stages: list[sampling.Stage] | None = kept(CHAIN, request)
    if stages is None:
        context, prompt_tokens = ids + extra, len(ids)
        logits = cached_trace(source, context, ()).logits
        stages = sampling.run_chain(
            logits, settings, context, prompt_tokens=prompt_tokens, include_off=True
        )
        keep(CHAIN, request, stages)
    return stages


@shared
def cached_overview(
    source: str,
    ids: tuple[int, ...],
    extra: tuple[int, ...],
    chat: bool,
    settings: sampling.SamplingSettings,
    u: float,
) -> Overview:
    """Reduce a pass and a draw to the facts of the picture."""
    from engine.overview.summary import summarise

    trace = cached_trace(source, ids + extra, ())
    head = cached_mattering_head(source, ids + extra)
    return summarise(trace.model, trace, settings, u, prompt_tokens=len(ids), chat=chat, head=head)


@shared
def cached_mattering_head(source: str, ids: tuple[int, ...]) -> HeadFact:
    """Return the head that the picture shows; to find it some passes of the upper layers run."""
    from engine.overview.heads import mattering_head

    return mattering_head(cached_trace(source, ids, ()))


@shared
def cached_tokens(source: str, prompt: str, chat: bool) -> tuple[str, tuple[Token, ...]]:
    """Return the text that the model receives and its tokens."""
    model = model_in_use(source)
    if not chat:
        return prompt, tuple(model.tokenizer.encode(prompt, add_bos=True))
    messages = [{"role": "user", "content": prompt}]
    return model.tokenizer.chat_text(messages), tuple(model.tokenizer.chat_tokens(messages))


def read_prompt(request: Request, settings: sampling.SamplingSettings, seed: int) -> Live:
    """Wait for the model, then cut the prompt into tokens and check it."""
    model = wait_for_model(request.source)
    settings, refused = usable_settings(settings, model.architecture.vocabulary)
    if len(request.prompt) > LONGEST_PROMPT:
        too_long = (
            f"The prompt has {len(request.prompt):,} characters; up to {LONGEST_PROMPT:,} are cut "
            "into tokens here. Shorten it. Nothing was cut: your text is still in the box."
        )
        return Live(request, settings, seed, request.prompt, (), too_long, (), refused)
    dropped = tuple(
        dict.fromkeys(
            visible(character) for character, _ in model.tokenizer.unrepresentable(request.prompt)
        )
    )
    text, tokens = cached_tokens(request.source, request.prompt, request.chat)
    problem = _problem(request, len(tokens))
    return Live(request, settings, seed, text, tokens, problem, dropped, refused)


def usable_settings(
    settings: sampling.SamplingSettings, vocabulary: int
) -> tuple[sampling.SamplingSettings, tuple[str, ...]]:
    """Return the settings without what this vocabulary can't do, and a sentence on that."""
    if not settings.bias:
        return settings, ()  # nothing else depends on the vocabulary
    try:
        sampling.final_probabilities(np.zeros(vocabulary, np.float32), settings)
    except sampling.SettingsError as error:
        known = tuple(pair for pair in settings.bias if pair[0] < vocabulary)
        fewer = known if len(known) < len(settings.bias) else ()
        kept, refused = usable_settings(replace(settings, logit_bias=fewer), vocabulary)
        return kept, (f"{error} It is left out.", *refused)
    return settings, ()


def _problem(request: Request, count: int) -> str | None:
    """Say why a prompt can't be traced, with the way out."""
    if not count or (request.chat and not request.prompt.strip()):
        return "The prompt is empty. Type a few words in the box above, or choose an example."
    if count > PROMPT_CAP:
        return (
            f"The prompt has {count:,} tokens; the pages that look inside the model take up to "
            f"{PROMPT_CAP}. Shorten it by about {count - PROMPT_CAP:,} tokens. Nothing was cut: "
            "your text is still in the box."
        )
    return None


WRITTEN = "written"
"""What the model has written after a prompt on the overview, as `pages.frame.kept` keeps it."""

HIDES = "hide_expected"
"""Of the session alone: whether the overview hides what the model expects, for a guess."""


def written(live: Live) -> tuple[int, ...]:
    """Return the ids written after this very prompt; none after the prompt or model changed."""
    ids: tuple[int, ...] = kept(WRITTEN, (live.model.source, live.ids), ())
    return ids


def facts(live: Live, extra: tuple[int, ...] = ()) -> Facts:
    """Return what the strip says about this prompt, and about the `extra` ids after it."""
    from engine.basics.distribution import top

    architecture = live.model.architecture
    best = top(live.trace(extra).logits, 1)
    return Facts(
        tokens=len(live.tokens) + len(extra),
        width=architecture.width,
        layers=architecture.layers,
        heads=architecture.heads,
        ff_width=architecture.ff_width,
        vocabulary=architecture.vocabulary,
        top_text=visible(live.model.tokenizer.bytes_of(int(best.ids[0])), limit=10),
        top_probability=float(best.probabilities[0]),
        survivors=live.chain(live.settings, extra)[-1].drawable,
    )
