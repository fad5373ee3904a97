"""The sampling page: how scores for every token become one token."""

from __future__ import annotations

from dataclasses import replace

from components.kit.numbers import percent
from components.kit.tasks import Task
from components.link import keys, widgets
from components.link.sampling import read_settings
from components.sampling.depth import in_depth_words
from components.sampling.parts import FORMERLY, PARTS
from engine.sampling import chain as sampling
from pages.frame import frame, results
from pages.sampling import chain, guess, views

live = frame.live_prompt()
name_of = chain.names_of(live.model.source)


def visual() -> None:
    """Draw the chosen part of the laboratory."""
    chosen = widgets.choice(
        "Part",
        PARTS,
        key=keys.SAMPLING_PART,
        formerly=FORMERLY,
        label_visibility="collapsed",
        wrap=False,
    )
    if chosen == PARTS[1]:
        _, stages, picked = chain.now(live)
        views.draw_view(live, stages[-1], picked, name_of)
    elif chosen == PARTS[2]:
        views.sweep_view(live, read_settings()[0], name_of)
    elif chosen == PARTS[3]:
        views.compare_view(live, chain.now(live)[0], name_of)
    elif chosen == PARTS[4]:
        views.sharpness_part(live)
    elif chosen == PARTS[5]:
        views.beam_part(live, chain.now(live)[0], name_of)
    else:
        chain.show(live)


def in_depth() -> None:
    """Write the formulas with this draw's numbers."""
    settings, stages, picked = chain.now(live)
    u = results.uniforms(live.seed, 1)[0]
    in_depth_words(stages, settings, u, picked, name_of(picked))


def tasks() -> list[Task]:
    """Return what to try."""
    settings, stages, _ = chain.now(live)
    last = stages[-1]
    top = float(last.probabilities.max())
    usual = replace(settings, order=sampling.TRANSFORMERS_ORDER)
    as_usual = live.chain(usual)[-1].survivors
    only_top_p = replace(sampling.SamplingSettings(), top_p=settings.top_p) == settings
    return [
        Task(
            "Lower the temperature (but not to 0) until the top token passes 99 %.",
            settings.temperature > 0 and top > 0.99,
            f"The top token has {percent(top)} at T = {settings.temperature:g}.",
            "The slider stands beside the bars. A prompt with one clear answer gets there first.",
            {keys.SAMPLING_PART: PARTS[0]},
        ),
        Task(
            "With top-p alone, every other step off, keep between 2 and 10 tokens.",
            2 <= last.survivors <= 10 and settings.top_p < 1 and only_top_p,
            f"{last.survivors:,} tokens are left"
            + ("." if only_top_p else "; other steps are still on."),
            "“The model's own” switches every step off. Then open “Top-p” and move it.",
            {keys.SAMPLING_PART: PARTS[0]},
        ),
        Task(
            "Find an order of the steps that leaves another number of tokens than transformers' "
            "order does, with the same settings.",
            as_usual != last.survivors,
            f"{' → '.join(settings.order)} leaves {last.survivors:,}, transformers' order leaves "
            f"{as_usual:,}.",
            "Temperature before or after top-p: which of them sees the flatter list?",
            {keys.SAMPLING_PART: PARTS[0]},
        ),
    ]


frame.views(visual, in_depth, tasks, lambda: guess.ask(live))
