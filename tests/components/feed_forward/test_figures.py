"""Figures and words of the attention and feed-forward pages, from plain values."""

from __future__ import annotations

import html
from types import SimpleNamespace

import numpy as np
import pytest

from components.attention import arcs, cell, figures, finding
from components.attention import steps as attention_steps_view
from components.feed_forward import block_picture, residual_stream
from components.interpret import knockout, lens, lens_strip, recorded_sweeps, sweep
from components.kit import theme
from components.kit.figure import payload
from components.kv_cache import pictures, sharing
from components.shell.example_prompts import DEFAULT_PROMPT
from engine.observe import edits

LONG = 256
PIECES = [b" tok"] * LONG


def causal(tokens: int, seed: int = 0) -> np.ndarray:
    """Return a random pattern whose rows sum to 1."""
    values = np.tril(np.random.default_rng(seed).random((tokens, tokens)))
    return (values / values.sum(axis=1, keepdims=True)).astype(np.float32)


def shares(**given: float) -> dict[str, float]:
    return {"induction": 0.0, "previous": 0.0, "same": 0.0, "first": 0.0} | given


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (shares(previous=0.8, first=0.1), "looks one token back: 80 %"),
        (shares(first=0.9), "rests on the first token: 90 %"),
        (shares(induction=0.5, first=0.3), "reads what followed the same token before: 50 %"),
        (shares(same=0.41, first=0.1), "reads earlier copies of the same token: 41 %"),
        (shares(first=0.5, previous=0.3), "spreads its attention: 50 % of it on the first token"),
    ],
)
def test_a_heads_title_says_what_it_does(given, title):
    assert f"Head 4 of layer 12 {title}" in figures.head_title(12, 4, given)


@pytest.mark.parametrize("log", [False, True])
def test_a_pattern_of_the_longest_prompt_stays_in_its_budget(log):
    shown = figures.shown_pattern(causal(LONG), np.tri(LONG, dtype=bool), without_first=False)
    figure = figures.pattern_figure(shown, PIECES, title="t", key="k", selected=(9, 3), log=log)
    assert payload(figure) < 300_000


def test_the_log_scale_keeps_the_true_shares_for_the_hover_text():
    pattern = causal(6)
    shown = figures.shown_pattern(pattern, np.tri(6, dtype=bool), without_first=False)
    figure = figures.pattern_figure(shown, PIECES[:6], title="t", key="k", selected=None, log=True)
    np.testing.assert_allclose(figure.data[1].customdata, pattern[np.tri(6, dtype=bool)])
    row = figure.data[0].z[3]
    np.testing.assert_allclose(row[:4], np.log10(pattern[3, :4]) + 4, atol=1e-5)


def test_without_the_first_token_neither_its_column_nor_its_row_is_drawn():
    shown = figures.shown_pattern(causal(5), np.tri(5, dtype=bool), without_first=True)
    assert np.isnan(shown[:, 0]).all()
    assert np.isnan(shown[0]).all()
    assert np.isfinite(shown[4, 1:]).all()


@pytest.mark.parametrize("log", [False, True])
def test_all_heads_of_the_default_model_stay_in_their_budget(log):
    maps = np.random.default_rng(0).integers(0, 255, (30, 9, 24, 24), dtype=np.uint8)
    figure = figures.mosaic_figure(maps, title="t", key="k", selected=(3, 2), log=log)
    assert payload(figure) <= 500_000


def test_arcs_hold_what_a_token_reads_and_who_reads_it():
    pattern = causal(5)
    reads, read_by = arcs.shares_around(pattern, 2)
    np.testing.assert_allclose(reads[:3], pattern[2, :3], atol=1e-4)
    assert reads[3:] == [0, 0]
    assert read_by[:3] == [0, 0, 0]
    np.testing.assert_allclose(read_by[3:], pattern[3:, 2], atol=1e-4)
    shown = np.zeros((3, 3))
    shown[1, :2], shown[2] = (0.00003, 0.99997), (0.5, 0.0412, 0.4588)
    assert arcs.written(shown, 1) == ["< 0.01 %", "99.99 %", "4.1 %"]


