"""Lesson 2's exercises: what each answer must do, and hints that explain.

The demands look at behavior. Sizes are pairwise different and the texts of a batch
differ, because two equal copies in a batch as long as the context hide most mistakes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from helpers.checks.common import (
    STUB,
    TOLERANCE,
    demand_class,
    differs,
    first,
    how_far,
    many,
    no_dictionary,
    no_truth_value,
    other_parameter,
    refused_call,
    seed,
    shape_exercise,
    too_few_runs,
    with_known_weights,
)
from helpers.checks.devices import left_behind
from helpers.exercises import Exercise, describe, in_words, is_blank, once, stops, told
from helpers.shapes import by

BATCH, TOKENS, D_IN, D_OUT, CONTEXT = 3, 5, 4, 2, 8
PROJECTIONS = "W_query", "W_key", "W_value"
LOW = -150  # about where scores lie when a fill of -100 is tried
NO_NUMBER = "What is 0 times infinity? Which product of yours makes it?"
CHANCES = 0.5, 0.25  # of dropout: at the first p and 1 - p are one, at the second they are not

# --------------------------------------------------------------------------------------
# shape-forecast
# --------------------------------------------------------------------------------------
SHAPES = {
    "queries": (
        (4, 7, 3),
        "Which one of the input's three numbers does a projection change, and to what?",
    ),
    "turned keys": ((4, 3, 7), "Which two axes change places, and which one stays?"),
    "scores": ((4, 7, 7), "One score for each pair of what?"),
    "weights": ((4, 7, 7), "Does softmax add numbers, remove some, or only rescale them?"),
    "context vectors": ((4, 7, 3), "A weighted sum of values: how wide is one value?"),
}

shape_forecast = shape_exercise(
    "A shape that you can predict is a bug that you can locate.",
    SHAPES,
    axes="Texts, tokens, and what a token holds: which axis is missing in yours, or one too many?",
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
    "D": ("not in the shapes", "Is there any row in this trace that breaks its promise?"),
}

clinic = Exercise(
    "A trace finds what breaks a shape. Patient D shows what it cannot find.",
    STUB,
    attempt=lambda answer: answer,
)


@clinic.hint("One of the four causes for each patient: which is missing, or none of the four?")
def every_patient_has_a_cause(answer: Any) -> str | None:
    if finding := no_dictionary(answer):
        return finding
    for patient in DIAGNOSES:
        cause = answer.get(patient)
        if is_blank(cause):
            return f"patient {patient} has no cause yet"
        if not isinstance(cause, str) or cause not in CULPRITS:
            return f"{told(cause)} is none of the causes: {', '.join(map(repr, CULPRITS))}"
    return None


def _diagnose(patient: str, cause: str, question: str) -> None:
    @clinic.must(question)
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
    "Ones mark exactly the future, for any length: that is all a causal mask says.",
    "a function of (seq_len) that returns a plain tensor",
    attempt=lambda answer: answer(5),
)


@future_mask.hint("Scores are a tensor: what must a mask be that is laid over them?")
def mask_is_a_tensor(answer: Callable[[int], Tensor]) -> str | None:
    mask = answer(5)
    return None if isinstance(mask, Tensor) else f"you return {in_words(mask)}, not a tensor"


@future_mask.must("How many tokens ask, and how many can be asked?")
def mask_is_square(answer: Callable[[int], Tensor]) -> str | None:
    for length in (5, 3, 9):
        mask = answer(length)
        if not isinstance(mask, Tensor):
            return f"for {length} tokens you return a {type(mask).__name__}, not a tensor"
        if tuple(mask.shape) != (length, length):
            return f"for {length} tokens the mask is {by(mask.shape)}"
    return None


@future_mask.must(NO_NUMBER)
def entries_are_numbers(answer: Callable[[int], Tensor]) -> str | None:
    blank = answer(5).isnan()
    return f"{int(blank.sum())} entries for 5 tokens are nan" if blank.any() else None


@future_mask.hint("Ones mark what is hidden in this mask: which places do yours mark?")
def polarity_is_right(answer: Callable[[int], Tensor]) -> str | None:
    turned_over = torch.equal(_as_bool(answer(5)), ~_future())
    return (
        "your mask marks the past and the token itself, and not the future" if turned_over else None
    )


@future_mask.hint("May a token look at itself? Where in the matrix does it do so?")
def diagonal_is_open(answer: Callable[[int], Tensor]) -> str | None:
    blocked = int(_as_bool(answer(5)).diagonal().sum())
    return f"{blocked} of 5 tokens are hidden from themselves" if blocked else None


@future_mask.hint(
    "Row = the token that asks: which keys lie in the past of that row, and does your mask mark "
    "them?"
)
def past_is_open(answer: Callable[[int], Tensor]) -> str | None:
    mask = _as_bool(answer(5))
    blocked_past = mask & ~_future()
    if not mask[_future()].all() or not blocked_past.any():
        return None
    query, key = first(blocked_past)
    return f"for query {query}, key {key} is blocked, though it lies in the past"


@future_mask.must("Row = the token that asks. Which keys lie in the future of row 0?")
def future_is_marked(answer: Callable[[int], Tensor]) -> str | None:
    for length in (5, 3, 1, 9):
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
    context: int = CONTEXT,
) -> nn.Module:
    """A model of the learner's class with the same weights at each call."""
    seed(5)
    model = answer(d_in, d_out, context, dropout, bias)
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


