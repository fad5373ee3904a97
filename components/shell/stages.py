"""The stages of the pipeline, registered once.

Navigation, the pipeline strip, the next-stage links, the README's table and the tests all read
`STAGES`. A stage's `key` is also the name of its folder in every layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from components.kit.numbers import percent
from components.kit.text import counted


@dataclass(frozen=True)
class Facts:
    """What the strip says about this prompt, in plain values."""

    tokens: int
    """Tokens of the prompt, the chat template's included."""
    width: int
    """Numbers in one token's vector."""
    layers: int
    heads: int
    """Query heads in one layer."""
    ff_width: int
    """Neurons in one feed-forward block."""
    vocabulary: int
    top_text: str
    """The most probable next token, made visible."""
    top_probability: float
    survivors: int
    """Tokens that the sampling settings leave to draw from."""


@dataclass(frozen=True)
class Stage:
    """One stage: a page, a chip of the strip, and a folder of that name in each layer."""

    key: str
    title: str
    question: str
    answer: str
    section: str
    icon: str
    chip: Callable[[Facts], str]
    """This prompt's own fact for the strip."""
    tasks: int = 3
    """How many tasks its page has under “Try this”."""
    short: str = ""
    """The title in one or two words, for the strip; empty where the title is that short."""
    settings_note: str = ""
    """Where the page does not use the sampling settings: what they change here, for the sidebar."""

    @property
    def page(self) -> str:
        """Path of the page script, from the project's root."""
        return f"pages/{self.key}/page.py"

    @property
    def url(self) -> str:
        """Path of the page in the browser's address; the overview is at the root."""
        paths = {"overview": "", "generation": "generate"}
        return paths.get(self.key, self.key.replace("_", "-"))


_BEFORE_SAMPLING = (
    "These settings count from the sampling page on; here they change nothing but the number in "
    "the strip."
)

STAGES: tuple[Stage, ...] = (
    Stage(
        key="overview",
        title="The whole pipeline",
        question="What happens, in order, to this prompt?",
        answer=(
            "Cut into tokens, refined, scored: one token is drawn, appended, and all runs again."
        ),
        section="Overview",
        icon=":material/route:",
        chip=lambda facts: "text in, text out",
        tasks=4,
        short="Pipeline",
    ),
    Stage(
        key="tokenizer",
        title="Tokenizer",
        question="How does text become numbers?",
        answer="It is cut into known pieces (tokens), and each piece has a fixed number, its id.",
        section="Prompt",
        icon=":material/content_cut:",
        chip=lambda facts: counted(facts.tokens, "token"),
        settings_note=_BEFORE_SAMPLING,
    ),
    Stage(
        key="embedding",
        title="Embedding and position",
        question="How do numbers become vectors, and what keeps order?",
        answer=(
            "Each id picks a row of a learned table (embedding); positions bring in the order."
        ),
        section="Prompt",
        icon=":material/grid_on:",
        chip=lambda facts: f"{facts.width:,} numbers each",
        short="Embedding",
        settings_note=_BEFORE_SAMPLING,
    ),
    Stage(
        key="attention",
        title="Attention",
        question="Which tokens does each token read, and what is kept?",
        answer=(
            "Every token looks back at itself and the tokens before it, many times at once (heads),"
            " and takes over what fits; what that needs is kept (the KV cache)."
        ),
        section="Model",
        icon=":material/visibility:",
        chip=lambda facts: f"{facts.layers} × {facts.heads} heads",
        tasks=4,
        settings_note=_BEFORE_SAMPLING,
    ),
    Stage(
        key="feed_forward",
        title="Feed-forward and residual stream",
        question="What does a layer add, and when does the answer appear?",
        answer=(
            "Every layer adds a little to each token's vector (the residual stream); the answer "
            "often comes out on top only near the end."
        ),
        section="Model",
        icon=":material/layers:",
        chip=lambda facts: f"{facts.ff_width:,} neurons",
        tasks=4,
        short="Feed-forward",
        settings_note=_BEFORE_SAMPLING,
    ),
    Stage(
        key="lm_head",
        title="LM head",
        question="How does a vector become a score for every token?",
        answer=(
            "The last token's vector is compared with one row for every token there is: each gives "
            "a score (logit). Softmax turns the scores into percentages that add up to 100."
        ),
        section="Model",
        icon=":material/leaderboard:",
        chip=lambda facts: f"{facts.top_text} {percent(facts.top_probability)}",
        settings_note=(
            "These settings count from the sampling page on; here only “No answer inside” draws "
            "with them."
        ),
    ),
    Stage(
        key="sampling",
        title="Sampling",
        question="How is one token picked?",
        answer=(
            "A few simple steps reshape and cut the scores; one token is drawn at random from what "
            "is left."
        ),
        section="Output",
        icon=":material/casino:",
        chip=lambda facts: f"draws from {facts.survivors:,}",
    ),
    Stage(
        key="generation",
        title="Generation",
        question="How does the loop run, stop and become text?",
        answer=(
            "Each new token is put at the end and the model runs again, until it draws its end "
            "token, meets a text that you chose (stop string) or has written enough."
        ),
        section="Output",
        icon=":material/autorenew:",
        chip=lambda facts: "one token per step",
    ),
    Stage(
        key="speculative",
        title="Speculative decoding",
        question="How can a small draft make it faster and keep every probability?",
        answer=(
            "A fast helper guesses a few tokens ahead. The model checks all of them in one go and "
            "replaces what it does not accept: every word stays as likely as before."
        ),
        section="Output",
        icon=":material/fast_forward:",
        chip=lambda facts: "guesses ahead",
        short="Speculative",
    ),
    Stage(
        key="guardrails",
        title="Guardrails",
        question="Where can answers be steered, and where do they leak?",
        answer=(
            "Before, inside and after the model; and each kind of guard lets something through."
        ),
        section="Control",
        icon=":material/shield:",
        chip=lambda facts: "what may come out",
    ),
    Stage(
        key="training",
        title="Training",
        question="Where did the probabilities come from?",
        answer=(
            "From text: step by step, every weight was moved a little so that the next token "
            "became more probable. Later steps preferred some answers to others."
        ),
        section="Control",
        icon=":material/school:",
        chip=lambda facts: "text moves weights",
    ),
)


def stage(key: str) -> Stage:
    """Return the stage named `key`.

    Raises:
        KeyError: no stage has that key.
    """
    for candidate in STAGES:
        if candidate.key == key:
            return candidate
    raise KeyError(key)


def following(key: str) -> Stage:
    """Return the stage after `key`; after the last comes the first, as in the loop itself."""
    position = STAGES.index(stage(key))
    return STAGES[(position + 1) % len(STAGES)]


def sections() -> dict[str, list[Stage]]:
    """Return the stages by section, in order."""
    grouped: dict[str, list[Stage]] = {}
    for entry in STAGES:
        grouped.setdefault(entry.section, []).append(entry)
    return grouped
