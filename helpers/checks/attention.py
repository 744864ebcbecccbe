"""Lesson 2's exercises: what each answer must do, from the weakest demand to the strongest.

The demands look at behavior. Sizes are pairwise different and the items of a batch
differ, because two equal copies in a batch as long as the context hide most mistakes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from helpers.checks.common import (
    STUB,
    TOLERANCE,
    differs,
    first,
    known,
    no_dictionary,
    no_module_class,
    seed,
    shape_exercise,
)
from helpers.exercises import Exercise, describe, first_given, is_blank, stops
from helpers.shapes import by

BATCH, TOKENS, D_IN, D_OUT, CONTEXT = 3, 5, 4, 2, 8

# --------------------------------------------------------------------------------------
# shape-forecast
# --------------------------------------------------------------------------------------
SHAPES = {
    "queries": ((4, 7, 3), "Which step changes the last number, and to what?"),
    "turned keys": ((4, 3, 7), "Which two axes change places, and which one stays?"),
    "scores": ((4, 7, 7), "One score for each pair of what?"),
    "weights": ((4, 7, 7), "Does softmax add numbers, remove some, or only rescale them?"),
    "context vectors": ((4, 7, 3), "A weighted sum of values: how wide is one value?"),
}

shape_forecast = shape_exercise(
    "shape-forecast",
    "A shape that you can predict is a bug that you can locate.",
    SHAPES,
)

# --------------------------------------------------------------------------------------
# clinic
# --------------------------------------------------------------------------------------
CULPRITS = ("projection", "transpose", "query/key mismatch", "not in the shapes")
DIAGNOSES = {
    "A": ("projection", "Only a last axis breaks its promise: which step sets that width?"),
    "B": ("query/key mismatch", "The scores are not square: how many tokens ask, how many answer?"),
    "C": (
        "transpose",
        "The scores are square, of the wrong size: which axes were multiplied away?",
    ),
    "D": ("transpose", "The marked row holds the right three numbers: are they in order?"),
    "E": ("not in the shapes", "Is there any row in this trace that breaks its promise?"),
}

clinic = Exercise(
    "clinic",
    "A trace finds what breaks a shape. Patient E shows what it cannot find.",
    STUB,
    attempt=lambda answer: answer,
)


@clinic.demand("One of the four causes for each patient: which is missing?")
def every_patient_has_a_cause(answer: Any) -> str | None:
    if finding := no_dictionary(answer):
        return finding
    for patient in DIAGNOSES:
        cause = answer.get(patient)
        if is_blank(cause):
            return f"patient {patient} has no cause yet"
        if cause not in CULPRITS:
            return f"{cause!r} is none of the causes: {', '.join(map(repr, CULPRITS))}"
    return None


def _diagnose(patient: str, cause: str, question: str) -> None:
    @clinic.demand(question)
    def diagnosis(answer: dict) -> str | None:
        if answer[patient] == cause:
            return None
        return f"patient {patient} is ill, but {answer[patient]!r} would not leave this trace"


for _name, (_cause, _question) in DIAGNOSES.items():
    _diagnose(_name, _cause, _question)

# --------------------------------------------------------------------------------------
# future-mask
# --------------------------------------------------------------------------------------
future_mask = Exercise(
    "future-mask",
    "Ones mark exactly the future, for any length: that is all a causal mask says.",
    "a function of (seq_len) that returns a plain tensor",
    attempt=lambda answer: answer(5),
)


@future_mask.demand("How many tokens ask, and how many can be asked?")
def mask_is_square(answer: Callable[[int], Tensor]) -> str | None:
    for length in (5, 3):
        mask = answer(length)
        if not isinstance(mask, Tensor):
            return f"for {length} tokens you return a {type(mask).__name__}, not a tensor"
        if tuple(mask.shape) != (length, length):
            return f"for {length} tokens the mask is {by(tuple(mask.shape))}"
    return None


@future_mask.demand("May a token look at itself? Where in the matrix does it do so?")
def diagonal_is_open(answer: Callable[[int], Tensor]) -> str | None:
    blocked = int(_as_bool(answer(5)).diagonal().sum())
    return f"{blocked} of 5 tokens are hidden from themselves" if blocked else None


@future_mask.demand("Row = the token that asks. Which keys lie in the future of row 0?")
def future_is_marked(answer: Callable[[int], Tensor]) -> str | None:
    for length in (5, 3, 1):
        mask = _as_bool(answer(length))
        for i in range(length):
            for j in range(length):
                if mask[i, j] != (j > i):
                    state = "blocked" if mask[i, j] else "open"
                    when = "future" if j > i else "past"
                    return f"for query {i}, key {j} is {state}, though it lies in the {when}"
    return None


def _as_bool(mask: Tensor) -> Tensor:
    """A mask as True = blocked, whatever its dtype; -inf counts as blocked."""
    return mask != 0


# --------------------------------------------------------------------------------------
# causal-attention
# --------------------------------------------------------------------------------------
causal_attention = Exercise(
    "causal-attention",
    "It passes on unequal sizes, on differing texts, with the future changed and with "
    "dropout on: that is behavior, and behavior is what a model trains on.",
    "a class whose forward(x) returns a plain float tensor",
    attempt=lambda answer: _run(answer, CONTEXT),
)


def _build(
    answer: type[nn.Module],
    d_in: int = D_IN,
    d_out: int = D_OUT,
    dropout: float = 0.0,
    bias: bool = False,
) -> nn.Module:
    """A model of the learner's class with the same weights at each call."""
    seed(5)
    model = answer(d_in, d_out, CONTEXT, dropout, bias)
    with torch.no_grad():
        for layer in (model.W_query, model.W_key, model.W_value):
            layer.weight.copy_(torch.randn(layer.weight.shape) / 2)  # no weight vanishes
            if layer.bias is not None:
                layer.bias.copy_(torch.randn(layer.bias.shape))
    return model.eval()


