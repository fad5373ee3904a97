"""The ten guesses as plain data: where each stands, what it asks, what it says again at the end.

Questions and options name no number of a model, so that they can be asked of any. An option is
marked where somebody who takes it holds the belief that the step is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.link import keys
from components.shell.example_prompts import DEFAULT_PROMPT

FACT = "The capital of France is"
BACKWARDS = "Paris is the capital of"
SUN = "The sun revolves around the"
FALSE_QUESTION, TRUE_QUESTION = "Why is the sky green?", "Why is the sky blue?"
ORDERS = ("four, five, six, seven,", "seven, six, five, four,")
WORD = "strawberry"
FACTS = 68
"""How many facts the model is asked; `engine/sampling/facts.json` has them."""


@dataclass(frozen=True)
class Option:
    """One answer to choose."""

    text: str
    belief: bool = False
    """Whether who takes it holds the step's belief."""


@dataclass(frozen=True)
class Step:
    """One guess. All of it is plain text, shown literally."""

    key: str
    page: str
    """The key of the stage on whose page it stands."""
    belief: str
    """What many people think, in a few words."""
    question: str
    options: tuple[Option, ...]
    try_it: str
    """How to look for a case in which it is otherwise."""
    statement: str
    """The belief once more in other words, as it is or the other way round; true or false?"""
    statement_is_true: bool
    values: Mapping[str, Any] = field(default_factory=dict)
    """What stands in the page's controls, by key of the session, apart from the usual."""
    for_default: Mapping[str, Any] = field(default_factory=dict)
    """What else stands there with the default model alone."""