@once
def _weights(answer: type[nn.Module]) -> Tensor:
    """The learner's attention weights, `[3, 5, 5]`."""
    model, x = _reveal(answer)
    return model(x)[..., :TOKENS].detach()


@once
def _scores(answer: type[nn.Module]) -> Tensor:
    """The raw scores that belong to `_weights`, `[3, 5, 5]`."""
    model, x = _reveal(answer)
    return (model.W_query(x) @ model.W_key(x).transpose(1, 2)).detach()


def _future(length: int = TOKENS) -> Tensor:
    return torch.ones(length, length).triu(diagonal=1).bool()


demand_class(causal_attention, "model")


def _stops_in(is_kind: Callable[[str, list[Tensor]], bool]) -> Callable[[Any], str | None]:
    """A probe that tells an error if the call that torch refuses is of a kind."""

    def probe(answer: type[nn.Module]) -> str | None:
        try:
            _run(answer, CONTEXT)
        except Exception as error:
            return stops(error) if is_kind(*refused_call(_run, answer, CONTEXT)) else None
        return None

    return probe


causal_attention.hint(
    "Call your class in a cell of your own, and print the shapes of the two factors in the line "
    "that stops: which two axes must change places?"
)(_stops_in(lambda name, tensors: "mm" in name or "matmul" in name or name == "einsum"))
causal_attention.hint(
    "Call your class in a cell of your own, and print the dtype of what meets in the line that "
    "stops: which dtype is expected?"
)(_stops_in(lambda name, tensors: "mask" in name and all(t.dtype != torch.bool for t in tensors)))
causal_attention.hint(
    "Call your class in a cell of your own, and print the shape and dtype of what meets in the "
    "line that stops: what does that line expect?"
)(_stops_in(lambda name, tensors: True))


@causal_attention.hint("The next layer takes one tensor: which of your results is it?")
def result_is_a_tensor(answer: type[nn.Module]) -> str | None:
    out = _run(answer, CONTEXT)
    return None if isinstance(out, Tensor) else f"forward returns a {type(out).__name__}"


@causal_attention.hint(
    "One context vector for each token of each text, as wide as which projection's output?"
)
def shape_is_right(answer: type[nn.Module]) -> str | None:
    for d_out in (D_OUT, _REVEAL_OUT):
        shape = tuple(_build(answer, d_out=d_out)(_texts(CONTEXT)).shape)
        if shape != (BATCH, CONTEXT, d_out):
            return f"{BATCH} x {CONTEXT} x {D_IN} goes in with d_out={d_out}, {by(shape)} comes out"
    return None


@causal_attention.hint("Try four tokens: how large are the scores, how large is the stored mask?")
def shorter_input_runs(answer: type[nn.Module]) -> str | None:
    for tokens in (TOKENS, 4, 7, 1):
        try:
            _run(answer, tokens)
        except Exception as error:
            given = f"{many(tokens, 'token')} (context_length={CONTEXT})"
            return f"with {given} it stops: {describe(error)}"
    return None


@causal_attention.hint(
    "One context vector for each token of each text: which axis is gone, and which step takes it "
    "away?"
)
def shorter_input_keeps_its_axes(answer: type[nn.Module]) -> str | None:
    for tokens in (TOKENS, 4, 7, 1):
        shape = tuple(_run(answer, tokens).shape)
        if shape != (BATCH, tokens, D_OUT):
            given = f"{many(tokens, 'token')} (context_length={CONTEXT})"
            return f"with {BATCH} texts of {given}, {by(shape)} comes out"
    return None


@causal_attention.must(
    "What does your class keep from one call to the next, and how large was the first text?"
)
def calls_may_differ_in_length(answer: type[nn.Module]) -> str | None:
    model, before = _build(answer), ""
    for tokens in (TOKENS, 4, 7):
        try:
            model(_texts(tokens))
        except Exception as error:
            return f"{before}a text of {tokens} tokens stops with {describe(error)}"
        before = f"after a text of {tokens} tokens, "
    return None


@causal_attention.hint("Where does your code read context_length, and where a number of its own?")
def longer_context_runs(answer: type[nn.Module]) -> str | None:
    context = CONTEXT + 3
    try:
        _build(answer, context=context)(_texts(context))
    except Exception as error:
        return f"with context_length={context} and {context} tokens it stops: {describe(error)}"
    return None


@causal_attention.must("In eval mode nothing is random: what in forward still draws or changes?")
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


@causal_attention.must("What is learned here beside the three projections, and should it be?")
def only_projections_are_learned(answer: type[nn.Module]) -> str | None:
    return other_parameter(_build(answer), PROJECTIONS, _texts())


@causal_attention.hint(NO_NUMBER)
def some_output_is_a_number(answer: type[nn.Module]) -> str | None:
    return "every output is nan" if _run(answer, TOKENS).isnan().all() else None


