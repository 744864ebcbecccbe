"""Lesson 2's `CausalAttention`, beyond what the lesson itself shows."""

import pytest
import torch
from lessons import assert_close, run_cells
from torch.nn import functional as F

from helpers.checks.common import seed

NAMES = run_cells(2, "tools", "parts", "class", "guarded")
CausalAttention, GuardedAttention = NAMES["CausalAttention"], NAMES["GuardedAttention"]
BOOK = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)
PUBLISHED = torch.tensor(
    [
        [-0.4519, 0.2216],
        [-0.5874, 0.0058],
        [-0.6300, -0.0632],
        [-0.5675, -0.0843],
        [-0.5526, -0.0981],
        [-0.5299, -0.1081],
    ]
)


def texts(batch=3, tokens=5, d_in=4, dtype=torch.float32):
    draw = torch.randn(batch, tokens, d_in, generator=torch.Generator().manual_seed(1))
    return draw.to(dtype)


def test_published_values_for_the_book_batch():
    torch.manual_seed(123)
    model = CausalAttention(3, 2, 6, 0.0)
    out = model(torch.stack((BOOK, BOOK)))
    assert out.shape == (2, 6, 2)
    assert_close(out, PUBLISHED.expand(2, 6, 2), atol=5e-5, rtol=0)


def test_layers_are_created_in_the_promised_order():
    torch.manual_seed(0)
    model = CausalAttention(4, 2, 8, 0.0, qkv_bias=True)
    torch.manual_seed(0)
    for layer in (model.W_query, model.W_key, model.W_value):
        expected = torch.nn.Linear(4, 2)
        assert torch.equal(layer.weight, expected.weight)
        assert torch.equal(layer.bias, expected.bias)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("batch", "tokens"), [(3, 5), (3, 8), (1, 1), (0, 5), (2, 0)])
@pytest.mark.parametrize("bias", [False, True])
def test_agrees_with_torchs_own_attention(dtype, batch, tokens, bias):
    seed(2)
    model = CausalAttention(4, 2, 8, 0.3, qkv_bias=bias).to(dtype).eval()
    x = texts(batch, tokens, dtype=dtype)
    q, k, v = model.W_query(x), model.W_key(x), model.W_value(x)
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert_close(model(x), expected)


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ((5, 4), r"\(5, 4\).*unsqueeze"),
        ((2, 3, 5, 4), r"\(2, 3, 5, 4\).*unsqueeze"),
        ((3, 5, 6), r"6.*d_in.*4"),
        ((3, 9, 4), r"9 tokens.*context_length is 8.*cut"),
    ],
)
def test_bad_input_names_the_value_and_the_fix(shape, told):
    with pytest.raises(ValueError, match=told):
        GuardedAttention(4, 2, 8, 0.0)(torch.zeros(shape))


def test_a_context_of_one_takes_one_token_only():
    model = GuardedAttention(4, 2, 1, 0.0)
    assert torch.equal(model(texts(tokens=1)), model.W_value(texts(tokens=1)))
    with pytest.raises(ValueError, match=r"2 tokens.*context_length is 1"):
        model(texts(tokens=2))


def test_the_mask_travels_and_is_not_learned():
    model = CausalAttention(4, 2, 8, 0.0)
    assert "mask" not in dict(model.named_parameters())
    assert torch.equal(model.state_dict()["mask"], torch.ones(8, 8).triu(1))
    assert model.to("meta").mask.device.type == "meta"