def steps_of(tokens: int) -> SimpleNamespace:
    rng = np.random.default_rng(0)
    square = rng.normal(size=(tokens, tokens)).astype(np.float32)
    vectors = {
        name: rng.normal(size=(tokens, 64)).astype(np.float32)
        for name in ("q_raw", "k_raw", "q", "k", "v", "mixed")
    }
    hidden = np.where(np.tri(tokens, dtype=bool), square, -np.inf)
    return SimpleNamespace(
        layer=0,
        head=1,
        kv_head=0,
        dots=square,
        scaled=square / 8,
        masked=hidden,
        pattern=causal(tokens),
        output=rng.normal(size=(tokens, 576)).astype(np.float32),
        **vectors,
    )


@pytest.mark.parametrize("tokens", [6, LONG])
def test_every_step_of_a_head_stays_in_its_budget(tokens):
    run = steps_of(tokens)
    for step in attention_steps_view.STEPS:
        for name in step.fields:
            figure = attention_steps_view.step_figure(name, run, PIECES[:tokens])
            assert payload(figure) < 300_000, name
            if name == "masked":
                assert figure.data[1].x.size == tokens * (tokens + 1) // 2


@pytest.mark.parametrize(
    ("dot", "softcap", "scaled", "said"),
    [
        (6.0, None, 0.75, "Token 2 with itself: 6.00 × 0.125 = 0.75."),
        # Nothing can be told from 0 / 0: the factor comes from the model.
        (0.0, None, 0.0, "Token 2 with itself: 0.00 × 0.125 = 0.00."),
        (800.0, 50.0, 48.2, "Token 2 with itself: 800.00 × 0.125 = 100.00, capped to 48.20."),
    ],
)
def test_the_scale_is_the_models_and_no_quotient(dot, softcap, scaled, said):
    run = SimpleNamespace(
        dots=np.full((2, 2), dot), scaled=np.full((2, 2), scaled), scale=0.125, softcap=softcap
    )
    step = next(s for s in attention_steps_view.STEPS if s.name == "scale")
    with np.errstate(all="raise"):
        assert attention_steps_view.check(step, run, 1) == said


def test_a_model_without_rope_has_no_step_for_it():
    assert len(attention_steps_view.steps_of("rope")) == 8
    assert [s.name for s in attention_steps_view.steps_of("learned")].count("position (RoPE)") == 0


def test_a_cell_is_written_as_a_sum_with_its_largest_terms():
    terms = SimpleNamespace(
        q=np.array([0.5, 2.0, 1.0]),
        k=np.array([1.0, 3.0, -1.0]),
        products=np.array([0.5, 6.0, -1.0]),
        order=np.array([1, 2, 0]),
        dot=5.5,
        scale=0.125,
        softcap=None,
        score=0.6875,
        masked=False,
        probability=0.18,
    )
    text = cell.sum_in_words(terms, most=2)
    assert "(2.00)·(3.00) + (1.00)·(-1.00) + … (3 products) = **5.50**" in text
    assert "÷ √64) = **0.69**" in text
    assert text.endswith("after the mask and softmax: **0.1800**")


def test_sharing_is_drawn_by_floor_division():
    figure = sharing.sharing_figure(9, 3, selected=4, key="k")
    assert figure.layout.title.text == "Head 4 shares key and value head 1 with 2 others"
    ends = [line.x1 for line in figure.layout.shapes]
    assert ends == [1, 1, 1, 4, 4, 4, 7, 7, 7]


def test_the_work_with_and_without_a_cache_is_counted():
    # Prefill of 3: 6 scores. Steps 2 and 3 add 4 and 5; without the cache 6 + 10 + 15.
    words = pictures.work_words(3, 3)
    assert "a triangle of 6 scores" in words
    assert "computes 15 scores with the cache and 31 without it" in words


def test_a_table_of_cache_sizes_keeps_every_byte_of_a_token():
    own = SimpleNamespace(
        name="<b>",
        layers=30,
        heads=9,
        kv_heads=3,
        head_size=64,
        dtype="float32",
        per_token=46_080,
        per_token_without_sharing=138_240,
    )
    (row,) = pictures.size_rows(own, (), 8192)
    assert list(row.values()) == [
        r"\<b\>",
        "30 × 3 × 64",
        "9",
        "float32",
        "46,080 bytes",
        "138,240 bytes",
        "377 MB",
        "1.1 GB",
    ]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (edits.KnockOutHead(9, 4), "head 4 of layer 9 adds nothing"),
        (edits.KnockOutAttention(0), "the attention of layer 0 adds nothing"),
        (edits.KnockOutMlp(11), "the feed-forward network of layer 11 adds nothing"),
        (edits.PositionOff(), "every token claims to be the first"),
        (edits.ReplaceEmbedding(1, 7), r"token 2, ·b, gets the embedding of \<i\>"),
    ],
)
def test_edits_in_words(edit, words):
    assert knockout.in_words(edit, [b"a", b" b"], lambda _: b"<i>") == words


