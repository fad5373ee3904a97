"""A made-up overview for tests of the picture: right shapes, invented numbers."""

from engine.overview.facts import (
    ArchitectureFact,
    CacheFact,
    Candidate,
    DetokenizerFact,
    EmbeddingFact,
    HeadFact,
    LensFact,
    Overview,
    PositionFact,
    RemovalFact,
    SamplingFact,
    Segment,
    TokenFact,
)

PROMPT = ("Why", " is", " the", " sky", " blue", "?")


def _hex(text: str) -> str:
    return text.encode().hex()


def sample_overview(
    prompt: tuple[str, ...] = PROMPT, written: tuple[str, ...] = (), next_text: str = "\n"
) -> Overview:
    """Return the facts of a pass over these pieces."""
    pieces = [*prompt, *written]
    count = len(pieces)
    shown = min(count, 12)
    pattern = tuple(
        tuple(
            0.0 if s > t else 0.7 if s == max(0, t - 1) else 0.3 / max(1, t) for s in range(shown)
        )
        for t in range(shown)
    )
    top = [(next_text, 0.41), (" The", 0.22), (" Because", 0.09), (" It", 0.05), (" And", 0.031)]
    starts = [0.02, 0.45, 0.7, 0.82, 0.9]
    segments = tuple(
        Segment(100 + i, _hex(t), s, s + p)
        for i, ((t, p), s) in enumerate(zip(top, starts, strict=True))
    )
    return Overview(
        text="".join(prompt),
        generated="".join(written),
        turns=(),
        tokens=tuple(TokenFact(504 + 37 * i, _hex(p), False) for i, p in enumerate(pieces)),
        prompt_tokens=len(prompt),
        architecture=ArchitectureFact(
            "SmolLM2-135M-Instruct", 30, 9, 3, 64, 576, 1536, 49152, "rope"
        ),
        embedding=EmbeddingFact(tuple(((i * 7919) % 41 - 20) / 100 for i in range(32)), 0.3, 3.21),
        position=PositionFact(count - 1, (0, 4, 8, 16), (count - 1.0, 1.2, 0.4, 0.02)),
        head=HeadFact(
            layer=4,
            head=2,
            first=count - shown,
            pattern=pattern,
            offset=1,
            reads=max(count - 2, 0),
            weight=0.7,
            removal=RemovalFact(100, _hex(next_text), 0.41, 0.12),
        ),
        cache=CacheFact(count, count * 46080),
        residual_norms=tuple(4.0 * 1.2**i for i in range(31)),
        lens=tuple(
            LensFact(layers, 5, _hex(t), p)
            for layers, t, p in (
                (6, " the", 0.02),
                (12, " blue", 0.04),
                (18, " colour", 0.09),
                (24, "\n", 0.2),
                (30, next_text, 0.41),
            )
        ),
        candidates=tuple(Candidate(100 + i, _hex(t), 18.0 - i, p) for i, (t, p) in enumerate(top)),
        sampling=SamplingFact(0.8, ("top-k 40", "top-p 0.9"), 23, 0.312, segments, segments[0]),
        detokenizer=DetokenizerFact(_hex(next_text), next_text, "", False),
    )
