"""The guardrails page's question: does a ban on the word keep the secret?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.guardrails.recorded import recorded
from components.guardrails.scenario import name_of
from components.kit.guess import Guess, numbers
from components.kit.text import excerpt, quoted
from engine.guardrails.scenario import SCENARIOS
from pages.frame.kept import kept
from pages.guardrails.comparison import TALLIES

if TYPE_CHECKING:
    from engine.guardrails.comparison import Tally
    from engine.guardrails.scenario import Scenario
    from pages.frame.live import Live

BAN = "sequence ban"


def ask(live: Live, now: Scenario) -> Guess:
    """Ask how many answers under the ban give the secret away in other words."""
    mine: tuple[Tally, ...] | None = kept(TALLIES, (live.model.source, now, live.settings))
    done = mine is not None and all(tally.runs for tally in mine)
    name = name_of(now) or "Puppy"
    tallies, scenario = (mine, now) if mine and done else (recorded(name), SCENARIOS[name])
    ban = next(tally for tally in tallies if tally.guard == BAN)
    where = "Counted here" if done else "Recorded with SmolLM2-135M-Instruct"
    return numbers(
        f"“{excerpt(scenario.system)}” The model is asked {ban.runs} times "
        f"“{excerpt(scenario.question)}” and can't write the letters of "
        f"{quoted(scenario.word)}. How many answers give the secret away all the same?",
        ban.told,
        (0, ban.runs // 10, ban.runs // 2, ban.runs),
        f"{where}: {ban.told} of {ban.runs}, such as “{excerpt(ban.example.strip(), 150)}” A ban "
        "holds letters back, and a meaning has many words.",
    )