def _texts(tokens: int = TOKENS, d_in: int = D_IN) -> Tensor:
    """A batch of texts that differ, `[3, tokens, d_in]`."""
    return torch.randn(BATCH, tokens, d_in, generator=torch.Generator().manual_seed(7))


def _run(answer: type[nn.Module], tokens: int) -> Any:
    return _build(answer)(_texts(tokens))


# A probe whose values are unit vectors, so that the output *is* the attention weights.
_REVEAL_IN, _REVEAL_OUT = TOKENS + D_IN, TOKENS + 1


def _reveal(answer: type[nn.Module], dropout: float = 0.0) -> tuple[nn.Module, Tensor]:
    """A model and a batch for which the output's first columns are the weights."""
    model = _build(answer, _REVEAL_IN, _REVEAL_OUT, dropout)
    with torch.no_grad():
        model.W_value.weight.copy_(torch.eye(_REVEAL_OUT, _REVEAL_IN))
        model.W_value.weight[TOKENS] = 0.0
    places = torch.eye(TOKENS).expand(BATCH, -1, -1)
    return model, torch.cat([places, _texts()], dim=-1)


def _weights(answer: type[nn.Module]) -> Tensor:
    """The learner's attention weights, `[3, 5, 5]`."""
    model, x = _reveal(answer)
    return model(x)[..., :TOKENS].detach()


def _scores(answer: type[nn.Module]) -> Tensor:
    """The raw scores that belong to `_weights`, `[3, 5, 5]`."""
    model, x = _reveal(answer)
    return (model.W_query(x) @ model.W_key(x).transpose(1, 2)).detach()


def _future(length: int = TOKENS) -> Tensor:
    return torch.ones(length, length).triu(diagonal=1).bool()


@causal_attention.demand("`check` builds the model itself: have you handed in the class?")
def answer_is_a_class(answer: Any) -> str | None:
    return no_module_class(answer)


@causal_attention.demand("Which name, attribute or argument does the error's last line miss?")
def names_exist(answer: type[nn.Module]) -> str | None:
    try:
        _run(answer, CONTEXT)
    except (NameError, AttributeError, TypeError) as error:
        return stops(error)
    except Exception:
        return None  # shapes and dtypes: the next demand's
    return None