@causal_attention.hint("Which of the three projections have you not used yet?")
def values_are_used(answer: type[nn.Module]) -> str | None:
    return _unused(answer, "W_value")


@causal_attention.hint("What else happens to the weighted sum of the values before you return it?")
def values_are_only_weighted(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer), _texts()
    before = model(x)
    with torch.no_grad():
        model.W_value.weight.mul_(2)
    odd = differs(model(x), 2 * before)
    return "with W_value twice as large, the output is not twice as large" if odd else None


@causal_attention.hint(
    "In the mix, each context vector is one token's shares times the values: which axis of the "
    "weights meets the tokens of the values?"
)
def weights_are_not_turned(answer: type[nn.Module]) -> str | None:
    mixed, rows = _weights(answer), _weights(answer).sum(-1)
    if not differs(rows, torch.ones_like(rows)):
        return None  # each token has its own shares: of others than it should
    if mixed.tril(-1).abs().max() > TOLERANCE or not mixed[:, 0].min() > TOLERANCE:
        return None
    return (
        "the last token's output holds none of the earlier values, and the first token's output "
        "holds all of the later ones"
    )


@causal_attention.hint(
    "Each token shares out one unit of attention: which axis of [B, query, key] must sum to 1?"
)
def softmax_runs_over_keys(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer)
    rows = weights[:, -1].sum(-1)  # nothing is hidden from the last token
    if not differs(rows, torch.ones_like(rows)):
        return None
    for axis, sum_to_1 in (
        (1, "every column of your weights sums to 1"),
        (0, "every open place of your weights sums to 1 across the batch"),
    ):
        sums = weights.sum(axis)
        open_sums = sums[sums > TOLERANCE]
        if len(open_sums) and not differs(open_sums, torch.ones_like(open_sums)):
            row = rows[(rows - 1).abs().argmax()]
            return f"{sum_to_1}, but one row sums to {row:.2f}"
    return None


@causal_attention.hint("Which score has exp equal to 0: a very large one, or a very small one?")
def blocked_scores_are_small(answer: type[nn.Module]) -> str | None:
    finite = _weights(answer).isfinite().all(-1).all(0).tolist()
    if finite == [False] * (TOKENS - 1) + [True]:
        return "the last token's output is a number, and all others are nan"
    return None


@causal_attention.hint(
    "What may the first token look at, and what does softmax do with a row of nothing but -inf?"
)
def first_token_is_a_number(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer)
    if weights[:, 0].isnan().any():
        return "the first token's output is nan"
    zero = (weights.abs() < TOLERANCE).all(-1)
    if zero[:, 0].all() and not zero[:, -1].any():
        return "the first token's output is exactly 0: it attends to nothing"
    return None


@causal_attention.hint(
    "masked_fill hits the places marked True: do you mark what may be seen or what must be hidden?"
)
def all_tokens_are_numbers(answer: type[nn.Module]) -> str | None:
    bad = ~_weights(answer).isfinite().all(-1)
    if not bad.any():
        return None
    item, token = first(bad)
    where = "the last token" if token == TOKENS - 1 else f"token {token}"
    return f"the output of {where} (text {item}) is not a finite number"


@causal_attention.hint(
    "Look at the last token's output: what is left to attend to, and what does True mean "
    "in the documentation of the function that takes your mask?"
)
def last_token_sees_something(answer: type[nn.Module]) -> str | None:
    zero = (_weights(answer)[:, -1].abs() < TOLERANCE).all()
    return "the last token's output is exactly 0: it attends to nothing" if zero else None


@causal_attention.hint("What turns scores of any sign into shares that add up to 1?")
def weights_are_shares(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer)
    if weights.min() < -TOLERANCE:
        return f"a token gives another the weight {weights.min():.2f}, below 0"
    largest = weights.sum(-1).max()
    return f"one token hands out {largest:.2f} in all" if largest > 4 else None


@causal_attention.hint(
    "Softmax makes the weights of a token add up to 1: what happens to them, or to the context, "
    "after that?"
)
def all_rows_have_one_sum(answer: type[nn.Module]) -> str | None:
    rows = _weights(answer).sum(-1)
    total = rows[0, 0]
    if abs(total - 1) < 1e-2 or differs(rows, total.expand_as(rows)):
        return None
    return f"in your output, the values count {total:.2f} times in all, not once"


@causal_attention.hint(
    "What makes the shares of one token add up to 1: does each of your weights know of the others?"
)
def last_row_sums_to_one(answer: type[nn.Module]) -> str | None:
    """A mask after softmax takes nothing from the last token, which has no future."""
    sums = _weights(answer)[:, -1].sum(-1)
    bad = (sums - 1).abs() > TOLERANCE
    if not bad.all():
        return None
    return f"row {TOKENS - 1} of your weights (text 0) sums to {sums[0]:.4g}, not to 1"


@causal_attention.hint("Add up row 0 of the weights: who kept the missing share?")
def rows_sum_to_one(answer: type[nn.Module]) -> str | None:
    rows = _weights(answer).sum(-1)
    bad = (rows - 1).abs() > TOLERANCE
    if not bad.any():
        return None
    item, token = first(bad)
    return f"row {token} of your weights (text {item}) sums to {rows[item, token]:.4g}, not to 1"


