"""Lesson 1's exercises: what each answer must do, and hints that explain.

Batch, length, width and table sizes are pairwise different wherever a mistake could hide
behind equal ones; the one place where batch and length are equal on purpose says so.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import torch
from torch import Tensor, nn

from helpers.checks.common import (
    TOLERANCE,
    differs,
    first,
    no_module_class,
    other_parameter,
    seed,
    shape_exercise,
    with_known_weights,
)
from helpers.checks.devices import left_behind
from helpers.exercises import Exercise, describe, in_words, stops
from helpers.shapes import by

BATCH, LENGTH, VOCAB, MAX_LENGTH, D_MODEL, PAD = 3, 5, 11, 7, 8, 0
LAYERS = "token_embed", "position_embed", "noise_embed"
TERMS = "token", "position", "noise"

# --------------------------------------------------------------------------------------
# three-shapes
# --------------------------------------------------------------------------------------
SHAPES = {
    "token": ((3, 5, 7), "How many IDs are looked up, and how wide is one row of the table?"),
    "position": ((5, 7), "Do two texts of one batch have different positions 0, 1, 2, …?"),
    "noise": ((3, 1, 7), "One vector for each what? Which axis is left for broadcasting?"),
    "sum": ((3, 5, 7), "Line the three shapes up from the right: what does each axis become?"),
}

three_shapes = shape_exercise(
    "three-shapes", "Broadcasting adds what is shared without copying it.", SHAPES
)

# --------------------------------------------------------------------------------------
# three-terms
# --------------------------------------------------------------------------------------
three_terms = Exercise(
    "three-terms",
    "What, where and how noisy: three questions, three terms, one sum.",
    "a function of (layers, x_t, t) that returns three plain float tensors",
    attempt=lambda answer: answer(_Layers(), _ids(), _levels()),
)


class _Layers(nn.Module):
    """The three layers of lesson 1, with known weights."""

    def __init__(self) -> None:
        super().__init__()
        self.token_embed = nn.Embedding(VOCAB, D_MODEL)
        self.position_embed = nn.Embedding(MAX_LENGTH, D_MODEL)
        self.noise_embed = nn.Linear(1, D_MODEL)
        with_known_weights(self)


@three_terms.hint("Which three vectors meet at each place, and in which order are they asked for?")
def terms_are_three(answer: Callable) -> str | None:
    found = answer(_Layers(), _ids(), _levels())
    if isinstance(found, tuple | list) and len(found) == 3:
        return None
    return f"you return a {type(found).__name__}, not three tensors"


def _terms(layers: _Layers, ids: Tensor, levels: Tensor) -> list[Tensor]:
    """The three terms, each spread over the places: `[batch, length, d_model]`."""
    token = layers.token_embed(ids)
    position = layers.position_embed.weight[: ids.shape[1]].expand_as(token)
    return [token, position, layers.noise_embed(levels[:, None])[:, None].expand_as(token)]


def _unfit(term: Tensor, ids: Tensor, name: str) -> str | None:
    try:
        term.expand(*ids.shape, D_MODEL)
    except RuntimeError:
        return f"the {name} term has shape {by(tuple(term.shape))}, which does not fit the sum"
    return None


@three_terms.hint("Which of the three is asked for first, which second, and which last?")
def terms_stand_in_order(answer: Callable) -> str | None:
    found = answer(_Layers(), _ids(), _levels())
    if any(_unfit(term, _ids(), "a") for term in found):
        return None
    wanted = dict(zip(TERMS, _terms(_Layers(), _ids(), _levels()), strict=True))
    for order in [*permutations(TERMS)][1:]:
        if not any(
            differs(term.expand_as(wanted[name]), wanted[name])
            for term, name in zip(found, order, strict=True)
        ):
            return f"you return the terms in the order {', '.join(order)}"
    return None


def _term(name: str, question: str) -> None:
    @three_terms.must(question)
    def term_is_right(answer: Callable) -> str | None:
        place = TERMS.index(name)
        for ids in (_ids(), _ids(4, 2)):
            layers, levels = _Layers(), _levels(len(ids))
            found = answer(layers, ids, levels)[place]
            if unfit := _unfit(found, ids, name):
                return unfit
            wanted = _terms(layers, ids, levels)[place]
            if differs(found.expand_as(wanted), wanted):
                shape = by(tuple(found.shape))
                return f"the {name} term, {shape}, holds other numbers than the layer gives"
        return None


_term("token", "Which table says what stands at a place, and which IDs does it look up?")
_term("position", "Which rows does the position table give to places 0, 1, 2, …?")


@three_terms.hint("One vector for each text: where must the axis of size 1 stand?")
def noise_fits(answer: Callable) -> str | None:
    return _unfit(answer(_Layers(), _ids(), _levels())[2], _ids(), "noise")


_term("noise", "Which layer makes a text's noise vector, and from which text's level?")

# --------------------------------------------------------------------------------------
# denoiser-inputs
# --------------------------------------------------------------------------------------
denoiser_inputs = Exercise(
    "denoiser-inputs",
    "What is there, where it is and how noisy the text is now reach every position, and "
    "nothing else does.",
    "a class whose forward(x_t, t) returns a plain float tensor",
    attempt=lambda answer: _build(answer)(_ids(), _levels()),
)


def _build(answer: type[nn.Module], without: str | None = None) -> nn.Module:
    """A model of the learner's class with known weights; one table may be set to zero."""
    seed(5)
    model = answer(VOCAB, MAX_LENGTH, D_MODEL, PAD)
    draw = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for name in LAYERS:
            for weight in getattr(model, name).parameters():
                weight.copy_(torch.randn(weight.shape, generator=draw))
                weight.mul_(name != without)
        model.token_embed.weight[PAD] = 0.0
    return model