def test_rank_arrows():
    assert knockout.rank_arrow(2, 2) == "= 2"
    assert knockout.rank_arrow(3, 1) == "▲ 3 → 1"
    assert knockout.rank_arrow(1, 40) == "▼ 1 → 40"


@pytest.mark.parametrize(
    ("before", "after", "block"),
    [
        ([1, 2, 3], [1, 2, 3], None),
        ([1, 2, 3], [1, 9, 3], None),
        ([1, 2, 3], [1, 2, 9], 2),
        ([1, 2, 3], [8, 2, 9], 2),
        ([1, 2, 3], [7, 8, 9], 0),
    ],
)
def test_where_two_passes_part_for_good(before, after, block):
    found = SimpleNamespace(lens_top_before=np.array(before), lens_top_after=np.array(after))
    assert knockout.parting_block(found) == block


def test_a_sweep_is_drawn_in_bits_and_unknown_heads_are_left_out():
    table = np.array([[0.1, 0.4], [np.nan, np.nan]], dtype=np.float32)
    np.testing.assert_allclose(sweep.sweep_change(table, 0.2)[0], [-1, 1], atol=1e-6)
    figure = sweep.sweep_figure(table, 0.2, "x", key="k")
    title = html.unescape(figure.layout.title.text)
    assert title == "Without head 0 of layer 0, x falls most: 20 % → 10 %"
    assert figure.data[1].x.size == 2
    event = {"selection": {"points": [{"curve_number": 1, "point_index": 1}]}}
    assert sweep.selected_sweep_head(event, table) == (0, 1)


def test_heads_that_look_and_do_not_matter_are_found():
    shares = np.array([[0.9, 0.8], [0.05, 0.6]])
    changes = np.array([[-2.5, 0.01], [-1.8, 0.5]])
    found = SimpleNamespace(
        shares=shares, changes=changes, probabilities=0.4 * 2**changes, plain=0.4, agreement=0.1
    )
    assert sweep.telling(found) == {"matters": (0, 0), "looks": (0, 1), "hides": (1, 0)}
    title = sweep.looking_title(found, "“a”", "“b”")
    assert title.startswith("Looking is not mattering: head 1 of layer 0 gives “a” 80 %")
    figure = sweep.looking_figure(found, read="“a”", answer="“b”", key="k")
    assert list(figure.data[0].text) == [
        "layer 0, head 0",
        "layer 0, head 1",
        "layer 1, head 0",
        "",
    ]
    event = {"selection": {"points": [{"curve_number": 0, "point_index": 2}]}}
    assert sweep.selected_dot(event, found) == (1, 0)


def test_the_recorded_sweeps_hold_every_head_of_two_prompts():
    recorded = recorded_sweeps.recordings()
    assert [entry.prompt for entry in recorded] == [DEFAULT_PROMPT, "The capital of France is"]
    for entry in recorded:
        table = entry.table()
        assert table.shape == (30, 9)
        assert ((table > 0) & (table < 1)).all()
        assert recorded_sweeps.find(entry.ids, entry.token_id) == entry
        assert recorded_sweeps.Recorded.from_json(entry.to_json()) == entry
    france = recorded[1].table()
    assert np.unravel_index(france.argmin(), france.shape) == (23, 4)


def test_all_heads_are_drawn_by_how_much_one_token_reads_another():
    shares = np.array([[0.1, 0.75], [0.4, 0.0]], dtype=np.float32)
    found = SimpleNamespace(shares=shares, order=np.array([1, 2, 0, 3]), query=1, key=0)
    title = finding.readers_title(found, [b"a", b" b"])
    assert title == "“·b” reads “a” most in head 1 of layer 0: 75 %; 30 % or more in 2 of 4 heads"
    figure = finding.readers_figure(found, [b"a", b" b"], selected=(0, 1), key="k")
    np.testing.assert_allclose(figure.data[0].z, shares.T)


def test_the_lens_shows_a_window_with_the_chosen_token():
    assert lens.window(5, 2) == (0, 1, 2, 3, 4)
    assert lens.window(40, 3) == tuple(range(8))
    assert lens.window(40, 39) == tuple(range(32, 40))