@causal_attention.hint("Which axis is the batch, and which step mixes along it?")
def items_are_independent(answer: type[nn.Module]) -> str | None:
    for when, run in _both_modes(answer):
        x = _texts()
        for item in range(BATCH):
            other = x.clone()
            other[item] = 2 - other[item]
            for watched in set(range(BATCH)) - {item}:
                if differs(run(x)[watched], run(other)[watched]):
                    return f"{when}text {watched} changes when only text {item} is changed"
    return None


def _both_modes(answer: type[nn.Module]) -> Iterator[tuple[str, Callable[[Tensor], Tensor]]]:
    """A model without dropout in eval mode, then in training, where all calls draw alike."""
    model = _build(answer)

    def run(x: Tensor) -> Tensor:
        seed(3)
        return model(x)

    yield "", run
    model.train()
    yield "in training, ", run


@causal_attention.hint("A mask marks places: do you mark what may be seen or what must be hidden?")
def past_is_not_what_is_hidden(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer)[:, :-1]  # the last token may have nobody left
    past = weights[:, torch.ones(TOKENS, TOKENS).tril(-1).bool()[:-1]].max()
    future = weights[:, _future()[:-1]].max()
    if past < TOLERANCE < future:
        return f"the past gets no weight, and the future up to {future:.2f}"
    return None


@causal_attention.hint("What may the first token look at? Is its own place among the blocked ones?")
def token_sees_itself(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer)
    own = weights[:, 1:].diagonal(offset=1, dim1=1, dim2=2)
    if (own < TOLERANCE).all():
        return "every token after the first gives itself the weight 0.00"
    even = (weights.amax(-1) - weights.amin(-1) < TOLERANCE).all(0)  # [tokens]
    if even[0] and not even[-1]:
        return f"token 0 gives all {TOKENS} tokens the same weight, {weights[0, 0, 0]:.2f}"
    return None


@causal_attention.hint("At the blocked places, what goes into your *last* softmax?")
def softmax_runs_once(answer: type[nn.Module]) -> str | None:
    """Of the weights 1, 0, 0, … a second softmax makes shares in the ratio of exp(1) to exp(0)."""
    logs = _weights(answer)[:, 0].log()
    if differs(logs[:, :1] - logs[:, 1:], torch.ones(BATCH, TOKENS - 1)):
        return None
    return _same_for_all_blocked(logs.exp())


def _same_for_all_blocked(row: Tensor) -> str:
    return f"token 0 gives each blocked token the same weight, {row[0, -1]:.2g} in text 0"


@causal_attention.hint("What is exp(0), and which score has exp equal to 0?")
def blocked_scores_are_not_finite(answer: type[nn.Module]) -> str | None:
    """Future weights that do not depend on the keys: blocked with a finite number."""
    later = _weights(answer)[:, 0, 1:]
    spread = (later.max(-1).values - later.min(-1).values) / later.max(-1).values
    if later.min() > 1e-12 and spread.max() < 1e-3:
        return _same_for_all_blocked(later)
    return None


@causal_attention.hint(
    "A number added to a score, or taken off, makes it larger or smaller: does that hide the token?"
)
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
    return (
        f"beside its own weight, token 0 gives the future {factor:.2f} times the weight that it "
        "has without a mask"
    )


@causal_attention.hint(
    "Which line of yours changes the scores of the future, and is what it makes kept?"
)
def mask_changes_something(answer: type[nn.Module]) -> str | None:
    logs, scores = _weights(answer).log(), _scores(answer)
    if not logs.isfinite().all() or _off_line(scores, logs) > 1e-3:
        return None
    return "the weights of each token are those without any mask"


@causal_attention.hint("Read row 0 of the mask aloud: which is the first key that it blocks?")
def future_stands_off(answer: type[nn.Module]) -> str | None:
    weights = _weights(answer) * _future()
    if weights.max() > 1e-6:
        item, query, key = first(weights > 1e-6)
        return (
            f"token {query} gives the later token {key} the weight {weights[item, query, key]:.2g}"
        )
    return None


@causal_attention.hint("Which score has exp equal to 0, however low the other scores are?")
def low_scores_stay_blocked(answer: type[nn.Module]) -> str | None:
    """A fill that is low enough for usual scores only."""
    model, x = _reveal(answer)
    with torch.no_grad():
        model.W_key.weight.copy_(-model.W_query.weight)
        length = model.W_query.weight[:, TOKENS:].sum(1).norm()
        x[..., TOKENS:] = x[..., TOKENS:] / 5 + (-LOW * _REVEAL_OUT**0.5) ** 0.5 / length
    weights = model(x)[..., :TOKENS].detach() * _future()
    if not weights.max() > 1e-6:
        return None
    highest = (model.W_query(x) @ model.W_key(x).mT).max() / _REVEAL_OUT**0.5
    item, query, key = first(weights > 1e-6)
    return (
        f"where all scores are {highest:.0f} or lower, token {query} gives the later token {key} "
        f"the weight {weights[item, query, key]:.2g}"
    )


