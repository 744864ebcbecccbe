"""Lesson 2's checker against right answers in many forms and wrong answers of many kinds."""

import pytest
import torch
from lessons import (
    TIMED,
    Record,
    answers,
    assert_right,
    assert_wrong,
    right_then_changed,
    run_cells,
    solutions,
)
from torch import nn
from torch.nn import functional as F

from helpers import judge

RECORD = Record(
    before_solutions=("tools", "parts"),
    uncompared=["speed"],
    given={
        "projections-text": {"123": "a seed"},
        "cost-heading": {"60": "how many texts are timed"},
    },
    not_run_for_shapes={
        "patients-ab": "its shapes are wrong on purpose",
        "padding": "one axis name stands for texts of two lengths",
        "behind": "builds on the cell padding",
        "context-one": "one shape is wrong on purpose",
        "speed": TIMED,
    },
)

NAMES = run_cells(2, "tools", "parts", "class")
CausalAttention = NAMES["CausalAttention"]
INF = float("-inf")


def answer(forward):
    return type("Answer", (CausalAttention,), {"forward": forward})


def parts(self, x):
    return self.W_query(x), self.W_key(x), self.W_value(x)


def future(self, n):
    return self.mask[:n, :n].bool()


# ------------------------------------------------------------------ right, in other forms
def with_einsum(self, x):
    n = x.shape[1]
    q, k, v = parts(self, x)
    s = torch.einsum("bqd,bkd->bqk", q, k) / k.shape[-1] ** 0.5
    w = self.dropout(s.masked_fill(future(self, n), INF).softmax(-1))
    return torch.einsum("bqk,bkd->bqd", w, v)


def with_sdpa(self, x):
    p = self.dropout.p if self.training else 0.0
    return F.scaled_dot_product_attention(*parts(self, x), is_causal=True, dropout_p=p)


def with_large_fill(self, x):
    n = x.shape[1]
    q, k, v = parts(self, x)
    s = (q @ k.mT).masked_fill(future(self, n), -1e9)
    return self.dropout(torch.softmax(s / k.shape[-1] ** 0.5, dim=-1)) @ v


def with_smallest_fill(self, x):
    n = x.shape[1]
    q, k, v = parts(self, x)
    s = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
    s = s.masked_fill(future(self, n), torch.finfo(s.dtype).min)
    return self.dropout(torch.softmax(s, dim=2)) @ v


def with_late_mask_and_division(self, x):
    n = x.shape[1]
    q, k, v = parts(self, x)
    w = torch.softmax(q @ k.transpose(1, 2) / k.shape[-1] ** 0.5, dim=-1)
    w = w.masked_fill(future(self, n), 0.0)
    return self.dropout(w / w.sum(-1, keepdim=True)) @ v


def with_scaled_queries(self, x):
    n = x.shape[1]
    q, k, v = parts(self, x)
    s = (q * k.shape[-1] ** -0.5) @ k.transpose(1, 2)
    s = s + torch.full((n, n), INF, dtype=x.dtype, device=x.device).triu(1)
    return F.dropout(s.softmax(-1), self.dropout.p, self.training) @ v


def with_a_loop(self, x):
    return torch.stack([with_large_fill(self, text.unsqueeze(0))[0] for text in x])


def with_where(self, x):
    q, k, v = parts(self, x)
    place = torch.arange(x.shape[1], device=x.device)
    s = torch.where(place[:, None] >= place, q @ k.transpose(1, 2), INF)
    return self.dropout(F.softmax(s * (1 / k.size(-1)) ** 0.5, -1)).bmm(v)


def with_a_buffer_made_on_the_way(self, x):
    n = x.shape[1]
    self.register_buffer("future", torch.ones(n, n, device=x.device).triu(1).bool())
    q, k, v = parts(self, x)
    s = (q @ k.transpose(1, 2)).masked_fill(self.future, INF)
    return self.dropout(torch.softmax(s / k.shape[-1] ** 0.5, dim=-1)) @ v


def with_softmax_by_hand(self, x):
    q, k, v = parts(self, x)
    zeros = torch.zeros(1, 1, 1, dtype=x.dtype, device=x.device)
    s = torch.baddbmm(zeros, q, k.mT, alpha=k.shape[-1] ** -0.5)
    s = s.masked_fill(future(self, x.shape[1]), INF)
    e = (s - s.amax(-1, keepdim=True)).exp()
    return self.dropout(e / e.sum(-1, keepdim=True)) @ v


def with_places_marked_on_the_cpu(self, x):
    n = x.shape[1]
    q, k, v = parts(self, x)
    s = q @ k.mT / k.shape[-1] ** 0.5
    s[:, ones(n, 1)] = INF  # what is put to places may say them on the CPU
    return self.dropout(s.softmax(-1)) @ v


def with_a_mask_of_zeros_and_inf(self, x):
    n, p = x.shape[1], self.dropout.p if self.training else 0.0
    mask = nn.Transformer.generate_square_subsequent_mask(n, device=x.device, dtype=x.dtype)
    return F.scaled_dot_product_attention(*parts(self, x), attn_mask=mask, dropout_p=p)


def with_dropout_by_hand(self, x):
    def drop(w):
        stays = torch.rand_like(w) >= self.dropout.p
        return w * stays / (1 - self.dropout.p) if self.training else w

    return attend(self, x, drop=drop)


RIGHT = [
    with_places_marked_on_the_cpu,
    with_a_mask_of_zeros_and_inf,
    with_dropout_by_hand,
    with_a_buffer_made_on_the_way,
    with_softmax_by_hand,
    CausalAttention.forward,
    with_einsum,
    with_sdpa,
    with_large_fill,
    with_smallest_fill,
    with_late_mask_and_division,
    with_scaled_queries,
    with_a_loop,
    with_where,
]


@pytest.mark.parametrize("forward", RIGHT, ids=lambda f: f.__name__)
def test_right_answers_in_every_form_are_right(forward):
    verdict = judge("causal-attention", answer(forward))
    assert verdict.state == "right", verdict.message