@causal_attention.demand(
    "Print the shape and dtype of what meets in the line that stops: which two axes must "
    "change places, or which dtype is expected?"
)
def full_length_runs(answer: type[nn.Module]) -> str | None:
    try:
        _run(answer, CONTEXT)
    except Exception as error:
        return stops(error)
    return None


@causal_attention.demand("The next layer takes one tensor: which of your results is it?")
def result_is_a_tensor(answer: type[nn.Module]) -> str | None:
    out = _run(answer, CONTEXT)
    return None if isinstance(out, Tensor) else f"forward returns a {type(out).__name__}"


@causal_attention.demand(
    "One context vector for each token of each text, as wide as which projection's output?"
)
def shape_is_right(answer: type[nn.Module]) -> str | None:
    shape = tuple(_run(answer, CONTEXT).shape)
    if shape == (BATCH, CONTEXT, D_OUT):
        return None
    return f"{BATCH} x {CONTEXT} x {D_IN} goes in with d_out={D_OUT}, {by(shape)} comes out"


@causal_attention.demand("Try four tokens: how large are the scores, how large is the stored mask?")
def shorter_input_runs(answer: type[nn.Module]) -> str | None:
    model = _build(answer)
    for tokens in (TOKENS, 4, 7, 1):
        try:
            shape = tuple(model(_texts(tokens)).shape)
        except Exception as error:
            return f"with {tokens} tokens (context_length={CONTEXT}) it stops: {describe(error)}"
        if shape != (BATCH, tokens, D_OUT):
            return f"with {tokens} tokens (context_length={CONTEXT}), {by(shape)} comes out"
    return None


@causal_attention.demand("In eval mode nothing is random: what in forward still draws or changes?")
def eval_repeats(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer, dropout=0.5), _texts()
    before = copy.deepcopy(model.state_dict()), x.clone()
    first, second = model(x), model(x)
    if not torch.equal(x, before[1]):
        return "forward changes the tensor that it is given"
    after = model.state_dict()
    changed = [k for k, v in before[0].items() if not torch.equal(v, after[k])]
    if changed:
        return f"forward changes the model's own {changed[0]!r}"
    return "two calls with one input differ" if differs(first, second) else None


@causal_attention.demand("What is 0 times infinity? Which product of yours makes it?")
def some_output_is_a_number(answer: type[nn.Module]) -> str | None:
    return "every output is nan" if _run(answer, TOKENS).isnan().all() else None


@causal_attention.demand("Which of the three projections have you not used yet?")
def values_are_used(answer: type[nn.Module]) -> str | None:
    return _unused(answer, "W_value")


@causal_attention.demand(
    "What may the first token look at, and what does softmax do with a row of nothing but -inf?"
)
def first_token_is_a_number(answer: type[nn.Module]) -> str | None:
    return "the first token's output is nan" if _weights(answer)[:, 0].isnan().any() else None


@causal_attention.demand(
    "masked_fill hits the places marked True: do you mark what may be seen or what must be hidden?"
)
def all_tokens_are_numbers(answer: type[nn.Module]) -> str | None:
    bad = ~_weights(answer).isfinite().all(-1)
    if not bad.any():
        return None
    item, token = first(bad)
    where = "the last token" if token == TOKENS - 1 else f"token {token}"
    return f"the output of {where} (item {item}) is not a finite number"


@causal_attention.demand(
    "Look at the last token's output: what is left to attend to, and what does True mean "
    "in the documentation of the function that takes your mask?"
)
def last_token_sees_something(answer: type[nn.Module]) -> str | None:
    zero = (_weights(answer)[:, -1].abs() < TOLERANCE).all()
    return "the last token's output is exactly 0: it attends to nothing" if zero else None


@causal_attention.demand("What turns scores of any sign into shares that add up to 1?")
def weights_are_shares(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer)
    if weights.min() < -TOLERANCE:
        return f"a token gives another the weight {weights.min():.2f}, below 0"
    largest = weights.sum(-1).max()
    return f"one token hands out {largest:.2f} in all" if largest > 4 else None


