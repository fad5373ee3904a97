"""The sampling settings, checked when they are made, so that no later step checks them again.

Neither numpy nor torch is imported, so that the controls can be painted before a model exists.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from numbers import Integral, Real

from engine.basics.errors import EngineError
from engine.basics.results import Result

TRANSFORMERS_ORDER = ("temperature", "top_k", "top_p", "min_p", "typical")
"""The order in which transformers' `generate` applies the steps that can change places."""

LLAMA_CPP_ORDER = ("top_k", "typical", "top_p", "min_p", "temperature")
"""llama.cpp's default (common/sampling): logit bias, penalties, dry, top_n_sigma, top_k, typ_p,
top_p, min_p, xtc, temperature; DRY, top-n-sigma and XTC are not offered here and left out.
Temperature comes last, so the truncations see the model's own distribution."""

ORDERS: Mapping[str, tuple[str, ...]] = {
    "transformers": TRANSFORMERS_ORDER,
    "llama.cpp": LLAMA_CPP_ORDER,
}

BIAS_LIMIT = 1e6
"""A larger bias would leave no digit of a float32 logit."""


class SettingsError(EngineError, ValueError):
    """A sampling setting is out of range, or does not suit this vocabulary."""


@dataclass(frozen=True)
class SamplingSettings(Result):
    """The settings of one draw. Every step is off by default; equal settings hash equal.

    Raises:
        SettingsError: a value is out of range; the message names it and says what is allowed.
    """

    temperature: float = 1.0
    """From 0 (always take the likeliest token) to 1000; 1 is off."""
    top_k: int = 0
    """Keep the k largest logits; 0 is off."""
    top_p: float = 1.0
    """Keep the smallest set that holds this mass, 0 to 1; 1 is off."""
    min_p: float = 0.0
    """Keep tokens with at least this share of the top probability, 0 to 1; 0 is off."""
    repetition_penalty: float = 1.0
    """Above 1 weakens tokens that the context contains, below 1 strengthens them; above 0 and at
    most 1000; 1 is off."""
    logit_bias: Mapping[int, float] | Iterable[tuple[int, float]] = ()
    """What is added to the logit of each token id; -inf bans the token. Given as a mapping or as
    pairs, stored as pairs in id order."""
    presence_penalty: float = 0.0
    """Subtracted once from each token that was generated so far, -1000 to 1000; 0 is off."""
    frequency_penalty: float = 0.0
    """Subtracted from a token for each time that it was generated, -1000 to 1000; 0 is off."""
    count_prompt: bool = False
    """Whether presence and frequency count the prompt's tokens too, as llama.cpp does; OpenAI and
    vLLM count only what was generated. The repetition penalty always looks at both (CTRL, and
    transformers)."""
    penalty_window: int = 0
    """How many of the last tokens the penalties look at (llama.cpp: repeat_last_n); 0 is all."""
    typical_p: float = 1.0
    """Keep tokens whose surprise is nearest the average until they hold this mass; above 0 and at
    most 1; 1 is off."""
    order: tuple[str, ...] = TRANSFORMERS_ORDER
    """The order of temperature and the four truncations; each name once."""

    def __post_init__(self) -> None:
        self._number("temperature", 0.0, 1000.0)
        self._number("top_p", 0.0, 1.0)
        self._number("min_p", 0.0, 1.0)
        self._number("repetition_penalty", 0.0, 1000.0, above=True)
        self._number("presence_penalty", -1000.0, 1000.0)
        self._number("frequency_penalty", -1000.0, 1000.0)
        self._number("typical_p", 0.0, 1.0, above=True)
        if not isinstance(self.count_prompt, bool):
            raise SettingsError(
                f"count_prompt must be True or False, but is {self.count_prompt!r}."
            )
        object.__setattr__(self, "top_k", _whole("top_k", self.top_k))
        object.__setattr__(self, "penalty_window", _whole("penalty_window", self.penalty_window))
        object.__setattr__(self, "logit_bias", _bias_pairs(self.logit_bias))
        object.__setattr__(self, "order", _checked_order(self.order))

    def _number(self, name: str, low: float, high: float, *, above: bool = False) -> None:
        """Store one field as a float between `low` and `high` (`above`: not `low` itself)."""
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, Real):
            raise SettingsError(f"{name} must be a number, but is {value!r}.")
        number = float(value)
        too_low = number <= low if above else number < low
        if isnan(number) or too_low or number > high:
            span = f"above {low:g} and at most {high:g}" if above else f"from {low:g} to {high:g}"
            raise SettingsError(f"{name} must be {span}, but is {value!r}.")
        object.__setattr__(self, name, number)

    @property
    def bias(self) -> tuple[tuple[int, float], ...]:
        """`logit_bias` as it is stored: pairs (id, bias) in id order."""
        return tuple(self.logit_bias)  # type: ignore[arg-type]

    @property
    def greedy(self) -> bool:
        """Whether temperature 0 leaves one token, so that nothing is left to chance."""
        return self.temperature == 0.0