def test_the_path_of_an_answer_is_told_by_its_ranks():
    def title(*ranks):
        return lens.path_title(SimpleNamespace(ranks=np.array(ranks)), "“a”")

    assert title(4316, 20, 1) == "“a” climbs from rank 4,316 to 1, only in the last layer"
    assert title(9, 1, 1, 1) == "“a” climbs from rank 9 to 1, from layer 1 of 3 on"
    assert title(1, 2, 1) == "“a” begins at rank 1 and leads in the end"
    assert title(9, 1, 3).startswith("“a” goes from rank 9 to 3")


def test_a_chip_says_what_leads_and_how_the_answer_stands():
    grid = SimpleNamespace(ids=np.array([[5], [7]]), probabilities=np.array([[0.5], [0.4]]))
    path = SimpleNamespace(
        token_id=7, ranks=np.array([30, 1]), probabilities=np.array([0.004, 0.4])
    )
    first, last = lens_strip.cells(grid, 0, path, lambda i: b" x" if i == 5 else b"y")
    assert first == {
        "word": "·x",
        "answer": False,
        "tint": 0.1,
        "says": "after 0 layers: “·x” leads with 50 %; “y” has 0.4 %, rank 30",
    }
    assert (last["word"], last["answer"], last["tint"]) == ("y", True, 1.0)


def test_when_the_answer_settles():
    assert lens.settled(np.array([4, 7, 7, 7])) == 1
    assert lens.settled(np.array([7, 4, 7])) == 2
    assert lens.settled(np.array([7, 7])) == 0


def test_the_jump_is_found_and_small_growth_is_none():
    stream = np.ones((6, 2))
    stream[4:, 1] = 50
    assert residual_stream.jump_of(SimpleNamespace(stream=stream)) == (3, 1)
    assert residual_stream.jump_of(SimpleNamespace(stream=np.ones((6, 2)))) is None


def block(**changes) -> SimpleNamespace:
    steps = SimpleNamespace(output=np.ones(4))
    vectors = {
        name: np.full(4, 2.0)
        for name in ("resid_pre", "attn_out", "resid_mid", "mlp_out", "resid_post")
    }
    given = {"layer": 0, "position": 0, "parallel": False, "attention_norm": steps}
    return SimpleNamespace(**vectors, **(given | {"mlp_norm": steps} | changes))


def shape(**changes) -> SimpleNamespace:
    return SimpleNamespace(**({"norm": "RMSNorm", "activation": "silu", "gated": True} | changes))


def test_the_picture_of_a_block_follows_the_model():
    whole = block_picture.picture_data(shape(), block(), selected="mlp")
    data = whole["wide"]
    assert [box["key"] for box in data["boxes"]] == [
        "resid_pre",
        "resid_post",
        "norm_1",
        "attention",
        "norm_2",
        "mlp",
    ]
    assert data["boxes"][-1]["text"] == "SwiGLU"
    hues = {box["key"]: box["colour"] for box in data["boxes"]}
    assert (hues["attention"], hues["mlp"]) == (theme.ATTENTION, theme.FEED_FORWARD)
    assert hues["resid_pre"] == hues["resid_post"] == whole["stream"] == theme.STREAM
    assert {"x": 212, "y": 54, "text": "2.0", "anchor": "middle"} in data["labels"]
    gpt = shape(norm="LayerNorm", activation="gelu_new", gated=False)
    boxes = block_picture.picture_data(gpt, block(parallel=True), selected="mlp")["wide"]["boxes"]
    assert [box["text"] for box in boxes[2:]] == ["LayerNorm", "Attention", "LayerNorm", "GELU MLP"]
    bare = block_picture.picture_data(shape(), block(attention_norm=None), selected="mlp")
    for form in ("wide", "tall"):
        assert "norm_1" not in [box["key"] for box in bare[form]["boxes"]]


def test_nothing_of_the_picture_of_a_block_lies_outside_of_it():
    for run in (block(), block(parallel=True)):
        data = block_picture.picture_data(shape(), run, selected="mlp")
        for form in (data["wide"], data["tall"]):
            for box in form["boxes"]:
                assert 0 <= box["x"] <= box["x"] + box["w"] <= form["width"]
                assert 0 <= box["y"] <= box["y"] + box["h"] <= form["height"]
            for x, y in [point for wire in form["wires"] for point in wire["points"]]:
                assert 0 <= x <= form["width"]
                assert 0 <= y <= form["height"]