@causal_attention.demand(
    "Each token shares out one unit of attention: which axis of [B, query, key] must sum to 1?"
)
def softmax_runs_over_keys(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer)
    rows = weights.sum(-1)
    if not differs(rows, torch.ones_like(rows)):
        return None
    for axis, name in ((1, "column"), (0, "place across the batch")):
        sums = weights.sum(axis)
        open_sums = sums[sums > TOLERANCE]
        if not differs(open_sums, torch.ones_like(open_sums)):
            row = rows.flatten()[(rows - 1).abs().argmax()]
            return f"every {name} of your weights sums to 1, but one row sums to {row:.2f}"
    return None


@causal_attention.demand("Add up row 0 of the weights: who kept the missing share?")
def rows_sum_to_one(answer: type[nn.Module]) -> str | None:
    rows = _weights(answer).sum(-1)
    bad = (rows - 1).abs() > TOLERANCE
    if not bad.any():
        return None
    item, token = first(bad)
    return f"row {token} of your weights (item {item}) sums to {rows[item, token]:.4g}, not to 1"


@causal_attention.demand("Which axis is the batch, and which step mixes along it?")
def items_are_independent(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer), _texts()
    for item in range(BATCH):
        other = x.clone()
        other[item] = 2 - other[item]
        for watched in set(range(BATCH)) - {item}:
            if differs(model(x)[watched], model(other)[watched]):
                return f"item {watched} changes when only item {item} is changed"
    return None


@causal_attention.demand(
    "A mask marks places: do you mark what may be seen or what must be hidden?"
)
def past_is_not_what_is_hidden(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer)[:, :-1]  # the last token may have nobody left
    past = weights[:, torch.ones(TOKENS, TOKENS).tril(-1).bool()[:-1]].max()
    future = weights[:, _future()[:-1]].max()
    if past < TOLERANCE < future:
        return f"the past gets no weight, and the future up to {future:.2f}"
    return None


@causal_attention.demand(
    "What may the first token look at? Is its own place among the blocked ones?"
)
def token_sees_itself(answer: type[nn.Module]) -> str | None:
    own = _weights(answer)[:, 1:].diagonal(offset=1, dim1=1, dim2=2)
    hidden = bool((own < TOLERANCE).all())
    return "every token after the first gives itself the weight 0.00" if hidden else None


@causal_attention.demand("What is exp(0), and which score has exp equal to 0?")
def blocked_scores_are_not_finite(answer: type[nn.Module]) -> str | None:
    """Future weights that do not depend on the keys: blocked with a finite number."""
    later = _weights(answer)[:, 0, 1:]
    spread = (later.max(-1).values - later.min(-1).values) / later.max(-1).values
    if later.min() > 1e-12 and spread.max() < 1e-3:
        return f"token 0 gives each blocked token the same weight, {later[0, 0]:.2g} in item 0"
    return None


@causal_attention.demand("Adding to a score makes it larger or smaller: does that hide the token?")
def blocked_scores_are_not_shifted(answer: type[nn.Module]) -> str | None:
    """Future weights that follow the scores, but from a shifted level."""
    row, scores = _weights(answer)[:, 0], _scores(answer)[:, 0]
    if row.min() < 1e-7:
        return None
    logs = row.log()
    slope = (logs[:, 1] - logs[:, 2]) / (scores[:, 1] - scores[:, 2])
    shift = logs[:, 1:] - logs[:, :1] - slope[:, None] * (scores[:, 1:] - scores[:, :1])
    if differs(shift, shift[:1, :1].expand_as(shift), 1e-2) or shift.abs().max() < 1e-2:
        return None
    factor = shift.mean().exp()
    return f"token 0 gives the future {factor:.2f} times the weight that it has without a mask"


@causal_attention.demand("Read row 0 of the mask aloud: which is the first key that it blocks?")
def future_stands_off(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer) * _future()
    if weights.max() > 1e-6:
        item, query, key = first(weights > 1e-6)
        return (
            f"token {query} gives the later token {key} the weight {weights[item, query, key]:.2g}"
        )
    return None