@causal_attention.hint("Which earlier tokens may the last token still look at?")
def whole_past_is_seen(answer: type[nn.Module]) -> str | None:
    unseen = (_weights(answer) < 1e-7).all(0) & ~_future()
    if not unseen.any():
        return None
    query, key = first(unseen)
    which = "itself" if query == key else f"the earlier token {key}"
    return f"token {query} gives {which} no weight at all"


@causal_attention.hint("Which of the three projections have you not used yet?")
def queries_and_keys_are_used(answer: type[nn.Module]) -> str | None:
    return _unused(answer, "W_key") or _unused(answer, "W_query")


def _unused(answer: type[nn.Module], name: str) -> str | None:
    model, x = _build(answer), _texts()
    before = model(x)
    with torch.no_grad():
        getattr(model, name).weight.normal_()
    unused = not differs(before, model(x))
    return f"other weights in {name} change no output" if unused else None


@causal_attention.hint("In scores[i, j], who asks: row i or column j?")
def queries_ask(answer: type[nn.Module]) -> str | None:
    logs, scores = _weights(answer)[:, -1].log(), _scores(answer)
    asked, swapped = _off_line(scores[:, -1], logs), _off_line(scores[:, :, -1], logs)
    if swapped < 1e-3 < asked:
        return "the last row of weights follows the keys' question to the queries"
    return None


@causal_attention.hint(
    "What happens to scores[i, j] between the product and softmax? Read each step aloud."
)
def scores_are_only_scaled(answer: type[nn.Module]) -> str | None:
    """The right scores, in their order, but bent on the way."""
    logs, scores = _weights(answer)[:, -1].log(), _scores(answer)[:, -1]
    in_order = logs.gather(-1, scores.argsort(-1))
    if (in_order.diff() < -TOLERANCE).any() or _off_line(scores, logs) <= 1e-3:
        return None
    return "the last row of weights follows the order of the scores, and not their distances"


@causal_attention.hint(
    "Which numbers meet in scores[i, j]? Does reading a matrix in another shape turn it?"
)
def weights_follow_the_scores(answer: type[nn.Module]) -> str | None:
    logs, scores = _weights(answer)[:, -1].log(), _scores(answer)[:, -1]
    off = _off_line(scores, logs) > 1e-3
    return "the last row of weights is not the softmax of queries times keys" if off else None


