"""What must hold for any input: random sizes, dtypes, empty batches, extreme scores, nan.

Hypothesis draws the cases, the same ones in each run.
"""

import itertools
import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lessons import assert_close, run_cells, transformer

from helpers import judge
from helpers.checks import common
from helpers.exercises import NOT_ATTEMPTED, RIGHT, WRONG
from helpers.puzzle import OBJECTS, WORDS, read, rule
from helpers.shapes import rounded

any_case = settings(
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],  # it tells of the machine, not of the cases
)
sizes = st.integers(1, 5)
seeds = st.integers(0, 2**16)
DenoiserInputs = run_cells(1, "tools", "vocabulary", "batch", "guards", "parts", "class")[
    "DenoiserInputs"
]
CausalAttention = run_cells(2, "tools", "parts", "class")["CausalAttention"]


def draw(seed, *shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


# ------------------------------------------------------------------ lesson 1
@any_case
@given(
    st.integers(0, 4), st.integers(0, 6), sizes, seeds, st.sampled_from([torch.int32, torch.int64])
)
def test_denoiser_inputs_are_linear_in_t_and_each_text_is_its_own(
    batch, length, d_model, seed, ids
):
    common.seed(seed)
    model = DenoiserInputs(7, 6, d_model, pad_id=0).double()
    x_t = torch.randint(0, 7, (batch, length)).to(ids)
    t = torch.rand(batch, dtype=torch.float64)
    h = model(x_t, t)
    assert h.shape == (batch, length, d_model)
    at_0, at_1 = model(x_t, 0 * t), model(x_t, 0 * t + 1)
    assert_close(h, at_0 + t[:, None, None] * (at_1 - at_0))
    turned = model(x_t.flip(0), t.flip(0))
    assert_close(turned, h.flip(0))
    transposed = x_t.T.contiguous().T
    assert torch.equal(model(transposed, t), h)


@any_case
@given(st.floats() | st.floats(0, 1), st.integers(-3, 9))
def test_denoiser_inputs_take_what_is_known_and_a_chance_and_name_the_rest(level, token):
    model = DenoiserInputs(7, 6, 3, pad_id=0).double()
    x_t, t = torch.tensor([[1, token]]), torch.tensor([level], dtype=torch.float64)
    if 0 <= level <= 1 and 0 <= token < 7:
        assert model(x_t, t).isfinite().all()
    else:
        with pytest.raises(ValueError, match=r"t holds|x_t holds the ID"):
            model(x_t, t)


# ------------------------------------------------------------------ lesson 2
@any_case
@given(st.integers(0, 3), st.integers(0, 6), sizes, sizes, seeds, st.floats(0.0, 1e4))
def test_attention_is_causal_and_each_text_is_its_own(batch, tokens, d_in, d_out, seed, size):
    common.seed(seed)
    model = CausalAttention(d_in, d_out, 6, dropout=0.0).double()
    x = size * draw(seed, batch, tokens, d_in, dtype=torch.float64)
    out = model(x)
    assert out.shape == (batch, tokens, d_out)
    assert out.isfinite().all()
    assert_close(model(x.flip(0)), out.flip(0))
    assert_close(model(x.mT.contiguous().mT), out)
    for cut in range(tokens):
        changed = x.clone()
        changed[:, cut:] = draw(seed + 1, batch, tokens - cut, d_in, dtype=torch.float64)
        assert_close(model(changed)[:, :cut], out[:, :cut])
        assert_close(model(x[:, :cut]), out[:, :cut])


@any_case
@given(st.integers(1, 6), sizes, seeds, st.floats(0.0, 1e4))
def test_attention_weights_are_shares(tokens, d_in, seed, size):
    """With values that are 1 everywhere, a mixture of them is 1: each row adds up to 1."""
    common.seed(seed)
    model = CausalAttention(d_in, 3, 6, dropout=0.0, qkv_bias=True).double()
    with torch.no_grad():
        model.W_value.weight.zero_()
        model.W_value.bias.fill_(1.0)
    out = model(size * draw(seed, 2, tokens, d_in, dtype=torch.float64))
    assert_close(out, torch.ones_like(out))


@any_case
@given(st.sampled_from([math.nan, math.inf, -math.inf]), st.integers(0, 3), seeds)
def test_a_broken_number_stays_in_its_text_and_is_seen(broken, token, seed):
    common.seed(seed)
    model = CausalAttention(4, 2, 6, dropout=0.0)
    x = draw(seed, 3, 4, 4)
    before = model(x)
    x[1, token, 0] = broken
    after = model(x)
    assert torch.equal(after[[0, 2]], before[[0, 2]])
    assert not after[1, token].isfinite().all()


# ------------------------------------------------------------------ lesson 3
@pytest.fixture(scope="module")
def names():
    return transformer()


def refusal(text):
    """What `read` says against a text; empty when it takes it."""
    try:
        read(text)
    except ValueError as error:
        return str(error)
    return ""


@any_case
@given(st.lists(st.sampled_from([*WORDS, "Craw", ""]), max_size=8))
def test_any_text_is_read_and_answered_rightly_or_refused_in_words(names, words):
    text = " ".join(words)
    if told := refusal(text):
        assert repr(text) in told
    else:
        known = read(text)
        assert known == [word for word in words if word]
        assert names["name_things"](names["solve"]([known])) == [rule(known)]


@any_case
@given(st.text())
def test_any_characters_are_read_or_refused_in_words(text):
    assert refusal(text) or set(read(text)) <= set(WORDS)


@any_case
@given(st.permutations(["Crow", "disobeys", "keep-flight", "swap-speech", "he-is?"]), seeds)
def test_without_positions_attention_follows_the_words(names, order, seed):
    X = names["word_table"][names["numbers"](order)]
    for head in itertools.chain(*names["LAYERS"]):
        weights, written = names["attend"](X, head)
        assert_close(weights.sum(-1), torch.ones(5))
        turn = torch.randperm(5, generator=torch.Generator().manual_seed(seed))
        assert_close(names["attend"](X[turn], head)[1], written[turn])


@any_case
@given(st.sampled_from(sorted(OBJECTS)), st.lists(st.sampled_from(WORDS[4:9]), max_size=6))
def test_two_disobeys_in_a_row_do_what_one_does(name, words):
    doubled = [w for word in words for w in ([word, word] if word == "disobeys" else [word])]
    assert rule([name, *words, "he-is?"]) == rule([name, *doubled, "he-is?"])


@any_case
@given(st.tuples(*[st.sampled_from([0.0, 1.0])] * 6), st.floats(-0.05, 0.05))
def test_parity_survives_a_leak(names, bits, leak):
    X2 = torch.zeros(1, 22)
    slots = [names["SLOTS"].index(slot) for slot in names["SCRATCH"][1:]]
    order = [bits[0], bits[3], *bits[1:3], *bits[4:6]]
    X2[0, slots] = torch.tensor(order) * (1 - leak)
    odd = torch.tensor([[sum(bits[:3]) % 2, sum(bits[3:]) % 2]])
    assert torch.equal(names["feed_forward"](X2).round().abs(), odd)


# ------------------------------------------------------------------ helpers
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text()
    | st.just(torch.zeros(22, 2)),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@any_case
@given(
    st.sampled_from(
        ["causal-attention", "denoiser-inputs", "previous-word-head", "parity", "patch"]
    ),
    anything,
)
def test_whatever_is_handed_in_gets_a_verdict(name, answer):
    verdict = judge(name, answer)
    assert verdict.state in (NOT_ATTEMPTED, WRONG, RIGHT)
    assert verdict.message


@any_case
@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_rounded_is_near_and_never_minus_zero(number, decimals):
    text = rounded(number, decimals)
    assert float(text) == pytest.approx(number, abs=0.51 * 10**-decimals)
    assert not (text.startswith("-") and float(text) == 0)