@causal_attention.demand("Which earlier tokens may the last token still look at?")
def whole_past_is_seen(answer: type[nn.Module]) -> str | None:
    unseen = (_weights(answer) < 1e-7).all(0) & ~_future()
    if not unseen.any():
        return None
    query, key = first(unseen)
    which = "itself" if query == key else f"the earlier token {key}"
    return f"token {query} gives {which} no weight at all"


@causal_attention.demand("Which of the three projections have you not used yet?")
def queries_and_keys_are_used(answer: type[nn.Module]) -> str | None:
    return _unused(answer, "W_key") or _unused(answer, "W_query")


def _unused(answer: type[nn.Module], name: str) -> str | None:
    model, x = _build(answer), _texts()
    before = model(x)
    with torch.no_grad():
        getattr(model, name).weight.normal_()
    unused = not differs(before, model(x))
    return f"other weights in {name} change no output" if unused else None


@causal_attention.demand("In scores[i, j], who asks: row i or column j?")
def queries_ask(answer: type[nn.Module]) -> str | None:
    logs, scores = _weights(answer)[:, -1].log(), _scores(answer)
    asked, swapped = _off_line(scores[:, -1], logs), _off_line(scores[:, :, -1], logs)
    if swapped < 1e-3 < asked:
        return "the last row of weights follows the keys' question to the queries"
    return None


@causal_attention.demand(
    "Which numbers meet in scores[i, j]? Does reading a matrix in another shape turn it?"
)
def weights_follow_the_scores(answer: type[nn.Module]) -> str | None:
    logs, scores = _weights(answer)[:, -1].log(), _scores(answer)[:, -1]
    off = _off_line(scores, logs) > 1e-3
    return "the last row of weights is not the softmax of queries times keys" if off else None


@causal_attention.demand(
    "The dot product adds up as many terms as a key has entries: where can you read that "
    "number, and what does Python make of `** 1 / 2`?"
)
def scale_is_right(answer: type[nn.Module]) -> str | None:
    logs, scores = _weights(answer)[:, -1].log(), _scores(answer)[:, -1]
    divisor = ((scores[:, 0] - scores[:, 1]) / (logs[:, 0] - logs[:, 1])).mean()
    if abs(divisor - _REVEAL_OUT**0.5) < 1e-2:
        return None
    return (
        f"with d_in={_REVEAL_IN} and keys of {_REVEAL_OUT} entries, your scores come out "
        f"divided by {divisor:.2f}"
    )


@causal_attention.demand("By which way can a later token still reach an earlier output?")
def past_stands_still(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer), _texts()
    for cut in range(1, TOKENS):
        other = x.clone()
        other[:, cut:] = other[:, cut:] * 3 + 1
        if differs(model(x)[:, :cut], model(other)[:, :cut]):
            return f"earlier outputs move when only tokens {cut} and later are changed"
    return None


def _off_line(scores: Tensor, logs: Tensor) -> float:
    """How far the logarithms of the weights are from a straight line in the scores."""
    x, y = scores - scores.mean(-1, keepdim=True), logs - logs.mean(-1, keepdim=True)
    slope = (x * y).sum() / (x * x).sum()
    return (y - slope * x).abs().max().item()


@causal_attention.demand("Does any step depend on how many texts travel together?")
def batch_size_is_no_matter(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer), _texts()
    moved = differs(model(x)[:1], model(x[:1]))
    return "item 0 comes out differently when it travels alone" if moved else None


@causal_attention.demand("Which number says how much is dropped, and where does forward read it?")
def no_dropout_means_none(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer, dropout=0.0), _texts()
    eval_output = model(x)
    moved = differs(model.train()(x), eval_output)
    return "with dropout=0.0, training still differs from eval mode" if moved else None