@causal_attention.hint(
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


@causal_attention.must("By which way can a later token still reach an earlier output?")
def past_stands_still(answer: type[nn.Module]) -> str | None:
    for when, run in _both_modes(answer):
        x = _texts()
        for cut in range(1, TOKENS):
            other = x.clone()
            other[:, cut:] = other[:, cut:] * 3 + 1
            if differs(run(x)[:, :cut], run(other)[:, :cut]):
                return f"{when}earlier outputs move when only tokens {cut} and later are changed"
    return low_scores_stay_blocked(answer)


def _off_line(scores: Tensor, logs: Tensor) -> float:
    """How far the logarithms of the weights are from a straight line in the scores."""
    x, y = scores - scores.mean(-1, keepdim=True), logs - logs.mean(-1, keepdim=True)
    slope = (x * y).sum() / (x * x).sum()
    return (y - slope * x).abs().max().item()


@causal_attention.must("Does any step depend on how many texts travel together?")
def batch_size_is_no_matter(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer), _texts()
    moved = differs(model(x)[:1], model(x[:1]))
    return "text 0 comes out differently when it travels alone" if moved else None


@causal_attention.hint("Which number says how much is dropped, and where does forward read it?")
def no_dropout_means_none(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer, dropout=0.0), _texts()
    eval_output = model(x)
    moved = differs(model.train()(x), eval_output)
    return "with dropout=0.0, training still differs from eval mode" if moved else None


@causal_attention.hint("If the survivors have grown in training, what is left to do in eval mode?")
def eval_mode_scales_nothing(answer: type[nn.Module]) -> str | None:
    for p in CHANCES:
        model, x = _reveal(answer, p)
        if differs(model(x), _reveal(answer)[0](x)):
            return f"in eval mode, a dropout of {p} still changes the output"
    return None


@causal_attention.must("Which step acts in training only: does yours, and on what?")
def dropout_drops(answer: type[nn.Module]) -> str | None:
    if finding := eval_mode_scales_nothing(answer):
        return finding
    for p in CHANCES:
        fallen, ratios = _dropped(answer, p)
        if fallen == 0 and ratios.isfinite().all():
            return f"in training with dropout={p}, no attention weight is ever dropped"
    return None


@causal_attention.must("Is p the chance to fall or to stay, and where does forward read it?")
def share_is_dropped(answer: type[nn.Module]) -> str | None:
    for p in CHANCES:
        fallen, ratios = _dropped(answer, p)
        if _even(ratios) and abs(fallen - p) > 0.15:
            return f"with dropout={p}, {fallen:.0%} of the weights are dropped"
    return None


@causal_attention.hint("By how much must the survivors grow so that the average stays?")
def survivors_are_scaled(answer: type[nn.Module]) -> str | None:
    for p in CHANCES:
        _, ratios = _dropped(answer, p)
        if _even(ratios) and not abs(ratios[0] - 1 / (1 - p)) < 1e-3:
            return f"with dropout={p}, each surviving weight is {ratios[0]:.2f} times as large"
    return None


@causal_attention.hint(
    "What do you do with the weights after dropout? Does it depend on how many have fallen?"
)
def survivors_do_not_share(answer: type[nn.Module]) -> str | None:
    for p in CHANCES:
        model, x = _reveal(answer, p)
        model.train()
        sums = torch.cat([model(x)[..., :TOKENS].sum(-1) for _ in range(20)]).flatten()
        left = sums[~(sums.abs() < TOLERANCE)]
        if differs(left, torch.ones_like(left)):
            return None
    return "in training, the weights that are left of a token's still add up to 1"


@causal_attention.must("What must be normalized already when dropout acts on it?")
def dropout_acts_on_weights(answer: type[nn.Module]) -> str | None:
    for p in CHANCES:
        _, ratios = _dropped(answer, p)
        if not ratios.isfinite().all():
            return f"in training with dropout={p}, outputs are not finite"
        odd = (ratios - 1 / (1 - p)).abs() > 1e-2
        if odd.any():
            return (
                f"with dropout={p}, a surviving weight is {ratios[odd][0]:.2f} times its value in "
                "eval mode, another one is not"
            )
    return None


@once
def _dropped(answer: type[nn.Module], p: float) -> tuple[float, Tensor]:
    """In 20 passes in training: the share of the open weights that fall, and each of the others
    divided by its value in eval mode."""
    model, x = _reveal(answer, p)
    before = model(x)[..., :TOKENS].detach()  # [3, 5, 5]
    model.train()
    seed(3)
    weights = torch.stack([model(x)[..., :TOKENS] for _ in range(20)]).detach()
    kept = (weights.abs() > TOLERANCE) | ~weights.isfinite()
    fallen = ~kept[:, before > 1e-2]
    return fallen.float().mean().item(), (weights / before)[kept]


def _even(ratios: Tensor) -> bool:
    return bool(ratios.isfinite().all()) and not differs(ratios, ratios[:1].expand_as(ratios), 1e-3)


@causal_attention.must(
    "Does dropout act on who is looked at, on what is carried over, or on what comes out?"
)
def dropout_spares_the_values(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer, dropout=0.5), torch.ones(1, 1, D_IN)
    model.train()
    out = torch.cat([model(x) for _ in range(40)])[:, 0].detach()
    partly = (out.abs() < TOLERANCE).any(-1) & (out.abs() > TOLERANCE).any(-1)
    if partly.any():
        return "in training, single entries of a context vector vanish, not whole shares"
    return None


@causal_attention.must("What cuts the graph: detach, .data, no_grad, item() or a new tensor?")
def gradients_arrive(answer: type[nn.Module]) -> str | None:
    for when, p in (("", 0.0), ("in training, ", 0.0), ("in training, ", CHANCES[0])):
        model, x = _build(answer, dropout=p).train(bool(when)), _texts().requires_grad_()
        out = model(x)
        if not out.requires_grad:
            return f"{when}the output carries no gradient"
        given = {"the input": x, **{name: getattr(model, name).weight for name in PROJECTIONS}}
        found = torch.autograd.grad((out**2).sum(), [*given.values()], allow_unused=True)
        wanted = torch.autograd.grad((_reference(model, x) ** 2).sum(), [*given.values()])
        for name, gradient in zip(given, found, strict=True):
            if gradient is None or not gradient.abs().max() > 0:
                return f"{when}no gradient reaches {name}"
        for name, gradient, whole in zip(given, found, wanted, strict=True):
            if p == 0 and differs(gradient, whole):
                return f"{when}the gradient that reaches {name} is not the whole one"
    return None


@causal_attention.must("What is different here: a bias, the dtype, or one of the sizes?")
def numbers_agree(answer: type[nn.Module]) -> str | None:
    for tokens, d_out, context in (
        *((tokens, D_OUT, CONTEXT) for tokens in (CONTEXT, TOKENS, 1)),
        (CONTEXT + 3, 6, CONTEXT + 3),
    ):
        for dtype in (torch.float32, torch.float64):
            model = _build(answer, d_out=d_out, bias=True, context=context).to(dtype)
            x = _texts(tokens).to(dtype)
            out, expected = model(x), _reference(model, x)
            if out.dtype != dtype:
                return f"a {dtype} model turns {dtype} input into {out.dtype}"
            if differs(out, expected):
                return (
                    f"with biases, {many(tokens, 'token')}, d_out={d_out} and {dtype}, an output "
                    f"{how_far(out, expected)}"
                )
    return None


@causal_attention.must("A token of zeros is a token: which step of yours treats it otherwise?")
def zeros_are_tokens_too(answer: type[nn.Module]) -> str | None:
    model, x = _build(answer), _texts()
    for token in (0, 2, TOKENS - 1):
        zero = x.clone()
        zero[1, token] = 0.0
        out, expected = model(zero), _reference(model, zero)
        if differs(out, expected):
            return f"with zeros for token {token} of text 1, an output {how_far(out, expected)}"
    return None


@causal_attention.must(
    "Every tensor made inside forward needs device=, and .to moves parameters and buffers only: "
    "where will your mask live after model.to('cuda')?"
)
def devices_meet(answer: type[nn.Module]) -> str | None:
    return left_behind(_build(answer), _texts())


def _reference(model: nn.Module, x: Tensor) -> Tensor:
    blocked = _future(x.shape[1])
    return _attention(model.W_query(x), model.W_key(x), model.W_value(x), blocked)


def _attention(queries: Tensor, keys: Tensor, values: Tensor, blocked: Tensor) -> Tensor:
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    return scores.masked_fill(blocked, float("-inf")).softmax(-1) @ values


# --------------------------------------------------------------------------------------
# peek-test
# --------------------------------------------------------------------------------------
peek_test = Exercise(
    "Change the future, watch the past: that finds peeking, on the inputs that you try, without "
    "reading the code.",
    "a function of (model, x) that returns True or False",
    attempt=lambda answer: [
        answer(_Attention(mask), _texts()) for mask in (_future(), torch.zeros(5, 5).bool())
    ],
)


class _Attention(nn.Module):
    """Attention with whatever mask a suspect uses; True = blocked."""

    def __init__(self, blocked: Tensor, after_softmax: bool = False) -> None:
        super().__init__()
        self.project = with_known_weights(nn.Linear(D_IN, 3 * D_OUT, bias=False))
        self.blocked, self.after_softmax = blocked, after_softmax
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        blocked = self.blocked[: x.shape[1], : x.shape[1]]
        queries, keys, values = self.project(x).chunk(3, dim=-1)
        scores = queries @ keys.transpose(1, 2) / D_OUT**0.5
        if self.after_softmax:
            return scores.softmax(-1).masked_fill(blocked, 0.0) @ values
        return scores.masked_fill(blocked, float("-inf")).softmax(-1) @ values


def _one_hole(query: int, key: int, length: int = TOKENS) -> Tensor:
    mask = _future(length)
    mask[query, key] = False
    return mask


@peek_test.must("Someone may still need what your test was lent: which line writes into it?")
def lent_things_stay(answer: Callable) -> str | None:
    x = _texts()
    before = x.clone()
    answer(_Attention(_future()), x)
    return None if torch.equal(x, before) else "x is another tensor after your test"


@peek_test.hint("A change shows in a comparison only: how often must the model run, and on what?")
def outputs_are_compared(answer: Callable) -> str | None:
    return too_few_runs(answer, _Attention(_future()), _texts())


@peek_test.must(
    "What does your test return when it finds something, and what when it finds nothing? Which "
    "line does that?"
)
def true_or_false_is_said(answer: Callable) -> str | None:
    for mask, what in ((_future(), "a causal model"), (0 * _future() > 0, "a model without mask")):
        if finding := no_truth_value(answer(_Attention(mask), _texts())):
            return f"of {what}, your test says {finding}"
    return None


@peek_test.hint("What is 0 times nan, or 0 times inf? What does a token become when you change it?")
def changed_tokens_are_numbers(answer: Callable) -> str | None:
    model, outputs = _Attention(_future()), []
    model.register_forward_hook(lambda module, inputs, out: outputs.append(out))
    if answer(model, _texts()) and not all(out.isfinite().all() for out in outputs):
        return "with what you put into x, a correct causal model returns nan or inf"
    return None


@peek_test.hint(
    "What does `True` say in this exercise, and what does your test return when no earlier output "
    "moves?"
)
def test_is_not_turned_over(answer: Callable) -> str | None:
    says = [
        answer(_Attention(mask), _texts())
        for mask in (_future(), torch.zeros(TOKENS, TOKENS).bool())
    ]
    if not says[0] or says[1]:
        return None
    return "you say that a correct causal model peeks, and that one without any mask does not"


@peek_test.must("Only outputs before the changed token must stand still: do you compare others?")
def honest_model_passes(answer: Callable) -> str | None:
    for name, model in (
        ("a correct causal model", _Attention(_future())),
        ("a model in which each token sees itself only", _Attention(~torch.eye(TOKENS).bool())),
    ):
        if answer(model, _texts()):
            return f"you say that {name} peeks"
    return None


@peek_test.hint("Which token do you change, and which outputs should then stand still?")
def open_model_is_caught(answer: Callable) -> str | None:
    model = _Attention(torch.zeros(TOKENS, TOKENS).bool())
    return None if answer(model, _texts()) else "you miss a model without any mask"


@peek_test.hint("Its picture looks causal. What else does a future token take part in?")
def late_mask_is_caught(answer: Callable) -> str | None:
    model = _Attention(_future(), after_softmax=True)
    return None if answer(model, _texts()) else "you miss a model that masks after softmax"


@peek_test.must("Which tokens do you change, and which outputs do you compare? All of them?")
def single_holes_are_caught(answer: Callable) -> str | None:
    for query, key, length in (
        *((query, key, TOKENS) for query, key in combinations(range(TOKENS), 2)),
        (CONTEXT - 2, CONTEXT - 1, CONTEXT),
    ):
        if not answer(_Attention(_one_hole(query, key, length)), _texts(length)):
            where = f"token {query} of {length} peeks, at token {key}"
            return f"you miss a model in which only {where}"
    return None


# --------------------------------------------------------------------------------------
# sdpa-mask
# --------------------------------------------------------------------------------------
sdpa_mask = Exercise(
    "Same triangle, opposite words: read the polarity before you lend out a mask.",
    "a function of (mask) that returns a plain tensor",
    attempt=lambda answer: answer(_future()),
)


def _off(answer: Callable[[Tensor], Tensor], blocked: Tensor) -> str | None:
    """Where SDPA with the answer's mask is off from attention that is blocked there."""
    q, k, v = torch.randn(3, BATCH, len(blocked), D_OUT, generator=torch.Generator().manual_seed(9))
    mask = answer(blocked.clone())
    with sdpa_kernel(SDPBackend.MATH):
        if isinstance(mask, Tensor) and mask.dim() == 4:  # an axis for heads, as in [batch, heads]
            out = F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None], mask)[:, 0]
        else:
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    expected = _attention(q, k, v, blocked.bool())
    if not differs(out, expected):
        return None
    token = (out - expected).abs().nan_to_num(torch.inf).amax(dim=(0, 2)).argmax()
    return f"the output of token {token} {how_far(out[:, token], expected[:, token])}"