def words(settings: SamplingSettings) -> tuple[str, ...]:
    """Name the temperature and every other setting that is not at its default.

    How presence and frequency count is named too wherever one of them is on.

    >>> words(SamplingSettings(temperature=0.7, top_p=0.9, penalty_window=64))
    ('temperature 0.7', 'top-p 0.9', 'penalties over the last 64 tokens')
    """
    off = SamplingSettings()
    numbers = {
        "top-k": "top_k",
        "top-p": "top_p",
        "min-p": "min_p",
        "typical": "typical_p",
        "repetition penalty": "repetition_penalty",
        "presence penalty": "presence_penalty",
        "frequency penalty": "frequency_penalty",
    }
    named = [f"temperature {settings.temperature:g}"]
    for name, field in numbers.items():
        value = getattr(settings, field)
        if value != getattr(off, field):
            named.append(f"{name} {value:g}")
    if settings.count_prompt:
        named.append("presence and frequency count the prompt too")
    elif settings.presence_penalty or settings.frequency_penalty:
        named.append("presence and frequency count the answer alone")
    if settings.penalty_window:
        last = settings.penalty_window
        named.append(f"penalties over the last {'token' if last == 1 else f'{last:,} tokens'}")
    if settings.bias:
        named.append("logit bias " + _bias_in_words(settings.bias))
    if settings.order != off.order:
        known = [name for name, order in ORDERS.items() if order == settings.order]
        named.append(f"order {known[0] if known else ' → '.join(settings.order)}")
    return tuple(named)


def _bias_in_words(bias: Sequence[tuple[int, float]], most: int = 5) -> str:
    """Return the first few biases with their token ids, and how many more there are."""
    shown = [
        f"bans token {token_id}" if value == -inf else f"{value:+g} on token {token_id}"
        for token_id, value in bias[:most]
    ]
    more = [f"and {len(bias) - most} more"] if len(bias) > most else []
    return "; ".join(shown + more)


def _whole(name: str, value: object) -> int:
    """Return a count or an id as an int, or say what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise SettingsError(f"{name} must be a whole number, but is {value!r}.")
    number = int(value)
    if number < 0:
        raise SettingsError(f"{name} must be 0 or more, but is {number}.")
    return number


def _bias_pairs(bias: object) -> tuple[tuple[int, float], ...]:
    """Return the biases as checked pairs in id order."""
    pairs = list(bias.items()) if isinstance(bias, Mapping) else bias
    try:
        items = [(token_id, value) for token_id, value in pairs]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise SettingsError(f"logit_bias must map token ids to numbers, but is {bias!r}.") from None
    checked: dict[int, float] = {}
    for token_id, value in items:
        number = _whole("A token id in logit_bias", token_id)
        if number in checked:
            raise SettingsError(f"logit_bias names token {number} twice; leave one of the two out.")
        if isinstance(value, bool) or not isinstance(value, Real):
            raise SettingsError(f"The bias of token {number} must be a number, but is {value!r}.")
        if value != -inf and not (isfinite(value) and abs(float(value)) <= BIAS_LIMIT):
            raise SettingsError(
                f"The bias of token {number} must be from {-BIAS_LIMIT:g} to {BIAS_LIMIT:g}, "
                f"or -inf to ban it, but is {value!r}."
            )
        checked[number] = float(value)
    return tuple(sorted(checked.items()))


def _checked_order(order: object) -> tuple[str, ...]:
    """Return the order as a tuple in which every movable step stands once."""
    names = tuple(order) if isinstance(order, Iterable) and not isinstance(order, str) else ()
    if sorted(map(str, names)) != sorted(TRANSFORMERS_ORDER):
        raise SettingsError(
            f"order must name each of {', '.join(TRANSFORMERS_ORDER)} once, but is {order!r}."
        )
    return tuple(map(str, names))