@causal_attention.demand("Which step is missing in training only, and what does it act on?")
def dropout_drops(answer: type[nn.Module]) -> str | None:
    model, x = _reveal(answer, dropout=0.5)
    if differs(model(x), _reveal(answer)[0](x)):
        return "in eval mode, a dropout of 0.5 still changes the output"
    weights = _dropped(model, x)
    open_places = (weights > TOLERANCE).sum(0)[:, ~_future()]
    if bool((open_places == len(weights)).all()):
        return "in training with dropout=0.5, no attention weight is ever dropped"
    return None


@causal_attention.demand("By how much must the survivors grow so that the average stays?")
def survivors_are_scaled(answer: type[nn.Module]) -> str | None:
    ratios = _survivor_ratios(answer)
    uneven = differs(ratios, ratios[:1].expand_as(ratios), 1e-3)
    if uneven or not ratios.isfinite().all() or abs(ratios[0] - 2) < 1e-3:
        return None
    return f"with dropout=0.5, each surviving weight is {ratios[0]:.2f} times as large"


@causal_attention.demand("What must be normalized already when dropout acts on it?")
def dropout_acts_on_weights(answer: type[nn.Module]) -> str | None:
    ratios = _survivor_ratios(answer)
    if not ratios.isfinite().all():
        return "in training with dropout=0.5, outputs are not finite"
    odd = (ratios - 2).abs() > 1e-2
    if not odd.any():
        return None
    return (
        f"with dropout=0.5, a surviving weight is {ratios[odd][0]:.2f} times its value in eval "
        "mode, another one is not"
    )


def _survivor_ratios(answer: type[nn.Module]) -> Tensor:
    """Each weight that dropout left, divided by its value in eval mode."""
    model, x = _reveal(answer, dropout=0.5)
    eval_weights = model(x)[..., :TOKENS].detach()
    weights = _dropped(model, x)
    kept = (weights.abs() > TOLERANCE) | ~weights.isfinite()
    return (weights / eval_weights)[kept]


@causal_attention.demand("Does dropout act on who is looked at, or on what is carried over?")
def dropout_spares_the_values(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer, dropout=0.5), torch.ones(1, 1, D_IN)
    model.train()
    out = torch.cat([model(x) for _ in range(40)])[:, 0].detach()
    partly = (out.abs() < TOLERANCE).any(-1) & (out.abs() > TOLERANCE).any(-1)
    if partly.any():
        return "in training, single entries of a context vector vanish, not whole shares"
    return None


def _dropped(model: nn.Module, x: Tensor) -> Tensor:
    """The weights of 20 passes in training mode, `[20, 3, 5, 5]`."""
    model.train()
    seed(3)
    weights = torch.stack([model(x)[..., :TOKENS] for _ in range(20)]).detach()
    model.eval()
    return weights


@causal_attention.demand("What cuts the graph: detach, .data, no_grad, item() or a new tensor?")
def gradients_arrive(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer), _texts().requires_grad_()
    out = model(x)
    if not out.requires_grad:
        return "the output carries no gradient"
    (out**2).sum().backward()
    if x.grad is None:
        return "no gradient reaches the input"
    for name in ("W_query", "W_key", "W_value"):
        gradient = getattr(model, name).weight.grad
        if gradient is None or not gradient.abs().max() > 0:
            return f"no gradient reaches {name}"
    return None


@causal_attention.demand("What is different here: a bias, the dtype, or the length?")
def numbers_agree(answer: type[nn.Module]) -> str | None:
    for tokens in (CONTEXT, TOKENS, 1):
        for dtype in (torch.float32, torch.float64):
            model = _build(answer, bias=True).to(dtype)
            x = _texts(tokens).to(dtype)
            out, expected = model(x), _reference(model, x)
            if out.dtype != dtype:
                return f"a {dtype} model turns {dtype} input into {out.dtype}"
            if differs(out, expected):
                return (
                    f"with biases, {tokens} tokens and {dtype}, an output is off by "
                    f"{(out - expected).abs().max():.2f}"
                )
    return None


def _reference(model: nn.Module, x: Tensor) -> Tensor:
    return _attention(model.W_query(x), model.W_key(x), model.W_value(x))