def _lent() -> Iterator[Tensor]:
    """Masks of future places, by dtype, and one with more places blocked, for three lengths."""
    for length in (5, 3, 9):
        future = _future(length)
        yield from (future, future.float(), future.int())
        yield future | (torch.arange(length) == 1)


@sdpa_mask.hint("One place for each place that you are given: whose size does your mask have?")
def mask_has_its_size(answer: Callable[[Tensor], Tensor]) -> str | None:
    for lent in _lent():
        mask = answer(lent.clone())
        if isinstance(mask, Tensor) and mask.shape[-2:] != lent.shape:
            return f"given a mask of {by(lent.shape)}, you return {by(mask.shape)}"
    return None


KINDS = "Which two kinds of mask does the function take, and which kind is yours?"
ADDED = (
    "A mask of numbers is added to the scores: what is added where nobody may look, and what "
    "elsewhere?"
)


def _other_kind(answer: Callable[[Tensor], Tensor], *masks: Tensor) -> str | None:
    for lent in masks:
        mask = answer(lent.clone())
        if isinstance(mask, Tensor) and mask.dtype not in (torch.bool, torch.float32):
            return f"given a mask of {lent.dtype}, you return one of {mask.dtype}"
    return None


def _wrongly_added(answer: Callable[[Tensor], Tensor], *masks: Tensor) -> str | None:
    for lent in masks:
        if answer(lent.clone()).is_floating_point() and (off := _off(answer, lent)):
            return f"given a mask of {lent.dtype}, you return numbers, and {off}"
    return None