def _ids(length: int = LENGTH, batch: int = BATCH) -> Tensor:
    """Corrupted texts that differ, `[batch, length]`: padding, [MASK] and letters."""
    ids = torch.arange(batch * length).reshape(batch, length) * 3 % (VOCAB - 2) + 2
    ids[:, 1:2] = 1
    ids[0, -1] = PAD
    ids[-1, length // 2] = PAD
    return ids


def _levels(batch: int = BATCH) -> Tensor:
    levels = torch.linspace(0.25, 0.75, batch)
    levels[1:-1] += 0.01373  # no round number
    return levels


def _part(answer: type[nn.Module], name: str, ids: Tensor, levels: Tensor) -> Tensor:
    """What one table adds to the output: with it minus without it, `[batch, length, 8]`."""
    with torch.no_grad():
        whole = _build(answer)(ids.clone(), levels.clone())
        return whole - _build(answer, without=name)(ids.clone(), levels.clone())


def _handed_to(answer: type[nn.Module], layer: str) -> Tensor | None:
    """What forward first hands to one of the three layers, even if it stops there."""
    model, seen = _build(answer), []
    getattr(model, layer).register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    with contextlib.suppress(Exception):
        model(_ids(), _levels())
    return seen[0] if seen else None


def _runs(answer: type[nn.Module], ids: Tensor, levels: Tensor) -> bool:
    try:
        _build(answer)(ids, levels)
    except Exception:
        return False
    return True


@denoiser_inputs.hint("`check` builds the model itself: have you handed in the class?")
def answer_is_a_class(answer: Any) -> str | None:
    return no_module_class(answer)


@denoiser_inputs.hint("Which name, attribute or argument does the error's last line miss?")
def names_exist(answer: type[nn.Module]) -> str | None:
    try:
        _build(answer)(_ids(), _levels())
    except (NameError, AttributeError, TypeError) as error:
        return stops(error)
    except Exception:
        return None  # shapes, dtypes and numbers: later demands'
    return None


@denoiser_inputs.hint("The next layer takes one tensor: which of your results is it?")
def result_is_a_tensor(answer: type[nn.Module]) -> str | None:
    out = None
    with contextlib.suppress(Exception):  # what stops is the next demands'
        out = _build(answer)(_ids(), _levels())
    return None if out is None or isinstance(out, Tensor) else f"you return a {type(out).__name__}"


@denoiser_inputs.hint("Does forward work on what it is given, or on something of its own?")
def nothing_is_changed(answer: type[nn.Module]) -> str | None:
    ids, levels = _ids(), _levels()
    with contextlib.suppress(Exception):
        _build(answer)(ids, levels)
    same = torch.equal(ids, _ids()) and torch.equal(levels, _levels())
    return None if same else "forward changes the tensors that it is given"


@denoiser_inputs.hint(
    "A position is the number of a table row, so it must be a whole number; only t is a "
    "quantity. Which of the two did you hand to which table?"
)
def positions_are_whole_numbers(answer: type[nn.Module]) -> str | None:
    rows = _handed_to(answer, "position_embed")
    if rows is None or not rows.is_floating_point():
        return None
    return f"position_embed is asked for rows {rows.flatten()[:3].tolist()}, ..."


@denoiser_inputs.hint(
    "Linear looks only at the last axis: with shape [B] it sees one sample with B features. "
    "Which shape does it need?"
)
def noise_gets_a_column(answer: type[nn.Module]) -> str | None:
    level = _handed_to(answer, "noise_embed")
    if level is None or level.shape[-1:] == (1,):
        return None
    return f"noise_embed is given a t of shape {tuple(level.shape)}"


@denoiser_inputs.hint(
    "Line the shapes up from the right: which axis of [B, L, d] does the B of [B, d] land on? "
    "Print noise.shape next to tok.shape: the 1 must stand where the positions are."
)
def noise_is_spread_over_positions(answer: type[nn.Module]) -> str | None:
    ids, levels = _ids(LENGTH, LENGTH).clamp(min=1), _levels(LENGTH)
    if not _runs(answer, ids, levels):
        return None
    noise = _part(answer, "noise_embed", ids, levels)
    by_place = _build(answer).noise_embed(levels[:, None]).detach().expand(LENGTH, -1, -1)
    if differs(noise, by_place):
        return None
    return f"with {LENGTH} texts of {LENGTH} places, place j carries the noise of text j"


@denoiser_inputs.hint(
    "Print the shape and dtype of what meets in the line that stops: what does it expect?"
)
def it_runs(answer: type[nn.Module]) -> str | None:
    try:
        _build(answer)(_ids(), _levels())
    except Exception as error:
        return stops(error)
    return None


def _shape_found(answer: type[nn.Module]) -> str:
    shape = by(tuple(_build(answer)(_ids(), _levels()).shape))
    return f"for {BATCH} texts of {LENGTH} places and d_model={D_MODEL}, {shape} comes out"


@denoiser_inputs.hint(
    "The next layer expects width d_model; which operation on three d_model vectors keeps it?"
)
def width_is_right(answer: type[nn.Module]) -> str | None:
    *others, width = _build(answer)(_ids(), _levels()).shape
    wrong = tuple(others) == (BATCH, LENGTH) and width != D_MODEL
    return _shape_found(answer) if wrong else None


@denoiser_inputs.must("One vector for each place of each text: which axis is off, or missing?")
def shape_is_right(answer: type[nn.Module]) -> str | None:
    for ids in (_ids(), _ids(LENGTH, 1), _ids(1)):
        shape = tuple(_build(answer)(ids, _levels(len(ids))).shape)
        if shape != (*ids.shape, D_MODEL):
            texts = f"{len(ids)} texts of {ids.shape[1]} places and d_model={D_MODEL}"
            return f"for {texts}, {by(shape)} comes out"
    return None


@denoiser_inputs.hint("Which step makes a number that is no number: a division, a log, an inf?")
def numbers_are_finite(answer: type[nn.Module]) -> str | None:
    finite = _build(answer)(_ids(), _levels()).isfinite()
    return None if finite.all() else f"{(~finite).sum()} numbers of the output are not finite"


@denoiser_inputs.must("What is learned here beside the three layers, and should it be?")
def only_three_layers_are_learned(answer: type[nn.Module]) -> str | None:
    return other_parameter(_build(answer), LAYERS, _ids(), _levels())


@denoiser_inputs.hint("Feed the same token everywhere: do two places still look different?")
def places_differ(answer: type[nn.Module]) -> str | None:
    position = _part(answer, "position_embed", _ids(), _levels())
    if not position.abs().max() > TOLERANCE:
        return "the table of positions reaches no output"
    same = position[:, :1].expand_as(position)
    return None if differs(position, same) else "all places of one text get one position vector"


@denoiser_inputs.hint(
    "Which row of the table belongs to the first place? Try a sequence that is exactly "
    "max_length long."
)
def positions_start_at_zero(answer: type[nn.Module]) -> str | None:
    table = _build(answer).position_embed.weight.detach()
    position = _part(answer, "position_embed", _ids(), _levels())
    rows = torch.cdist(position[1], table).argmin(-1).tolist()
    if rows == list(range(1, LENGTH + 1)):
        return f"the {LENGTH} places get the rows {rows} of the position table"
    return None


@denoiser_inputs.hint("What does a position depend on: the token, the text, or the place only?")
def positions_are_places(answer: type[nn.Module]) -> str | None:
    position = _part(answer, "position_embed", _ids(), _levels())
    table = _build(answer).position_embed.weight.detach()
    bad = (position - table[:LENGTH]).abs().amax(-1) > TOLERANCE
    if not bad.any():
        return None
    item, place = first(bad)
    what = " ([PAD])" if _ids()[item, place] == PAD else ""
    return f"what place {place}{what} of text {item} carries is not position row {place}"


@denoiser_inputs.hint("What are 0.25 and 0.75 after .long()? Whose level does each text get?")
def noise_levels_differ(answer: type[nn.Module]) -> str | None:
    noise = _part(answer, "noise_embed", _ids(), _levels())
    if differs(noise[0], noise[-1]):
        return None
    return "t = 0.25 and t = 0.75 give the same noise vector"


@denoiser_inputs.hint("What does the noise vector of a text depend on, and on nothing else?")
def noise_is_the_texts_own(answer: type[nn.Module]) -> str | None:
    noise = _part(answer, "noise_embed", _ids(), _levels())
    expected = _build(answer).noise_embed(_levels()[:, None]).detach()[:, None]
    bad = (noise - expected).abs().amax(-1) > TOLERANCE
    if not bad.any():
        return None
    item, place = first(bad)
    return f"at place {place} of text {item}, the noise vector is not noise_embed(t[{item}])"


@denoiser_inputs.hint("Which table says what stands at a place, and which IDs does it look up?")
def tokens_are_looked_up(answer: type[nn.Module]) -> str | None:
    token = _part(answer, "token_embed", _ids(), _levels())
    bad = (token - _build(answer).token_embed(_ids())).abs().amax(-1) > TOLERANCE
    if not bad.any():
        return None
    item, place = first(bad)
    return f"at place {place} of text {item}, the token part is not the row of its ID"


@denoiser_inputs.hint(
    "How many rows does the table have, and how many does a sequence of length max_length use?"
)
def full_length_fits(answer: type[nn.Module]) -> str | None:
    try:
        _build(answer)(_ids(MAX_LENGTH), _levels())
    except Exception as error:
        return f"length {MAX_LENGTH} = max_length stops with {type(error).__name__}"
    return None


@denoiser_inputs.must("Which row of the table would place max_length take?")
def longer_is_refused(answer: type[nn.Module]) -> str | None:
    if not _runs(answer, _ids(MAX_LENGTH + 1), _levels()):
        return None
    return f"length {MAX_LENGTH + 1} passes silently, though max_length is {MAX_LENGTH}"


@denoiser_inputs.must("Three vectors meet at each place: are they added, and nothing else?")
def it_is_the_sum(answer: type[nn.Module]) -> str | None:
    for ids in (_ids(), _ids(MAX_LENGTH), _ids(4, 1), _ids(LENGTH, LENGTH)):
        levels = _levels(len(ids)) if len(ids) < LENGTH else torch.linspace(0, 1, LENGTH)
        for model in (_build(answer), _build(answer).eval()):
            out, expected = model(ids, levels), _reference(model, ids, levels)
            bad = (out - expected).abs().amax(-1) > TOLERANCE
            if not bad.any():
                continue
            item, place = first(bad)
            what = "at [PAD]" if ids[item, place] == PAD else f"at place {place}"
            gap = (out - expected)[item, place].abs().max()
            return f"{what} of text {item}, a number is off by {gap:.2f}"
    return None


def _reference(model: nn.Module, ids: Tensor, levels: Tensor) -> Tensor:
    places = model.position_embed.weight[: ids.shape[1]]
    return model.token_embed(ids) + places + model.noise_embed(levels[:, None])[:, None]


@denoiser_inputs.must("What cuts the way back to the tables: detach, .data, no_grad, a new tensor?")
def gradients_arrive(answer: type[nn.Module]) -> str | None:
    model = _build(answer)
    out = model(_ids(), _levels())
    if not out.requires_grad:
        return "the output carries no gradient"
    named = [(k, v) for k, v in model.named_parameters() if k.split(".")[0] in LAYERS]
    names, weights = zip(*named, strict=True)
    found = torch.autograd.grad((out**2).sum(), weights, allow_unused=True)
    wanted = torch.autograd.grad((_reference(model, _ids(), _levels()) ** 2).sum(), weights)
    for name, gradient, right in zip(names, found, wanted, strict=True):
        first_row = 1 if name == "token_embed.weight" else 0  # [PAD]'s row may have one or none
        if gradient is None or differs(gradient[first_row:], right[first_row:]):
            return f"the gradient that reaches {name} is not the whole one"
    return None


@denoiser_inputs.must("Is anything kept from an earlier call that belonged to another length?")
def calls_are_independent(answer: type[nn.Module]) -> str | None:
    model = _build(answer)
    for length in (4, MAX_LENGTH, 1):
        try:
            out = model(_ids(length), _levels())
        except Exception as error:
            return f"after another length, length {length} stops with {describe(error)}"
        if differs(out, _build(answer)(_ids(length), _levels())):
            return f"after another length, length {length} comes out differently"
    return None


@denoiser_inputs.must("Which dtype have the tables' weights, and which has t when it meets them?")
def dtypes_meet(answer: type[nn.Module]) -> str | None:
    for dtype, levels in ((torch.float64, _levels()), (torch.float32, _levels().double())):
        model = _build(answer).to(dtype)
        try:
            out = model(_ids(), levels)
        except Exception as error:
            return f"a {dtype} model and a {levels.dtype} t stop with {type(error).__name__}"
        if out.dtype != dtype:
            return f"a {dtype} model and a {levels.dtype} t give {out.dtype}"
    return None


@denoiser_inputs.must(
    "Every tensor made inside forward needs device=, and .to moves parameters and buffers only: "
    "where will this one live after model.to('cuda')?"
)
def devices_meet(answer: type[nn.Module]) -> str | None:
    return left_behind(_build(answer), _ids(), _levels())


# --------------------------------------------------------------------------------------
# count-parameters
# --------------------------------------------------------------------------------------
count_parameters = Exercise(
    "count-parameters",
    "Nearly all of an input layer's parameters sit in its tables.",
    "a function of (vocab_size, max_length, d_model) that returns a number",
    attempt=lambda answer: answer(8, 6, 16),
)


@count_parameters.must("Which tables are there, how many rows and columns, and who has a bias?")
def counts_agree(answer: Callable[[int, int, int], int]) -> str | None:
    for sizes in ((8, 6, 16), (11, 7, 4), (1, 1, 1), (100, 20, 3)):
        vocab_size, max_length, d_model = sizes
        wanted = (vocab_size + max_length + 2) * d_model
        given = answer(*sizes)
        if given != wanted:
            way = "more" if given < wanted else "fewer"
            return f"for vocab_size, max_length, d_model = {sizes}, there are {way} than {given}"
    return None


# --------------------------------------------------------------------------------------
# noise-axis
# --------------------------------------------------------------------------------------
noise_axis = Exercise(
    "noise-axis",
    "No shape and no error told you; changing one input and watching the others did.",
    "a function of (model, x_t, t) that returns True or False",
    attempt=lambda answer: [
        answer(_NoiseModel(axis), _ids(4, 4), _levels(4)) for axis in ("text", "position")
    ],
)


class _NoiseModel(nn.Module):
    """The sum with the noise on a chosen axis, "text" or "position".

    With a `leak` of two texts, one place of the first has the noise of the second.
    """

    def __init__(self, axis: str = "text", leak: tuple[int, int] | None = None) -> None:
        super().__init__()
        self.axis, self.leak = axis, leak
        self.token_embed = nn.Embedding(VOCAB, D_MODEL)
        self.noise_embed = nn.Linear(1, D_MODEL)
        with_known_weights(self)

    def forward(self, x_t: Tensor, t: Tensor) -> Tensor:
        noise, tokens = self.noise_embed(t[:, None]), self.token_embed(x_t)
        if self.axis == "position":
            return tokens + noise
        own = noise[:, None].repeat(1, x_t.shape[1], 1)
        if self.leak:
            to, source = self.leak
            own[to, source] = noise[source]
        return tokens + own


@noise_axis.must("Is x_t or t another tensor after your test?")
def lent_tensors_stay(answer: Callable) -> str | None:
    ids, levels = _ids(4, 4), _levels(4)
    answer(_NoiseModel(), ids, levels)
    same = torch.equal(ids, _ids(4, 4)) and torch.equal(levels, _levels(4))
    return None if same else "your test changes the tensors that it is lent"


@noise_axis.must("If only t[1] changes, which texts may move, and which must stand still?")
def right_noise_passes(answer: Callable) -> str | None:
    for ids, levels in ((_ids(4, 4), _levels(4)), (_ids(5, 3), _levels(3))):
        if answer(_NoiseModel(), ids, levels):
            return "you accuse a model that gives each text its own noise level"
    return None


@noise_axis.hint("Text 0 has its own level: does its output move when another one's changes?")
def wrong_axis_is_caught(answer: Callable) -> str | None:
    if answer(_NoiseModel("position"), _ids(4, 4), _levels(4)):
        return None
    return "you miss a model whose place j gets the noise of text j"


@noise_axis.must("Which levels do you change, and which places do you compare? All of them?")
def single_leaks_are_caught(answer: Callable) -> str | None:
    for to, source in permutations(range(4), 2):
        if not answer(_NoiseModel(leak=(to, source)), _ids(4, 4), _levels(4)):
            place = f"one place of text {to}"
            return f"you miss a model in which {place} gets the noise of text {source}"
    return None


# --------------------------------------------------------------------------------------
# midpoint
# --------------------------------------------------------------------------------------
midpoint = Exercise(
    "midpoint",
    "Two known levels fix the whole line: that is all that nn.Linear(1, d_model) can say.",
    "a function of (low, high) that returns two vectors like them",
    attempt=lambda answer: answer(torch.zeros(D_MODEL), torch.ones(D_MODEL)),
)


@midpoint.hint("How many levels are asked for, and how many vectors come back?")
def two_vectors(answer: Callable) -> str | None:
    found = answer(torch.zeros(D_MODEL), torch.ones(D_MODEL))
    two = isinstance(found, tuple | list | Tensor) and len(found) == 2
    return None if two else f"you return {in_words(found)}, not two vectors"


@midpoint.must("Where on the way from 0.25 to 0.75 does 0.5 lie? And 1.0?")
def levels_lie_on_the_line(answer: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> str | None:
    draw = torch.Generator().manual_seed(2)
    slope, bias = torch.randn(2, D_MODEL, generator=draw)
    results = answer(0.25 * slope + bias, 0.75 * slope + bias)
    for level, result in zip((0.5, 1.0), results, strict=True):
        gap = (result - (level * slope + bias)).abs().max()
        if not gap <= TOLERANCE:
            return f"your g({level}) is off by up to {gap:.2f}"
    return None


# --------------------------------------------------------------------------------------
# sinusoidal
# --------------------------------------------------------------------------------------
SIZES = (5, 8), (7, 4), (60, 6)
sinusoidal = Exercise(
    "sinusoidal",
    "A formula in place of a table: nothing to learn, and no longest length.",
    "a function of (length, d_model) that returns a plain float tensor",
    attempt=lambda answer: answer(5, 8),
)


@sinusoidal.must("One row for each position, one column for each number of the vector: which?")
def table_has_its_shape(answer: Callable[[int, int], Tensor]) -> str | None:
    for length, d_model in SIZES:
        shape = tuple(answer(length, d_model).shape)
        if shape != (length, d_model):
            return f"for length {length} and d_model {d_model}, the table is {by(shape)}"
    return None


@sinusoidal.hint("What are the sine and the cosine of 0? In which columns do they stand?")
def first_row_is_zero_one(answer: Callable[[int, int], Tensor]) -> str | None:
    row = answer(5, 8)[0]
    wanted = torch.tensor([0.0, 1.0] * 4)
    if not differs(row.float(), wanted):
        return None
    return f"row 0 begins with {row[0]:.2f}, {row[1]:.2f}, {row[2]:.2f}"


@sinusoidal.must("By which factor does the speed fall from one pair of columns to the next?")
def speeds_fall(answer: Callable[[int, int], Tensor]) -> str | None:
    for length, d_model in SIZES:
        table = answer(length, d_model).float()
        for position in range(length):
            for column in range(d_model):
                angle = position / 10000 ** (column // 2 * 2 / d_model)
                wanted = math.cos(angle) if column % 2 else math.sin(angle)
                value = table[position, column].item()
                if not abs(value - wanted) < 1e-3:
                    return (
                        f"position {position}, column {column} (d_model {d_model}) is {value:.3f}"
                    )
    return None