def _attention(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    return scores.masked_fill(_future(keys.shape[1]), float("-inf")).softmax(-1) @ values


# --------------------------------------------------------------------------------------
# peek-test
# --------------------------------------------------------------------------------------
peek_test = Exercise(
    "peek-test",
    "You can now test any sequence model for peeking, without reading its code.",
    "a function of (model, x) that returns True or False",
    attempt=lambda answer: first_given(
        answer(_Attention(mask), _texts()) for mask in (_future(), torch.zeros(5, 5).bool())
    ),
)


class _Attention(nn.Module):
    """Attention with whatever mask a suspect uses; True = blocked."""

    def __init__(self, blocked: Tensor, after_softmax: bool = False) -> None:
        super().__init__()
        self.project = known(nn.Linear(D_IN, 3 * D_OUT, bias=False))
        self.blocked, self.after_softmax = blocked, after_softmax

    def forward(self, x: Tensor) -> Tensor:
        blocked = self.blocked[: x.shape[1], : x.shape[1]]
        queries, keys, values = self.project(x).chunk(3, dim=-1)
        scores = queries @ keys.transpose(1, 2) / D_OUT**0.5
        if self.after_softmax:
            return scores.softmax(-1).masked_fill(blocked, 0.0) @ values
        return scores.masked_fill(blocked, float("-inf")).softmax(-1) @ values


def _one_hole(query: int, key: int) -> Tensor:
    mask = _future()
    mask[query, key] = False
    return mask


@peek_test.demand("Does your test change the model or the input that it is lent?")
def lent_things_stay(answer: Callable) -> str | None:
    x = _texts()
    before = x.clone()
    answer(_Attention(_future()), x)
    return None if torch.equal(x, before) else "x is another tensor after your test"


@peek_test.demand("Only outputs *before* the changed token may not move: do you compare others?")
def honest_model_passes(answer: Callable) -> str | None:
    for name, model in (
        ("a correct causal model", _Attention(_future())),
        ("a model in which each token sees itself only", _Attention(~torch.eye(TOKENS).bool())),
    ):
        if answer(model, _texts()):
            return f"you say that {name} peeks"
    return None


@peek_test.demand("Which token do you change, and which outputs should then stand still?")
def open_model_is_caught(answer: Callable) -> str | None:
    model = _Attention(torch.zeros(TOKENS, TOKENS).bool())
    return None if answer(model, _texts()) else "you miss a model without any mask"


@peek_test.demand("Its picture looks causal. What else does a future token take part in?")
def late_mask_is_caught(answer: Callable) -> str | None:
    model = _Attention(_future(), after_softmax=True)
    return None if answer(model, _texts()) else "you miss a model that masks after softmax"


@peek_test.demand("Which tokens do you change, and which outputs do you compare? All of them?")
def single_holes_are_caught(answer: Callable) -> str | None:
    for query, key in ((3, 4), (0, 1), (0, 4), (1, 2), (2, 3)):
        if not answer(_Attention(_one_hole(query, key)), _texts()):
            return f"you miss a model in which only token {query} peeks, at token {key}"
    return None


# --------------------------------------------------------------------------------------
# sdpa-mask
# --------------------------------------------------------------------------------------
sdpa_mask = Exercise(
    "sdpa-mask",
    "Same triangle, opposite words: read the polarity before you lend out a mask.",
    "a function of (mask) that returns a plain tensor",
    attempt=lambda answer: answer(_future()),
)


@sdpa_mask.demand("The result is compared with is_causal=True: what does True mean to SDPA?")
def sdpa_agrees(answer: Callable[[Tensor], Tensor]) -> str | None:
    for length in (5, 3):
        q, k, v = torch.randn(3, BATCH, length, D_OUT, generator=torch.Generator().manual_seed(9))
        expected = _attention(q, k, v)
        for blocked in (_future(length), _future(length).float()):
            mask = answer(blocked)
            with sdpa_kernel(SDPBackend.MATH):
                out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            if differs(out, expected):
                off = (out - expected).abs().amax(dim=(0, 2))
                return f"the output of token {off.argmax()} is off by up to {off.max():.2f}"
    return None