@sdpa_mask.hint(KINDS)
def mask_is_of_a_kind(answer: Callable[[Tensor], Tensor]) -> str | None:
    return _other_kind(answer, _future())


@sdpa_mask.hint(NO_NUMBER)
def mask_holds_numbers(answer: Callable[[Tensor], Tensor]) -> str | None:
    blank = answer(_future()).isnan()
    return f"{int(blank.sum())} of your mask's entries are nan" if blank.any() else None


@sdpa_mask.hint(ADDED)
def numbers_are_added(answer: Callable[[Tensor], Tensor]) -> str | None:
    return _wrongly_added(answer, _future())


@sdpa_mask.hint("Row = the token that asks: who asks in yours, the row or the column?")
def rows_ask(answer: Callable[[Tensor], Tensor]) -> str | None:
    if _off(lambda mask: answer(mask).mT, _future()):
        return None
    return _off(answer, _future())


@sdpa_mask.hint("May a token look at itself? What does your mask say at its place?")
def tokens_see_themselves(answer: Callable[[Tensor], Tensor]) -> str | None:
    mask = answer(_future())
    hidden = torch.equal(mask, torch.ones_like(mask).tril(-1))
    return "your mask opens the past, and hides each token from itself" if hidden else None


@sdpa_mask.hint("The result is compared with is_causal=True: what does True mean to SDPA?")
def sdpa_agrees(answer: Callable[[Tensor], Tensor]) -> str | None:
    return _off(answer, _future())


@sdpa_mask.hint(KINDS)
def any_mask_becomes_one_of_a_kind(answer: Callable[[Tensor], Tensor]) -> str | None:
    return _other_kind(answer, *_lent())


@sdpa_mask.hint(ADDED)
def numbers_are_added_for_any_mask(answer: Callable[[Tensor], Tensor]) -> str | None:
    return _wrongly_added(answer, *_lent())


@sdpa_mask.must("The mask that you are given says what is blocked: where does your code use it?")
def any_mask_is_inverted(answer: Callable[[Tensor], Tensor]) -> str | None:
    for blocked in _lent():
        if off := _off(answer, blocked):
            places = f"{int(blocked.sum())} places of {by(blocked.shape)}"
            return f"with {places} blocked, {off}"
    return None