def test_a_mask_in_a_parameter_that_is_not_learned_is_right():
    kept = keeping_its_mask(
        lambda self, mask: setattr(self, "mask", nn.Parameter(mask, requires_grad=False))
    )
    verdict = judge("causal-attention", kept)
    assert verdict.state == "right", verdict.message


# ------------------------------------------------------------------ wrong, of many kinds
def attend(
    self,
    x,
    *,
    mask=future,
    hide=lambda s, block: s.masked_fill(block, INF),
    width=lambda x, k: k.shape[-1] ** 0.5,
    softmax=lambda s: s.softmax(-1),
    drop=None,
    mix=lambda w, q, k, v, x: w @ v,
    scores=lambda q, k: q @ k.transpose(1, 2),
):
    """Attention with one step replaced."""
    q, k, v = parts(self, x)
    s = hide(scores(q, k), mask(self, x.shape[1]))
    w = softmax(s / width(x, k))
    return mix((drop or self.dropout)(w), q, k, v, x)


def wrong(**replaced):
    return answer(lambda self, x: attend(self, x, **replaced))


def late(self, x):
    q, k, v = parts(self, x)
    w = torch.softmax(q @ k.transpose(1, 2) / k.shape[-1] ** 0.5, dim=-1)
    return self.dropout(w.masked_fill(future(self, x.shape[1]), 0.0)) @ v


def lent_mask(self, x):
    p = self.dropout.p if self.training else 0.0
    mask = future(self, x.shape[1])
    return F.scaled_dot_product_attention(*parts(self, x), attn_mask=mask, dropout_p=p)


def early_dropout(self, x):
    q, k, v = parts(self, x)
    s = self.dropout(q @ k.transpose(1, 2)).masked_fill(future(self, x.shape[1]), INF)
    return torch.softmax(s / k.shape[-1] ** 0.5, dim=-1) @ v


def dropout_between(self, x):
    q, k, v = parts(self, x)
    s = self.dropout((q @ k.transpose(1, 2)).masked_fill(future(self, x.shape[1]), INF))
    return torch.softmax(s / k.shape[-1] ** 0.5, dim=-1) @ v


def changes_its_input(self, x):
    out = attend(self, x)
    x.mul_(2)
    return out


def keeps_a_count(self, x):
    self.mask.add_(1)
    return attend(self, x)


def keeps_its_mask(self, x):
    if not hasattr(self, "kept"):
        self.kept = ones(x.shape[1], 1)
    return attend(self, x, mask=lambda self, n: self.kept)


def without_biases(self, x):
    q, k, v = (x @ part.weight.T for part in (self.W_query, self.W_key, self.W_value))
    block = future(self, x.shape[1])
    s = (q @ k.transpose(1, 2)).masked_fill(block, INF) / k.shape[-1] ** 0.5
    return self.dropout(s.softmax(-1)) @ v


def drops(drop):
    """Attention with a dropout of its own in training, `drop(weights, p)`."""

    def forward(self, x):
        p = self.dropout.p
        return attend(self, x, drop=lambda w: drop(w, p) if self.training and p else w)

    return answer(forward)


def keeping_its_mask(keep):
    """An answer that keeps its mask as `keep` does, in place of the buffer."""

    class Answer(CausalAttention):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            mask = self._buffers.pop("mask")
            keep(self, mask)

    return Answer


def followed_by(layer):
    """An answer that hands its output to one more layer."""

    class Answer(CausalAttention):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.last = layer(sizes[1])

        def forward(self, x):
            return self.last(super().forward(x))

    return Answer


def mask_of_another_device(self, x):
    mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1]).to(x.dtype)
    p = self.dropout.p if self.training else 0.0
    return F.scaled_dot_product_attention(*parts(self, x), attn_mask=mask, dropout_p=p)


def masked_in_eval_only(self, x):
    return attend(self, x, hide=lambda s, block: s if self.training else s.masked_fill(block, INF))


def mixed_in_training_only(self, x):
    return attend(self, x - x.mean(0) if self.training else x)


def hides_the_first(self, n):
    mask = ones(n, 1)
    mask[0, 0] = True
    return mask


def shared(weights):
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-6)


def ones(n, diagonal):
    return torch.ones(n, n).triu(diagonal).bool()


def mask_not_kept(self, x):
    def hide(scores, block):
        scores.masked_fill(block, INF)
        return scores

    return attend(self, x, hide=hide)


def keys_first(self, x):
    queries, keys, values = parts(self, x)
    return keys, queries, values


# What was written, and a piece of the question that fits it.
def returns_nothing(self, x):
    parts(self, x)


