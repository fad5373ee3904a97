"""The engine for a notebook: a model that takes text, and results that know their tokens.

    model = load_model()
    run = model.trace("The capital of France is")
    run.tokens, run.pattern(layer=12)[4], run.lens().to_pandas()

This is the top of the engine: it puts together what the packages below offer as functions of ids
and arrays, and computes nothing itself. docs/engine.md shows all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from engine.basics.arrays import Array, Ids, frozen, frozen_ids
from engine.basics.results import Result, Table
from engine.generation.loop import generate
from engine.generation.random_numbers import uniforms
from engine.interpret.lens import lens_column
from engine.model import model as models
from engine.model.model import DEFAULT, LanguageModel, Progress
from engine.sampling.chain import SamplingSettings, Stage, draw, run_chain
from engine.tokenizer.labels import Labels, label_of
from engine.tracing.trace import Trace, trace

if TYPE_CHECKING:
    import pandas as pd

    from engine.generation.token_step import TokenStep
    from engine.observe.edits import Edit
    from engine.tokenizer.tokenizer import Tokenizer

AS_IT_IS = SamplingSettings()
"""Every step off: tokens are drawn from the model's own distribution."""


def load_model(
    source: str = DEFAULT,
    *,
    device: str = "auto",
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Workbench:
    """Load a model by name, ready for text.

    Args:
        source: The default's name, a hub id such as "Qwen/Qwen3-0.6B", a folder with
            `config.json` and safetensors, or a `.gguf` file.
        device: "auto" (CUDA, then MPS, then CPU), or the name of a torch device.
        threads: CPU threads for the whole process. None takes `TOKEN_BY_TOKEN_THREADS`, and without
            it half of the cores.
        progress: Called with each step of fetching, converting and loading.

    Raises:
        ModelLoadError: With the value that was wrong and the way out.
    """
    model = models.load_model(source, device=device, threads=threads, progress=progress)
    return Workbench(**{field.name: getattr(model, field.name) for field in fields(model)})


class Workbench(LanguageModel):
    """A language model that takes text as well as ids. All that takes a `LanguageModel` takes it.

    Text is cut as the app cuts it: with the tokens in front that the model expects (BOS; none for
    the default model), and control tokens that somebody typed are plain text.
    """

    def ids(self, prompt: str | Sequence[int], *, chat: bool = False) -> tuple[int, ...]:
        """Return the tokens of a prompt.

        Args:
            prompt: Text, or ids, which stay as they are.
            chat: Whether the text is a user's turn, to be put into the model's chat template.

        Raises:
            EngineError: A chat turn, but the model has no chat template.
        """
        if not isinstance(prompt, str):
            return tuple(int(token_id) for token_id in prompt)
        if chat:
            return tuple(self.tokenizer.chat([{"role": "user", "content": prompt}]))
        return tuple(self.tokenizer.ids(prompt, add_bos=True))

    def trace(
        self, prompt: str | Sequence[int], *, edits: Iterable[Edit] = (), chat: bool = False
    ) -> Run:
        """Run one pass over a prompt and write it down.

        Args:
            prompt: Text or ids.
            edits: What the pass does differently, such as `edits.KnockOutHead(9, 4)`.
            chat: Whether the text is a user's turn.

        Raises:
            EngineError: As `engine.trace`.
        """
        done = trace(self, self.ids(prompt, chat=chat), edits=edits)
        return Run(**{field.name: getattr(done, field.name) for field in fields(done)})

    def generate(
        self,
        prompt: str | Sequence[int],
        settings: SamplingSettings = AS_IT_IS,
        *,
        max_new_tokens: int = 20,
        seed: int = 0,
        stop: Iterable[str] = (),
        chat: bool = False,
    ) -> Generator[TokenStep, None, None]:
        """Continue a prompt, one token per step; `step.text` is what can be shown.

        Args:
            prompt: Text or ids.
            settings: How each token is drawn.
            max_new_tokens: The token budget, at least 1.
            seed: Gives this run its own random numbers.
            stop: Strings before which the text ends.
            chat: Whether the text is a user's turn.

        Raises:
            EngineError: As `engine.generate`.
        """
        return generate(
            self,
            self.ids(prompt, chat=chat),
            settings,
            max_new_tokens=max_new_tokens,
            seed=seed,
            stop=stop,
        )


class Run(Trace):
    """A traced pass that knows the text of its tokens, and what is done with its last scores."""

    @cached_property
    def tokens(self) -> Labels:
        """The prompt's tokens as text: row and column labels of every pattern."""
        return Labels.of(self.model.tokenizer, self.ids)

    def lens(self, position: int = -1, top: int = 10) -> Lens:
        """Return what the model would say after each number of blocks (logit lens).

        Args:
            position: The position that is read; negative counts from the end.
            top: How many tokens of each layer.

        Raises:
            EngineError: There is no such position.
        """
        readings = lens_column(self, position, top)
        ids = np.array([reading.ids for reading in readings])
        return Lens(
            position=readings[0].position,
            ids=frozen_ids(ids),
            tokens=Labels.of(self.model.tokenizer, ids.reshape(-1)),
            probabilities=frozen([reading.probabilities for reading in readings]),
            entropies=frozen([reading.entropy for reading in readings]),
        )

    def sample(self, settings: SamplingSettings = AS_IT_IS, *, position: int = -1) -> Chain:
        """Return the sampling chain on the scores after a position, with the prompt as context.

        Args:
            settings: Which steps are on.
            position: The position that is read; negative counts from the end.

        Raises:
            EngineError: There is no such position.
            SettingsError: A setting has no meaning for this vocabulary.
        """
        position = self.position_index(position)
        stages = run_chain(
            self.logits_at(position), settings, self.ids[: position + 1], prompt_tokens=position + 1
        )
        return Chain(settings, tuple(stages), self.model.tokenizer)


@dataclass(frozen=True, eq=False)
class Lens(Table):
    """The likeliest next tokens as read after each number of blocks, 0 to L; R ranks."""

    position: int
    """The position that was read."""
    ids: Ids
    """`[L+1, R]`, best first."""
    tokens: Labels
    """The texts of `ids`, row after row."""
    probabilities: Array
    """`[L+1, R]`, shares of the whole vocabulary."""
    entropies: Array
    """`[L+1]`, how open the whole distribution is, in bits."""

    def to_pandas(self) -> pd.DataFrame:
        """Return layer × rank: id, token, probability and surprise in bits (−log2 p)."""
        import pandas as pd

        layers, ranks = self.ids.shape
        rows = [range(layers), range(1, ranks + 1)]
        with np.errstate(divide="ignore"):
            bits = 0.0 - np.log2(self.probabilities.astype(np.float64))
        return pd.DataFrame(
            {
                "id": self.ids.reshape(-1),
                "token": list(self.tokens),
                "probability": self.probabilities.reshape(-1),
                "bits": bits.reshape(-1),
            },
            index=pd.MultiIndex.from_product(rows, names=("layer", "rank")),
        )


@dataclass(frozen=True, eq=False)
class Chain(Table):
    """One row of scores on its way through the sampling chain, ready to be drawn from."""

    settings: SamplingSettings
    stages: tuple[Stage, ...]
    """First "logits", then the steps that are on, last "softmax"."""
    tokenizer: Tokenizer

    def __repr__(self) -> str:
        left = self.stages[-1].survivors
        steps = " → ".join(stage.name for stage in self.stages)
        return f"Chain({steps}; {left} of {len(self.probabilities)} tokens left)"

    @property
    def probabilities(self) -> Array:
        """What is drawn from, `[V]`."""
        return self.stages[-1].probabilities

    def top(self, n: int = 10) -> pd.DataFrame:
        """Return the n likeliest tokens: id, text, probability before and after the chain."""
        import pandas as pd

        best = np.argsort(-self.probabilities, kind="stable")[:n]
        best = best[self.probabilities[best] > 0]
        return pd.DataFrame(
            {
                "id": best,
                "token": list(Labels.of(self.tokenizer, best)),
                "before": self.stages[0].probabilities[best],
                "after": self.probabilities[best],
            }
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each step: tokens left, mass kept, entropy, likeliest token."""
        import pandas as pd

        tops = [int(stage.probabilities.argmax()) for stage in self.stages]
        return pd.DataFrame(
            {
                "tokens_left": [stage.survivors for stage in self.stages],
                "mass_kept": [stage.mass_kept for stage in self.stages],
                "entropy_bits": [stage.entropy_bits for stage in self.stages],
                "top_token": list(Labels.of(self.tokenizer, tops)),
                "top_probability": [float(stage.probabilities.max()) for stage in self.stages],
            },
            index=pd.Index([stage.name for stage in self.stages], name="step"),
        )

    def draw(self, seed: int = 0) -> Draw:
        """Draw one token, with the random number that the app and `generate` use first.

        Raises:
            EngineError: The seed is not a whole number of 64 bits.
        """
        u = uniforms(seed, 1)[0]
        token_id = draw(self.probabilities, u)
        return Draw(
            id=token_id,
            token=label_of(self.tokenizer, token_id),
            u=u,
            probability=float(self.probabilities[token_id]),
        )


@dataclass(frozen=True)
class Draw(Result):
    """One token that was drawn."""

    id: int
    token: str
    """Its text."""
    u: float
    """The uniform number in [0, 1) that chose it."""
    probability: float
    """In the distribution that was drawn from."""