STEPS: tuple[Step, ...] = (
    Step(
        key="tokens",
        page="tokenizer",
        belief="Tokens are words",
        question=(
            "A language model works with numbers. So your text is first cut into pieces that it "
            f"knows, and each piece has a number. Into how many pieces does it cut “{WORD}”?"
        ),
        options=(
            Option("1 piece: it is one word", belief=True),
            Option("2 pieces: straw and berry"),
            Option("3 pieces"),
            Option("10 pieces: its letters"),
        ),
        try_it=(
            "Choose “Your own name” below and type it. Can you find a word of four letters that "
            "takes three pieces?"
        ),
        statement=("The same word can be one piece in one sentence and several pieces in another."),
        statement_is_true=True,
        values={
            keys.PROMPT: WORD,
            keys.TOKENIZER_PART: "Tokens are not words",
            keys.EXPERIMENT: "r in strawberry",
        },
    ),
    Step(
        key="positions",
        page="embedding",
        belief="The order of the words comes for free",
        question=(
            f"“{ORDERS[0]}” and “{ORDERS[1]}” have the same pieces in two orders. The model reads "
            "in many steps, called layers. Suppose that nobody tells it where each piece stands. "
            "Does its first layer notice that the order is another one?"
        ),
        options=(
            Option("Yes: it reads from left to right, so it sees the order", belief=True),
            Option("Yes, but only a little", belief=True),
            Option("No, not at all"),
        ),
        try_it=(
            "“Position off” is on below: switch it off and on again. Under “Other words” stands "
            "“Dog bites man”."
        ),
        statement=(
            "A language model notices the order of words by itself: nothing has to tell it where "
            "each of them stands."
        ),
        statement_is_true=False,
        values={
            keys.EMBEDDING_PART: "Order",
            keys.ORDER_FIRST: ORDERS[0],
            keys.ORDER_SECOND: ORDERS[1],
            keys.ORDER_OFF: True,
        },
    ),
    Step(
        key="answer",
        page="lm_head",
        belief="An answer lies inside",
        question=(
            f"The model gets the same beginning ten times: “{DEFAULT_PROMPT} …”. Only the dice are "
            "thrown anew. How many different texts does it write?"
        ),
        options=(
            Option("One: it has one answer inside, and gives it", belief=True),
            Option("Two or three", belief=True),
            Option("About five"),
            Option("Nine or ten"),
        ),
        try_it=(
            "Open the sidebar (») and set Temperature, the amount of chance, to 0. How many "
            "different texts are there now? Then ask a question as a chat turn."
        ),
        statement=(
            "Before the first word appears, the whole answer is already there inside the model."
        ),
        statement_is_true=False,
        values={keys.PROMPT: DEFAULT_PROMPT, keys.LM_HEAD_PART: "No answer inside"},
    ),
    Step(
        key="attention",
        page="attention",
        belief="Where it looks explains what it says",
        question=(
            f"The model goes on after “{FACT} …”. Many small parts of it, called heads, look back "
            "at the earlier words. Two of them look at “France” very hard. We switch off the one, "
            "then the other. What happens to the word that it says next?"
        ),
        options=(
            Option("Both times it becomes far less likely: it came from there", belief=True),
            Option("Once it becomes far less likely, once nothing happens"),
            Option("Nothing, both times"),
        ),
        try_it=(
            "Open “Take a part away” below and switch heads off yourself: find one that looks at "
            "“France” and is not needed."
        ),
        statement=(
            "A part of the model can look hard at a word and still not matter for the result."
        ),
        statement_is_true=True,
        values={keys.PROMPT: FACT, keys.ATTENTION_PART: "One head"},
        for_default={keys.LAYER: 23, keys.HEAD: 4},
    ),
    Step(
        key="cold",
        page="sampling",
        belief="A low temperature makes it accurate",
        question=(
            "Temperature is the amount of chance: at 0 the model always takes the word that it "
            f"finds likeliest. It is asked {FACTS} facts. For some of them its likeliest word is "
            "wrong. We turn the temperature down to 0. What happens there to the right answers?"
        ),
        options=(
            Option("More of them: with less chance it answers more carefully", belief=True),
            Option("As many as before"),
            Option("They disappear: none is left"),
        ),
        try_it=(
            "Look for a fact that the model gets wrong (“All prompts” at the bottom lists some), "
            "type it into the box on top, and find a temperature that makes it right each time."
        ),
        statement=(
            "A fact that the model gets wrong can come out right when its temperature is turned "
            "down to 0."
        ),
        statement_is_true=False,
        values={keys.SAMPLING_PART: "Sharpness"},
    ),
    Step(
        key="greedy",
        page="lm_head",
        belief="The likeliest word is the true one",
        question=(
            f"No dice this time: we take the word that the model finds likeliest after “{SUN} …”. "
            "What comes?"
        ),
        options=(
            Option("Something true, such as “galaxy”", belief=True),
            Option("“Earth”, but with less than half of the probability"),
            Option("“Earth”, with more than half of the probability"),
        ),
        try_it=(
            "Put a right sentence in front, such as “The Earth revolves around the sun.” Does that "
            "help? Or find another false sentence that it finds very likely."
        ),
        statement="The word that a model finds most likely by far can be plainly false.",
        statement_is_true=True,
        values={keys.PROMPT: SUN, keys.LM_HEAD_PART: "Top 20"},
    ),
    Step(
        key="helper",
        page="speculative",
        belief="A quick helper makes the text worse",
        question=(
            "To save time, a small quick helper guesses the next words, and the model only checks "
            "the guesses. This helper is wrong more often than right. What happens to the text, "
            "with no dice in play?"
        ),
        options=(
            Option("It gets a little worse", belief=True),
            Option("It becomes another one, about as good", belief=True),
            Option("Nothing: it stays the same, word for word"),
        ),
        try_it=(
            "Press “Race my prompt” below for another helper, or set the temperature to 1: with "
            "dice in play the texts differ, but how likely each one is stays the same."
        ),
        statement="A helper that guesses ahead costs a little of the quality of the text.",
        statement_is_true=False,
        values={
            keys.PROMPT: DEFAULT_PROMPT,
            keys.TEMPERATURE: 0.0,
            keys.DRAFT_QUESTION: "The race",
        },
    ),
    Step(
        key="ban",
        page="guardrails",
        belief="Who bans a word bans what it means",
        question=(
            "The model is told a secret: Tom's present is a puppy. Then every way to spell the "
            "word “puppy” is made impossible, and somebody asks five times: “What is Tom's "
            "present?” What comes out?"
        ),
        options=(
            Option("“Puppy”, all the same"),
            Option("Nothing that gives the secret away", belief=True),
            Option("The secret in other words"),
        ),
        try_it=(
            "Press “Secret” below and take the museum: with that word banned the model names "
            "another place. Is that better? Or ban “dog” too."
        ),
        statement=(
            "Who forbids a word must still reckon with the same thing being said in other words."
        ),
        statement_is_true=True,
        values={keys.GUARD: "Logit ban"},
    ),
    Step(
        key="stored",
        page="lm_head",
        belief="It has stored the facts and looks them up",
        question=(
            f"After “{FACT} …” the model's first choice is Paris. Now the other way round: how "
            f"likely is “France” after “{BACKWARDS} …”?"
        ),
        options=(
            Option("About as likely: it knows the fact", belief=True),
            Option("About half as likely"),
            Option("Far less likely"),
        ),
        try_it=(
            "Type another capital into the second box below. Then see the other side: on the page "
            "Training, “From nothing” learns rhymes by heart, word for word."
        ),
        statement=(
            "A model that goes on rightly after “The capital of France is” can be asked it "
            "backwards just as well, for it has the fact."
        ),
        statement_is_true=False,
        values={
            keys.PROMPT: FACT,
            keys.LM_HEAD_PART: "Two prompts",
            keys.SECOND_PROMPT: BACKWARDS,
        },
    ),
    Step(
        key="wrong",
        page="generation",
        belief="It knows when it is wrong",
        question=f"We ask the model in a chat: “{FALSE_QUESTION}” What does it answer?",
        options=(
            Option("It objects: the sky is blue", belief=True),
            Option("It says that it does not know", belief=True),
            Option("It explains the green sky, in fluent sentences"),
        ),
        try_it=(
            "Press “Another answer” below a few times: does one object? Then find a question with "
            "a false assumption to which it does object."
        ),
        statement=(
            "Fluent sentences without hesitation show that the model has checked what it says."
        ),
        statement_is_true=False,
        values={keys.PROMPT: FALSE_QUESTION, keys.CHAT: True},
    ),
)


def number_of(key: str) -> int:
    """Return which guess this is, from 1 on.

    Raises:
        KeyError: no step has that key.
    """
    for number, step in enumerate(STEPS, 1):
        if step.key == key:
            return number
    raise KeyError(key)
