"""Each way to attend equals a loop over heads, queries and the keys that may be read."""

import pytest
import torch

from engine.network.attention_kernels import masked_attention, softcapped_attention


def parts(queries: int, keys: int) -> list[torch.Tensor]:
    """Return queries of 6 heads, and keys and values of 2 groups."""
    generator = torch.Generator().manual_seed(3)
    sizes = ((6, queries), (2, keys), (2, keys))
    return [torch.randn(1, *size, 4, generator=generator) for size in sizes]


def assert_naive(found, q, k, v, keys_of, bounded=lambda dots: dots):
    """Compare with a loop; `keys_of` names the keys that a query may read."""
    for head in range(6):
        for query in range(q.shape[2]):
            keys = keys_of(query)
            dots = [0.3 * float(q[0, head, query] @ k[0, head // 3, s]) for s in keys]
            weights = torch.softmax(bounded(torch.tensor(dots)), dim=0)
            expected = sum(w * v[0, head // 3, s] for w, s in zip(weights, keys, strict=True))
            torch.testing.assert_close(found[0, query, head], expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_softcapped_attention_equals_a_naive_loop(masked):
    q, k, v = parts(5, 5)
    mask = torch.ones(5, 5, dtype=torch.bool).tril().triu(-2)[None, None] if masked else None
    found = softcapped_attention(q, k, v, mask, 0.3, 2.0)
    assert_naive(
        found,
        q,
        k,
        v,
        lambda query: [s for s in range(query + 1) if not masked or query - s <= 2],
        bounded=lambda dots: 2.0 * torch.tanh(dots / 2.0),
    )


@pytest.mark.parametrize("queries", [1, 2, 5])
def test_masked_attention_equals_a_naive_loop(queries):
    """The queries follow five tokens in a cache."""
    q, k, v = parts(queries, 5 + queries)
    mask = torch.ones(queries, 5 + queries, dtype=torch.bool).tril(5)[None, None]
    found = masked_attention(q, k, v, mask, 0.3)
    assert found.shape == (1, queries, 6, 4)
    assert_naive(found, q, k, v, lambda query: range(6 + query))