WRONG = {
    "nothing returned": (answer(returns_nothing), "Which line hands the result back"),
    # The ten of the project's list.
    "softmax over the query axis": (wrong(softmax=lambda s: s.softmax(1)), "which axis of"),
    "blocked scores filled with 0": (
        wrong(hide=lambda s, block: s.masked_fill(block, 0.0)),
        "What is exp(0)",
    ),
    "wrong triangle": (
        wrong(mask=lambda self, n: self.mask[:n, :n] == 0),
        "what may be seen or what must be hidden",
    ),
    "the token hides itself": (
        wrong(mask=lambda self, n: ones(n, 0)),
        "What may the first token look at",
    ),
    "mask applied to the weights": (answer(late), "who kept the missing share"),
    "0/1 mask added to the scores": (
        wrong(hide=lambda s, block: s + block.float()),
        "does that hide the token",
    ),
    "scaled by the input width": (
        wrong(width=lambda x, k: x.shape[-1] ** 0.5),
        "as many terms as a key has entries",
    ),
    "mask not cut to the input": (wrong(mask=lambda self, n: self.mask.bool()), "Try four tokens"),
    "SDPA with our mask": (answer(lent_mask), "what does True mean"),
    "weights times the keys": (
        wrong(mix=lambda w, q, k, v, x: w @ k),
        "have you not used yet",
    ),
    # More of the same kinds.
    "no mask": (wrong(hide=lambda s, block: s), "changes the scores of the future"),
    "mask made and not kept": (answer(mask_not_kept), "is what it makes kept"),
    "SDPA without a mask": (
        answer(lambda self, x: F.scaled_dot_product_attention(*parts(self, x))),
        "changes the scores of the future",
    ),
    "SDPA without dropout": (
        answer(lambda self, x: F.scaled_dot_product_attention(*parts(self, x), is_causal=True)),
        "acts in training only",
    ),
    "SDPA with keys first": (
        answer(
            lambda self, x: F.scaled_dot_product_attention(*keys_first(self, x), is_causal=True)
        ),
        "who asks",
    ),
    "infinity without its sign": (
        wrong(hide=lambda s, block: s.masked_fill(block, -INF)),
        "a very large one, or a very small one",
    ),
    "a fill of -100": (
        wrong(hide=lambda s, block: s.masked_fill(block, -100.0)),
        "however low the other scores are",
    ),
    "eight written out": (
        wrong(mask=lambda self, n: self.mask.new_ones(8, 8).triu(1)[:n, :n].bool()),
        "Where does your code read context_length",
    ),
    "a root of 2 written out": (
        wrong(width=lambda x, k: 2**0.5),
        "as many terms as a key has entries",
    ),
    "scaled by the tokens": (
        wrong(width=lambda x, k: x.shape[1] ** 0.5),
        "as many terms as a key has entries",
    ),
    "scaled after softmax": (
        answer(lambda self, x: attend(self, x) / self.W_key.out_features**0.5),
        "what happens to them, or to the context",
    ),
    "values added": (
        answer(lambda self, x: attend(self, x) + self.W_value(x)),
        "what happens to them, or to the context",
    ),
    "scores made 0, softmax kept": (
        wrong(hide=lambda s, block: s.tril()),
        "What is exp(0)",
    ),
    "softmax twice": (wrong(softmax=lambda s: s.softmax(-1).softmax(-1)), "*last* softmax"),
    "mask multiplied": (wrong(hide=lambda s, block: s * ~block), "What is exp(0)"),
    "texts in a batch of three": (
        answer(lambda self, x: attend(self, x).reshape(3, -1, 2)),
        "as wide as which projection",
    ),
    "weights turned": (wrong(mix=lambda w, q, k, v, x: w.mT @ v), "In the mix"),
    "values in reverse": (wrong(mix=lambda w, q, k, v, x: v.mT @ w), "as wide as which"),
    "one token ahead is open": (
        wrong(mask=lambda self, n: ones(n, 2)),
        "first key that it blocks",
    ),
    "finite fill": (wrong(hide=lambda s, block: s.masked_fill(block, -3.0)), "What is exp(0)"),
    "wrong triangle, finite": (
        wrong(
            mask=lambda self, n: self.mask[:n, :n] == 0,
            hide=lambda s, block: s.masked_fill(block, -1e9),
        ),
        "what may be seen or what must be hidden",
    ),
    "hides itself, finite": (
        wrong(mask=lambda self, n: ones(n, 0), hide=lambda s, block: s.masked_fill(block, -1e9)),
        "What may the first token look at",
    ),
    "mask subtracted once": (
        wrong(hide=lambda s, block: s - block.float()),
        "does that hide the token",
    ),
    "sees only itself": (
        wrong(mask=lambda self, n: ~torch.eye(n).bool()),
        "Which earlier tokens",
    ),
    "sees two tokens back": (
        wrong(mask=lambda self, n: ones(n, 1) | torch.ones(n, n).tril(-3).bool()),
        "Which earlier tokens",
    ),
    "not scaled": (wrong(width=lambda x, k: 1.0), "as many terms as a key has entries"),
    "scaled by ** 1 / 2": (
        wrong(width=lambda x, k: k.shape[-1] ** 1 / 2),
        "as many terms as a key has entries",
    ),
    "scaled by the batch": (
        wrong(width=lambda x, k: x.shape[0] ** 0.5),
        "as many terms as a key has entries",
    ),
    "scaled a little too much": (
        wrong(width=lambda x, k: 1.01 * k.shape[-1] ** 0.5),
        "as many terms as a key has entries",
    ),
    "scores cut off at one": (
        wrong(softmax=lambda s: s.clamp(max=1.0).softmax(-1)),
        "Read each step aloud",
    ),
    "outputs cut off at one half": (
        wrong(mix=lambda w, q, k, v, x: (w @ v).clamp(max=0.5)),
        "What else happens",
    ),
    "multiplied by the scale": (
        wrong(width=lambda x, k: k.shape[-1] ** -0.5),
        "as many terms as a key has entries",
    ),
    "keys ask queries": (wrong(scores=lambda q, k: k @ q.transpose(1, 2)), "who asks"),
    "keys not turned": (wrong(scores=lambda q, k: q @ k), "must change places"),
    "batch turned": (wrong(scores=lambda q, k: q @ k.transpose(0, 1)), "must change places"),
    "keys reshaped, not turned": (
        wrong(scores=lambda q, k: q @ k.reshape(k.shape[0], k.shape[2], k.shape[1])),
        "turn it",
    ),
    "queries used twice": (wrong(scores=lambda q, k: q @ q.mT), "have you not used yet"),
    "softmax over the batch": (wrong(softmax=lambda s: s.softmax(0)), "which axis of"),
    "batch averaged": (
        wrong(softmax=lambda s: s.mean(0, keepdim=True).expand_as(s).softmax(-1)),
        "Which axis is the batch",
    ),
    "no softmax": (
        wrong(softmax=lambda s: s, hide=lambda s, block: s.masked_fill(block, 0.0)),
        "shares that add up to 1",
    ),
    "multiplied by the sum": (
        wrong(softmax=lambda s: s.exp() * s.exp().sum(-1, keepdim=True)),
        "shares that add up to 1",
    ),
    "sigmoid for softmax": (wrong(softmax=torch.sigmoid), "know of the others"),
    "weights returned": (wrong(mix=lambda w, q, k, v, x: w), "as wide as which projection"),
    "input mixed, not values": (
        wrong(mix=lambda w, q, k, v, x: w @ x),
        "as wide as which projection",
    ),
    "two results": (wrong(mix=lambda w, q, k, v, x: (w @ v, w)), "takes one tensor"),
    "survivors divided by p": (
        drops(lambda w, p: w * (torch.rand_like(w) >= p) / p),
        "By how much must the survivors grow",
    ),
    "survivors doubled": (
        drops(lambda w, p: 2 * w * (torch.rand_like(w) >= p)),
        "By how much must the survivors grow",
    ),
    "p is the chance to stay": (
        drops(lambda w, p: w * (torch.rand_like(w) < p) / p),
        "Is p the chance to fall or to stay",
    ),
    "p is the chance to stay, divided by the other": (
        drops(lambda w, p: w * (torch.rand_like(w) < p) / (1 - p)),
        "Is p the chance to fall or to stay",
    ),
    "one half, whatever p": (drops(lambda w, p: F.dropout(w)), "and where does forward read it"),
    "everything dropped": (drops(lambda w, p: 0 * w), "Is p the chance to fall or to stay"),
    "no dropout": (wrong(drop=lambda w: w), "acts in training only"),
    "dropout always on": (
        wrong(drop=lambda w: F.dropout(w, 0.5, True)),
        "In eval mode nothing is random",
    ),
    "dropout without rescaling": (
        answer(
            lambda self, x: attend(
                self,
                x,
                drop=lambda w: w * (torch.rand_like(w) >= self.dropout.p) if self.training else w,
            )
        ),
        "survivors grow",
    ),
    "dropout on raw scores": (answer(early_dropout), "does yours, and on what"),
    "dropout between mask and softmax": (answer(dropout_between), "normalized already"),
    "dropout on the context": (
        answer(lambda self, x: self.dropout(attend(self, x, drop=lambda w: w))),
        "who is looked at",
    ),
    "dropout on the values": (
        answer(
            lambda self, x: attend(
                self, x, drop=lambda w: w, mix=lambda w, q, k, v, x: w @ self.dropout(v)
            )
        ),
        "who is looked at",
    ),
    "its own dropout of one half": (
        answer(
            lambda self, x: attend(self, x, drop=lambda w: F.dropout(w, training=self.training))
        ),
        "Which number says how much is dropped",
    ),
    "a mask for three texts": (
        wrong(mask=lambda self, n: ones(n, 1).expand(3, n, n)),
        "how many texts travel together",
    ),
    "mask kept from the first call": (answer(keeps_its_mask), "how large was the first text"),
    "mask times infinity": (
        wrong(hide=lambda s, block: s + block.float() * INF),
        "What is 0 times infinity",
    ),
    "values of item 0 for all": (
        wrong(mix=lambda w, q, k, v, x: w @ v[:1]),
        "Which axis is the batch",
    ),
    "no gradient at all": (answer(lambda self, x: attend(self, x).detach()), "What cuts the graph"),
    "no gradient in training": (
        answer(lambda self, x: attend(self, x).detach() if self.training else attend(self, x)),
        "What cuts the graph",
    ),
    "no gradient of the weights in training": (
        drops(lambda w, p: F.dropout(w, p).detach()),
        "What cuts the graph",
    ),
    "no gradient of the values in training": (
        answer(
            lambda self, x: attend(
                self, x, mix=lambda w, q, k, v, x: w @ (v.detach() if self.training else v)
            )
        ),
        "What cuts the graph",
    ),
    "half of the gradient": (
        wrong(mix=lambda w, q, k, v, x: (w + w.detach()) / 2 @ v),
        "What cuts the graph",
    ),
    "half of the gradient in training": (
        answer(
            lambda self, x: attend(
                self,
                x,
                mix=lambda w, q, k, v, x: ((w + w.detach()) / 2 if self.training else w) @ v,
            )
        ),
        "What cuts the graph",
    ),
    "tokens of zeros skipped": (
        answer(lambda self, x: attend(self, x) * (x != 0).any(-1, keepdim=True)),
        "A token of zeros is a token",
    ),
    "tokens of zeros taken for padding": (
        answer(
            lambda self, x: attend(
                self, x, mask=lambda self, n: future(self, n) | (x == 0).all(-1)[:, None, :]
            )
        ),
        "A token of zeros is a token",
    ),
    "scores of zero hidden": (
        wrong(hide=lambda s, block: s.masked_fill(block, 0.0).masked_fill(block | (s == 0), INF)),
        "A token of zeros is a token",
    ),
    "mask on the default device": (wrong(mask=lambda self, n: ones(n, 1)), "model.to('cuda')"),
    "mask on the default device, for SDPA": (answer(mask_of_another_device), "model.to('cuda')"),
    "mask in a plain attribute": (
        keeping_its_mask(lambda self, mask: setattr(self, "mask", mask)),
        "parameters and buffers only",
    ),
    "mask in a parameter": (
        keeping_its_mask(lambda self, mask: setattr(self, "mask", nn.Parameter(mask.float()))),
        "What is learned here",
    ),
    "output projected": (followed_by(lambda d: nn.Linear(d, d)), "What is learned here"),
    "output normalized": (followed_by(nn.LayerNorm), "What is learned here"),
    "output normalized without weights": (
        followed_by(lambda d: nn.LayerNorm(d, elementwise_affine=False)),
        "What else happens",
    ),
    "masked in eval mode only": (answer(masked_in_eval_only), "By which way can a later token"),
    "batch mixed in training only": (answer(mixed_in_training_only), "Which axis is the batch"),
    "first token hidden, finite": (
        wrong(mask=hides_the_first, hide=lambda s, block: s.masked_fill(block, -1e9)),
        "Is its own place among the blocked",
    ),
    "hides itself, nan made 0": (
        wrong(mask=lambda self, n: ones(n, 0), softmax=lambda s: s.softmax(-1).nan_to_num(0.0)),
        "a row of nothing but -inf",
    ),
    "softmax without an axis": (wrong(softmax=lambda s: F.softmax(s)), "which axis of"),
    "softmax over the batch, finite": (
        wrong(hide=lambda s, block: s.masked_fill(block, -1e9), softmax=lambda s: s.softmax(0)),
        "which axis of",
    ),
    "mask not boolean, by name": (
        wrong(hide=lambda s, block: s.masked_fill(mask=block.float(), value=INF)),
        "which dtype is expected",
    ),
    "a mask too large": (wrong(mask=lambda self, n: ones(n + 1, 1)), "what does that line expect"),
    "a view of turned axes": (
        wrong(mix=lambda w, q, k, v, x: (w @ v).mT.view(v.shape)),
        "what does that line expect",
    ),
    "values turned": (wrong(mix=lambda w, q, k, v, x: w @ v.mT), "must change places"),
    "no gradient of the input": (
        answer(lambda self, x: attend(self, x.detach())),
        "What cuts the graph",
    ),
    "always in float32": (
        answer(lambda self, x: attend(self, x).float()),
        "What is different here",
    ),
    "biases left out": (answer(without_biases), "What is different here"),
    "one token's axis squeezed": (
        answer(lambda self, x: attend(self, x).squeeze(1)),
        "which axis is gone",
    ),
    "large inputs scaled down together": (
        answer(lambda self, x: attend(self, x / (x.abs().max() / 5).clamp(min=1))),
        "By which way can a later token",
    ),
    "scaled in eval mode": (
        answer(
            lambda self, x: attend(
                self,
                x,
                drop=lambda w: self.dropout(w) if self.training else w * (1 - self.dropout.p),
            )
        ),
        "what is left to do in eval mode",
    ),
    "survivors share what has fallen": (
        answer(lambda self, x: attend(self, x, drop=lambda w: shared(self.dropout(w)))),
        "with the weights after dropout",
    ),
    "no gradient": (wrong(mix=lambda w, q, k, v, x: w.detach() @ v), "cuts the graph"),
    "input changed": (answer(changes_its_input), "still draws or changes"),
    "mask changed": (answer(keeps_a_count), "still draws or changes"),
    "mask not boolean": (
        wrong(mask=lambda self, n: self.mask[:n, :n]),
        "which dtype is expected",
    ),
    "a misspelled name": (
        answer(lambda self, x: self.W_queries(x)),
        "Which name, attribute or argument",
    ),
    "an instance": (CausalAttention(4, 2, 8, 0.0), "handed in the class"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_told_as_wrong_with_a_fitting_question(name):
    assert_wrong("causal-attention", *WRONG[name])


def not_written(self, x):
    raise NotImplementedError("your code here")


@pytest.mark.parametrize("stub", [not_written, lambda self, x: None, lambda self, x: ...])
def test_a_stub_is_not_attempted(stub):
    assert judge("causal-attention", answer(stub)).state == "not attempted"


def test_a_class_without_forward_is_not_attempted():
    class Bare(nn.Module):
        def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
            super().__init__()
            self.W_query = self.W_key = self.W_value = nn.Linear(d_in, d_out)

    assert judge("causal-attention", Bare).state == "not attempted"


# ------------------------------------------------------------------ the smaller exercises
@pytest.mark.parametrize("name", answers(2))
def test_each_printed_solution_is_right(name):
    names = run_cells(2, *RECORD.before_solutions)
    exec(solutions(2)[name], names)
    assert_right(name, names[answers(2)[name]])


FORECAST = {
    "queries": (4, 7, 3),
    "turned keys": (4, 3, 7),
    "scores": (4, 7, 7),
    "weights": (4, 7, 7),
    "context vectors": (4, 7, 3),
}
CAUSES = {
    "A": "projection",
    "B": "query/key mismatch",
    "C": "transpose",
    "D": "not in the shapes",
}


def changed_to(value, model, x):
    """A peek test that puts one value into all tokens from each cut on."""
    for cut in range(1, x.shape[1]):
        changed = x.clone()
        changed[:, cut:] = value
        if not torch.allclose(model(changed)[:, :cut], model(x)[:, :cut], atol=1e-6):
            return True
    return False


def peeks(model, x, cuts=None, watched=slice, times=2, plus=1):
    """Right: for each cut, the outputs before it, with all tokens from it on changed."""
    before = model(x)
    for cut in cuts or range(1, x.shape[1]):
        changed = torch.cat([x[:, :cut], x[:, cut:] * times + plus], dim=1)
        moved = (model(changed) - before)[:, watched(cut)]
        if moved.numel() and moved.abs().max() > 1e-6:
            return True
    return False


def nothing_for_false(model, x):
    if peeks(model, x):
        return True


def open_mask(n):
    return torch.zeros(n, n)


def says_nothing(model, x):
    for n in range(1, x.shape[1]):
        torch.allclose(model(x[:, :n]), model(x)[:, :n], atol=1e-6)


SMALL_WRONG = {
    "nothing said": ("peek-test", says_nothing, "Which line hands the result back"),
    "printed": ("future-mask", lambda n: print(torch.ones(n, n).triu(1)), "Can anybody compute"),
    "input width kept": ("shape-forecast", {**FORECAST, "queries": (4, 7, 5)}, "does a projection"),
    "tokens lost": ("shape-forecast", {**FORECAST, "queries": (4, 5, 3)}, "does a projection"),
    "batch forgotten": ("shape-forecast", {**FORECAST, "queries": (7, 3)}, "which axis is missing"),
    "one text's scores": (
        "shape-forecast",
        {**FORECAST, "scores": (7, 7)},
        "which axis is missing",
    ),
    "a number for each pair and width": (
        "shape-forecast",
        {**FORECAST, "scores": (4, 7, 7, 3)},
        "or one too many",
    ),
    "one share for each token": (
        "shape-forecast",
        {**FORECAST, "weights": (4, 7)},
        "which axis is missing",
    ),
    "sums in place of shares": (
        "shape-forecast",
        {**FORECAST, "weights": (4, 7, 1)},
        "only rescale",
    ),
    "keys not turned": ("shape-forecast", {**FORECAST, "turned keys": (4, 7, 3)}, "two axes"),
    "batch turned": ("shape-forecast", {**FORECAST, "turned keys": (7, 4, 3)}, "two axes"),
    "texts and tokens exchanged": (
        "shape-forecast",
        {**FORECAST, "scores": (4, 4, 7)},
        "each pair of what",
    ),
    "context as wide as the input": (
        "shape-forecast",
        {**FORECAST, "context vectors": (4, 7, 5)},
        "how wide is one value",
    ),
    "one context for each text": (
        "shape-forecast",
        {**FORECAST, "context vectors": (4, 3)},
        "which axis is missing",
    ),
    "shapes in quotes": ("shape-forecast", {**FORECAST, "queries": "4 x 7 x 3"}, "One tuple"),
    "numbers in quotes": ("shape-forecast", {**FORECAST, "queries": ("4", "7", "3")}, "One tuple"),
    "a number left open": ("shape-forecast", {**FORECAST, "scores": (4, None, 7)}, "One tuple"),
    "all axes turned": ("shape-forecast", {**FORECAST, "turned keys": (3, 7, 4)}, "two axes"),
    "scores by width": ("shape-forecast", {**FORECAST, "scores": (4, 3, 3)}, "each pair"),
    "weights by width": ("shape-forecast", {**FORECAST, "weights": (4, 7, 3)}, "only rescale"),
    "a value for each word": (
        "shape-forecast",
        {**FORECAST, "context vectors": (4, 7, 7)},
        "how wide is one value",
    ),
    "one left open": ("shape-forecast", {**FORECAST, "weights": None}, "which is missing"),
    "a number": ("shape-forecast", {**FORECAST, "weights": 7}, "One tuple"),
    "a list of shapes": ("shape-forecast", [(4, 7, 3)], "which is missing"),
    "A blamed on the transpose": ("clinic", {**CAUSES, "A": "transpose"}, "sets that width"),
    "B blamed on a layer": ("clinic", {**CAUSES, "B": "projection"}, "how many tokens ask"),
    "C blamed on a layer": ("clinic", {**CAUSES, "C": "projection"}, "multiplied away"),
    "D blamed on the transpose": ("clinic", {**CAUSES, "D": "transpose"}, "any row"),
    "C left open": ("clinic", {**CAUSES, "C": None}, "which is missing"),
    "a cause of one's own": ("clinic", {**CAUSES, "C": "softmax"}, "which is missing"),
    "A blamed on a mismatch": ("clinic", {**CAUSES, "A": CAUSES["B"]}, "sets that width"),
    "A found in order": ("clinic", {**CAUSES, "A": CAUSES["D"]}, "sets that width"),
    "B blamed on the transpose": ("clinic", {**CAUSES, "B": "transpose"}, "how many tokens ask"),
    "B found in order": ("clinic", {**CAUSES, "B": CAUSES["D"]}, "how many tokens ask"),
    "C blamed on a mismatch": ("clinic", {**CAUSES, "C": CAUSES["B"]}, "multiplied away"),
    "C found in order": ("clinic", {**CAUSES, "C": CAUSES["D"]}, "multiplied away"),
    "D blamed on a layer": ("clinic", {**CAUSES, "D": "projection"}, "any row"),
    "D blamed on a mismatch": ("clinic", {**CAUSES, "D": CAUSES["B"]}, "any row"),
    "a large letter": ("clinic", {**CAUSES, "A": "Projection"}, "none of the four"),
    "two causes at once": ("clinic", {**CAUSES, "A": ["projection", "transpose"]}, "none of the"),
    "causes without patients": ("clinic", [*CAUSES.values()], "One of the four causes"),
    "a tensor for a cause": ("clinic", {**CAUSES, "A": torch.ones(2, 2)}, "none of the four"),
    "diagonal blocked": ("future-mask", lambda n: torch.ones(n, n).triu(0), "look at itself"),
    "past blocked": ("future-mask", lambda n: torch.ones(n, n).tril(-1), "future of row 0"),
    "past open": ("future-mask", lambda n: torch.ones(n, n).tril(), "which places do yours mark"),
    "inverted by exp": (
        "future-mask",
        lambda n: torch.full((n, n), INF).triu(1).exp(),
        "which places do yours mark",
    ),
    "all blocked": ("future-mask", lambda n: torch.ones(n, n), "look at itself"),
    "only itself blocked": ("future-mask", torch.eye, "look at itself"),
    "only itself open": ("future-mask", lambda n: 1 - torch.eye(n), "the past of that row"),
    "columns ask": ("future-mask", lambda n: torch.ones(n, n).triu(1).T, "future of row 0"),
    "only the next token": (
        "future-mask",
        lambda n: torch.ones(n - 1).diag(1),
        "future of row 0",
    ),
    "one row for all": ("future-mask", lambda n: torch.arange(n) > 0, "can be asked"),
    "an axis for the batch": (
        "future-mask",
        lambda n: torch.ones(1, n, n).triu(1),
        "can be asked",
    ),
    "the places, not the mask": (
        "future-mask",
        lambda n: torch.ones(n, n).triu(1).nonzero(),
        "can be asked",
    ),
    "zero times infinity": ("future-mask", lambda n: torch.ones(n, n).triu(1) * INF, "0 times inf"),
    "an array": ("future-mask", lambda n: torch.ones(n, n).triu(1).numpy(), "what must a mask be"),
    "no matrix to cut": ("future-mask", lambda n: torch.ones(n).triu(1), "Read the error"),
    "the mask of one length": ("future-mask", torch.ones(5, 5).triu(1), "wants a function of"),
    "one ahead open": ("future-mask", lambda n: torch.ones(n, n).triu(2), "future of row 0"),
    "nothing blocked": ("future-mask", open_mask, "future of row 0"),
    "size forgotten": ("future-mask", lambda n: torch.ones(5, 5).triu(1), "can be asked"),
    "five tokens at most": (
        "future-mask",
        lambda n: torch.ones(5, 5).triu(1)[:n, :n],
        "can be asked",
    ),
    "a mask for five tokens": (
        "sdpa-mask",
        lambda mask: ~torch.ones(5, 5).triu(1).bool()[: len(mask), : len(mask)],
        "whose size does your mask have",
    ),
    "a list": ("future-mask", lambda n: [[0] * n] * n, "what must a mask be"),
    "crash": ("peek-test", lambda model, x: 1 / 0, "Read the error"),
    "always yes": ("peek-test", lambda model, x: True, "how often must the model run"),
    "always no": ("peek-test", lambda model, x: False, "how often must the model run"),
    "nothing said of honest models": ("peek-test", nothing_for_false, "when it finds nothing"),
    "in quotes": ("peek-test", lambda *lent: str(peeks(*lent)), "What does your test return"),
    "in a list": ("peek-test", lambda *lent: [peeks(*lent)], "What does your test return"),
    "a tensor of two": (
        "peek-test",
        lambda *lent: peeks(*lent) * torch.ones(2),
        "What does your test return",
    ),
    "how many": (
        "peek-test",
        lambda *lent: sum(peeks(*lent, cuts=[cut]) for cut in range(1, 5)),
        "What does your test return",
    ),
    "turned over": ("peek-test", lambda *lent: not peeks(*lent), "What does `True` say"),
    "the changed token watched": (
        "peek-test",
        lambda *lent: peeks(*lent, watched=lambda cut: slice(cut + 1)),
        "before the changed",
    ),
    "outputs after the cut": (
        "peek-test",
        lambda *lent: peeks(*lent, watched=lambda cut: slice(cut, None)),
        "before the changed",
    ),
    "the first cut only": ("peek-test", lambda *lent: peeks(*lent, cuts=[1]), "All of them"),
    "token 0 watched only": (
        "peek-test",
        lambda *lent: peeks(*lent, watched=lambda cut: slice(1)),
        "All of them",
    ),
    "four cuts written out": (
        "peek-test",
        lambda *lent: peeks(*lent, cuts=[1, 2, 3, 4]),
        "All of them",
    ),
    "nothing changed": ("peek-test", lambda *lent: peeks(*lent, times=1, plus=0), "do you change"),
    "one run": (
        "peek-test",
        lambda model, x: bool(model(x)[:, 0].abs().sum() > 9),
        "how often must the model run",
    ),
    "all outputs compared": (
        "peek-test",
        lambda model, x: not torch.allclose(model(x), model(x.flip(1))),
        "before the changed",
    ),
    "last token only": (
        "peek-test",
        lambda model, x: (
            not torch.allclose(
                model(x)[:, :-1], model(torch.cat([x[:, :-1], x[:, -1:] + 1], 1))[:, :-1], atol=1e-6
            )
        ),
        "All of them",
    ),
    "last token only, roughly": (
        "peek-test",
        lambda model, x: (
            not torch.allclose(
                model(x)[:, :-1], model(torch.cat([x[:, :-1], x[:, -1:] + 1], 1))[:, :-1], atol=0.01
            )
        ),
        "Which tokens do you change",
    ),
    "the mask looked at": (
        "peek-test",
        lambda model, x: not model.blocked[0, 1:].all(),
        "how often must the model run",
    ),
    "the mask compared": (
        "peek-test",
        lambda model, x: (
            not torch.equal(model(x), model(x.clone())) or not model.blocked[0, 1:].all()
        ),
        "What else does a future token take part in",
    ),
    "shape only": (
        "peek-test",
        lambda model, x: model(x).shape != x.shape,
        "how often must the model run",
    ),
    "nan as the changed token": (
        "peek-test",
        lambda model, x: changed_to(float("nan"), model, x),
        "What is 0 times nan",
    ),
    "infinity as the changed token": (
        "peek-test",
        lambda model, x: changed_to(float("inf"), model, x),
        "What is 0 times nan",
    ),
    "input changed": ("peek-test", lambda model, x: bool(x.mul_(2).sum()), "writes into it"),
    "a mask of numbers as booleans": (
        "sdpa-mask",
        lambda mask: torch.zeros(mask.shape).masked_fill(mask, INF),
        "Read the error",
    ),
    "the future, whatever is given": (
        "sdpa-mask",
        lambda mask: torch.ones_like(mask).tril().bool(),
        "where does your code use it",
    ),
    "nothing of itself": (
        "sdpa-mask",
        lambda mask: torch.ones(mask.shape).tril(-1) > 0,
        "May a token look at itself",
    ),
    "turned only": ("sdpa-mask", lambda mask: mask.T.bool(), "May a token look at itself"),
    "inverted and turned": ("sdpa-mask", lambda mask: ~mask.T.bool(), "who asks in yours"),
    "handed on": ("sdpa-mask", lambda mask: mask, "True mean"),
    "everything hidden": ("sdpa-mask", lambda mask: torch.zeros(mask.shape).bool(), "True mean"),
    "times minus infinity": ("sdpa-mask", lambda mask: mask.float() * INF, "0 times infinity"),
    "plus infinity": (
        "sdpa-mask",
        lambda mask: torch.zeros(mask.shape).masked_fill(mask.bool(), -INF),
        "is added to the scores",
    ),
    "minus one": ("sdpa-mask", lambda mask: -mask.float(), "is added to the scores"),
    "inverted in place": ("sdpa-mask", lambda mask: mask.logical_not_(), "Which two kinds of mask"),
    "minus infinity for masks of numbers, where open": (
        "sdpa-mask",
        lambda mask: (
            ~mask
            if mask.dtype == torch.bool
            else torch.zeros(mask.shape).masked_fill(mask == 0, INF)
        ),
        "what is added where nobody may look",
    ),
    "in double": (
        "sdpa-mask",
        lambda mask: torch.zeros(mask.shape).double().masked_fill(mask.bool(), INF),
        "which kind is yours",
    ),
    "one row": ("sdpa-mask", lambda mask: ~mask.bool()[0], "whose size"),
    "an axis in the middle": ("sdpa-mask", lambda mask: ~mask.bool()[:, None], "whose size"),
    "is_causal in place of a mask": ("sdpa-mask", lambda mask: True, "a plain tensor"),
    "one minus a mask": ("sdpa-mask", lambda mask: 1 - mask, "Read the error"),
    "everything open": ("sdpa-mask", lambda mask: torch.ones(mask.shape).bool(), "True mean"),
    "minus infinity where open": (
        "sdpa-mask",
        lambda mask: torch.zeros(mask.shape).masked_fill(~mask.bool(), INF),
        "is added to the scores",
    ),
    "inverted as numbers": ("sdpa-mask", lambda mask: 1 - mask.int(), "which kind is yours"),
    "mask as it is": ("sdpa-mask", lambda mask: mask.bool(), "True mean"),
    "float for bool": ("sdpa-mask", lambda mask: 1 - mask.float(), "is added to the scores"),
}


@pytest.mark.parametrize("name", SMALL_WRONG)
def test_wrong_small_answers_get_a_fitting_question(name):
    assert_wrong(*SMALL_WRONG[name])


def by_prefixes(model, x):
    """Peeking shows in another way too: the output for a beginning changes with what follows."""
    for n in range(1, x.shape[1]):
        if not torch.allclose(model(x[:, :n]), model(x)[:, :n], atol=1e-6):
            return True
    return False


def by_gradients(model, x):
    x = x.clone().requires_grad_()
    for token in range(x.shape[1] - 1):
        (gradient,) = torch.autograd.grad(model(x)[:, token].abs().sum(), x)
        if gradient[:, token + 1 :].abs().max() > 1e-9:
            return True
    return False


def test_the_models_that_are_lent_have_the_same_weights_each_time():
    lent = []

    def peeks(model, x):
        assert not model.training
        lent.append(model.project.weight)
        return by_prefixes(model, x)

    assert judge("peek-test", peeks).state == "right"
    assert len(lent) > 5
    assert all(torch.equal(weight, lent[0]) for weight in lent)


@pytest.mark.parametrize(
    ("exercise", "given"),
    [
        ("peek-test", by_prefixes),
        ("peek-test", lambda model, x: changed_to(1e6, model, x)),
        ("shape-forecast", {name: list(shape) for name, shape in FORECAST.items()}),
        ("future-mask", lambda n: ~torch.ones(n, n).tril().bool()),
        ("future-mask", lambda n: torch.full((n, n), INF).triu(1)),
        ("future-mask", lambda n: torch.ones(n, n).triu(1).long()),
        ("sdpa-mask", lambda mask: torch.zeros(mask.shape).masked_fill(mask.bool(), INF)),
        ("sdpa-mask", lambda mask: mask == 0),
        ("sdpa-mask", lambda mask: ~mask.bool()[None, None]),
        ("sdpa-mask", lambda mask: (1 - mask.float()).log()),
        ("sdpa-mask", lambda mask: torch.tensor([[not bool(m) for m in row] for row in mask])),
        ("future-mask", lambda n: torch.tensor([[j > i for j in range(n)] for i in range(n)])),
        ("future-mask", lambda n: torch.eye(n).cumsum(1) - torch.eye(n)),
        ("peek-test", peeks),
        ("peek-test", lambda *lent: int(peeks(*lent))),
        ("peek-test", lambda *lent: torch.tensor(peeks(*lent))),
        ("peek-test", by_gradients),
    ],
)
def test_right_small_answers_in_other_forms_are_right(exercise, given):
    verdict = judge(exercise, given)
    assert verdict.state == "right", verdict.message


# ------------------------------------------------------------------ what each must refuses
def attending(finish):
    """A right class but for what `finish` makes of its weights and values."""

    def forward(self, x):
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        future = self.mask[: x.shape[1], : x.shape[1]]
        scores = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
        weights = scores.masked_fill(future.bool(), float("-inf")).softmax(dim=-1)
        return finish(self, weights, values)

    return answer(forward)


class Counting(CausalAttention):
    """Counts its calls in a buffer."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        return super().forward(x)


def keeps_its_mask_where_the_input_is(self, x):
    if not hasattr(self, "kept"):
        self.kept = future(self, x.shape[1])
    return attend(self, x, mask=lambda self, n: self.kept)


def dropped_the_old_way(self, weights, values):
    p = self.dropout.p
    kept = torch.rand_like(weights) >= p if self.training else 1 - p
    return weights * kept @ values


# For each must of an exercise, in order, an answer that it alone refuses: the name of one of the
# known ones above, or the answer itself.
REFUSED = {
    "shape-forecast": [
        *("input width kept", "all axes turned", "scores by width", "weights by width"),
        "a value for each word",
    ],
    "clinic": [
        *("A blamed on the transpose", "B blamed on a layer", "C blamed on a layer"),
        "D blamed on the transpose",
    ],
    "future-mask": [
        lambda n: torch.ones(n + 1, n + 1).triu(1),
        lambda n: torch.full((n, n), torch.nan).triu(1),
        "diagonal blocked",
    ],
    "causal-attention": [
        answer(keeps_its_mask_where_the_input_is),
        Counting,
        *("mask in a parameter", "large inputs scaled down together"),
        attending(lambda self, weights, values: self.dropout(weights) @ values * len(values) / 3),
        attending(dropped_the_old_way),
        *("p is the chance to stay, divided by the other", "survivors divided by p"),
        *("dropout on the context", "no gradient at all", "scores cut off at one"),
        *("tokens of zeros skipped", "mask on the default device"),
    ],
    "peek-test": [
        right_then_changed(by_prefixes),
        *("nothing said of honest models", "always yes", "last token only"),
    ],
    "sdpa-mask": ["mask as it is"],
}
