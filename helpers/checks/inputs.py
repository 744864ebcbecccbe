"""Lesson 1's exercises: what each answer must do, and hints that explain.

Batch, length, width and table sizes are pairwise different wherever a mistake could hide
behind equal ones; the one place where batch and length are equal on purpose says so.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any

import torch
from torch import Tensor, nn

from helpers.checks.common import (
    NOT_FINITE,
    TOLERANCE,
    demand_class,
    differs,
    first,
    how_far,
    many,
    no_truth_value,
    other_parameter,
    seed,
    shape_exercise,
    too_few_runs,
    with_known_weights,
)
from helpers.checks.devices import left_behind
from helpers.exercises import Exercise, describe, in_words, stops, told
from helpers.shapes import by, rounded

BATCH, LENGTH, VOCAB, MAX_LENGTH, D_MODEL, PAD = 3, 5, 11, 7, 8, 0
LAYERS = "token_embed", "position_embed", "noise_embed"
TERMS = "token", "position", "noise"
DTYPES = "Which dtype have the tables' weights, and which has t when it meets them?"
CAST = "Which of your lines changes a dtype, and does it do so for every model?"
SUM = "Three vectors meet at each place: are they added, and nothing else?"
COLUMN = (
    "Linear looks only at the last axis: with shape [B] it sees one sample with B features. "
    "Which shape does it need?"
)
LEVEL = "What does your code do with a level before the noise layer gets it?"
WRITES = "Someone may still need what you were given: which line writes into it?"

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
    "Broadcasting adds what is shared without copying it.",
    SHAPES,
    also={"position": (1, 5, 7)},  # the sum is the same
    slips=[
        (
            "token",
            lambda shape: shape == (5, 3, 7),
            "What shape has x_t, and which axis does the lookup add to it?",
        ),
        (
            "position",
            lambda shape: shape[-1:] != (7,),
            "What does the table give for one place: a number, or how many?",
        ),
        (
            "position",
            lambda shape: 5 not in shape,
            "How many places does a text have here, and how many rows are looked up for it?",
        ),
        (
            "noise",
            lambda shape: shape[-1:] != (7,),
            "One vector of how many numbers, and for each what?",
        ),
    ],
)

# --------------------------------------------------------------------------------------
# three-terms
# --------------------------------------------------------------------------------------
three_terms = Exercise(
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


def _handed_to(layers: nn.Module, layer: str, run: Callable[[], Any]) -> Tensor | None:
    """What a run first hands to one of the three layers, even if it stops there."""
    seen = []
    getattr(layers, layer).register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    with contextlib.suppress(Exception):
        run()
    return seen[0] if seen and isinstance(seen[0], Tensor) else None


def _no_column(level: Tensor | None) -> str | None:
    if level is None or level.shape[-1:] == (1,):
        return None
    return f"noise_embed is given a t of shape {tuple(level.shape)}"


def _other_level(handed: Tensor | None, levels: Tensor) -> str | None:
    """A text whose level is not what the noise layer is handed for it."""
    if handed is None or handed.numel() != len(levels):
        return None
    handed = handed.flatten().to(levels)
    if not differs(handed.sort().values, levels.sort().values):
        return None  # each has a level of the batch: whose, is another question
    (text,) = first(~((handed - levels).abs() <= TOLERANCE))
    return f"text {text} has the level {levels[text]:.4g}, and noise_embed gets {handed[text]:.4g}"


def _handed_for_noise(answer: Callable) -> Tensor | None:
    layers = _Layers()
    return _handed_to(layers, "noise_embed", lambda: answer(layers, _ids(), _levels()))


@three_terms.hint(COLUMN)
def noise_layer_gets_a_column(answer: Callable) -> str | None:
    return _no_column(_handed_for_noise(answer))


@three_terms.hint("Which three vectors meet at each place, and in which order are they asked for?")
def terms_are_three(answer: Callable) -> str | None:
    found = answer(_Layers(), _ids(), _levels())
    if isinstance(found, tuple | list) and len(found) == 3:
        return None
    return f"you return {in_words(found)}, not three tensors"


@three_terms.hint(WRITES)
def given_tensors_stay(answer: Callable) -> str | None:
    return _changed(lambda ids, levels: answer(_Layers(), ids, levels))


def _changed(run: Callable[[Tensor, Tensor], Any]) -> str | None:
    """Which of x_t and t is another tensor after a run, even if it stops there."""
    ids, levels = _ids(4, 4), _levels(4)
    with contextlib.suppress(Exception):
        run(ids, levels)
    for name, given, kept in (("x_t", ids, _ids(4, 4)), ("t", levels, _levels(4))):
        if differs(given, kept):
            return f"the {name} that you are given is another tensor afterwards"
    return None


def _terms(layers: nn.Module, ids: Tensor, levels: Tensor) -> list[Tensor]:
    """The three terms, each spread over the places: `[batch, length, d_model]`."""
    token = layers.token_embed(ids)
    position = layers.position_embed.weight[: ids.shape[1]].expand_as(token)
    return [token, position, layers.noise_embed(levels[:, None])[:, None].expand_as(token)]


def _size(ids: Tensor) -> str:
    return f"{many(len(ids), 'text')} of {many(ids.shape[1], 'place')}"


def _unfit(term: Tensor, ids: Tensor, name: str) -> str | None:
    try:
        term.expand(*ids.shape, D_MODEL)
    except RuntimeError:
        shape, texts = by(term.shape), _size(ids)
        return f"for {texts}, the {name} term is {shape}: it does not fit"
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
                right = {
                    "token": "the rows of its IDs",
                    "position": f"the rows of places 0 to {ids.shape[1] - 1}",
                    "noise": "the layer gives for each text's own level",
                }
                shape = by(found.shape)
                return f"the {name} term, {shape}, holds other numbers than {right[name]}"
        return None


_term("token", "Which table says what stands at a place, and which IDs does it look up?")


@three_terms.hint("Do your row numbers count the texts, or the places of a text?")
def rows_count_places(answer: Callable) -> str | None:
    layers, ids = _Layers(), _ids()
    found = answer(layers, ids, _levels())[1]
    by_text = layers.position_embed.weight[: len(ids), None].expand(*ids.shape, D_MODEL)
    if _unfit(found, ids, "position") or differs(found.expand_as(by_text), by_text):
        return None
    return "all places of a text get one and the same row of the position table"


_term("position", "Which rows does the position table give to places 0, 1, 2, …?")


@three_terms.hint("One vector for each text: where must the axis of size 1 stand?")
def noise_fits(answer: Callable) -> str | None:
    for ids in (_ids(), _ids(4, 2)):
        if unfit := _unfit(answer(_Layers(), ids, _levels(len(ids)))[2], ids, "noise"):
            return unfit
    return None


@three_terms.hint("What are 0.25 and 0.75 after .long()?")
def levels_are_no_whole_numbers(answer: Callable) -> str | None:
    layers, ids = _Layers(), _ids()
    found = answer(layers, ids, _levels())[2]
    without = layers.noise_embed.bias.expand(*ids.shape, D_MODEL)
    same = not differs(found.expand_as(without), without)
    return "each text's noise term is the one that belongs to t = 0" if same else None


@three_terms.hint(LEVEL)
def levels_arrive_as_they_are(answer: Callable) -> str | None:
    return _other_level(_handed_for_noise(answer), _levels())


_term("noise", "Which layer makes a text's noise vector, and from which text's level?")

# --------------------------------------------------------------------------------------
# denoiser-inputs
# --------------------------------------------------------------------------------------
denoiser_inputs = Exercise(
    "What is there, where it is and how noisy the text is now reach every position, and "
    "nothing else does.",
    "a class whose forward(x_t, t) returns a plain float tensor",
    attempt=lambda answer: _build(answer)(_ids(), _levels()),
)


def _build(answer: type[nn.Module], *without: str | None) -> nn.Module:
    """A model of the learner's class with known weights; some tables may be set to zero."""
    seed(5)
    model = answer(VOCAB, MAX_LENGTH, D_MODEL, PAD)
    draw = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for name in LAYERS:
            for weight in getattr(model, name).parameters():
                weight.copy_(torch.randn(weight.shape, generator=draw))
                weight.mul_(name not in without)
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


def _part(
    answer: type[nn.Module], name: str, ids: Tensor, levels: Tensor, off: str | None = None
) -> Tensor:
    """What one table adds to the output: with it minus without it, `[batch, length, 8]`.

    The table `off` is zero in both.
    """
    with torch.no_grad():
        whole = _build(answer, off)(ids.clone(), levels.clone())
        return whole - _build(answer, off, name)(ids.clone(), levels.clone())


def _is_off(answer: type[nn.Module], found: Tensor, wanted: Tensor) -> Tensor:
    """The places where a part of the output is off by more than its rounding, `[batch, length]`."""
    largest = _build(answer)(_ids(), _levels()).abs().max().item()
    room = TOLERANCE * max(1.0, largest / 10)
    return ~((found - wanted).abs().amax(-1) <= room)


def _handed(answer: type[nn.Module], layer: str) -> Tensor | None:
    model = _build(answer)
    return _handed_to(model, layer, lambda: model(_ids(), _levels()))


def _runs(answer: type[nn.Module], ids: Tensor, levels: Tensor) -> bool:
    try:
        _build(answer)(ids, levels)
    except Exception:
        return False
    return True


demand_class(denoiser_inputs, "model")


@denoiser_inputs.hint("The next layer takes one tensor: which of your results is it?")
def result_is_a_tensor(answer: type[nn.Module]) -> str | None:
    out = None
    with contextlib.suppress(Exception):  # what stops is the next demands'
        out = _build(answer)(_ids(), _levels())
    return None if out is None or isinstance(out, Tensor) else f"you return a {type(out).__name__}"


@denoiser_inputs.hint("Does forward work on what it is given, or on something of its own?")
def nothing_is_changed(answer: type[nn.Module]) -> str | None:
    return _changed(_build(answer))


@denoiser_inputs.hint(
    "A position is the number of a table row, so it must be a whole number; only t is a "
    "quantity. Which of the two did you hand to which table?"
)
def positions_are_whole_numbers(answer: type[nn.Module]) -> str | None:
    rows = _handed(answer, "position_embed")
    if rows is None or not rows.is_floating_point():
        return None
    return _asked_for("position_embed", rows)


def _asked_for(table: str, rows: Tensor) -> str:
    return f"{table} is asked for rows {rows.flatten()[:3].tolist()}, ..."


@denoiser_inputs.hint("Which table is handed the IDs, and which the places?")
def tables_are_not_exchanged(answer: type[nn.Module]) -> str | None:
    rows = _handed(answer, "token_embed")
    if rows is not None and rows.flatten()[:LENGTH].tolist() == list(range(LENGTH)):
        return _asked_for("token_embed", rows)
    rows = _handed(answer, "position_embed")
    if rows is not None and not differs(rows, _ids()):
        return _asked_for("position_embed", rows)
    return None


@denoiser_inputs.hint(COLUMN)
def noise_gets_a_column(answer: type[nn.Module]) -> str | None:
    return _no_column(_handed(answer, "noise_embed"))


@denoiser_inputs.hint(
    "Line the shapes up from the right: which axis of [batch, length, d_model] does the batch of "
    "[batch, d_model] meet? Of a noise vector for each text, which axis must have size 1?"
)
def noise_is_spread_over_positions(answer: type[nn.Module]) -> str | None:
    ids, levels = _ids(LENGTH, LENGTH).clamp(min=1), _levels(LENGTH)
    if not _runs(answer, ids, levels) or _runs(answer, _ids(), _levels()):
        return None  # on the wrong axis, it runs where batch and length are equal only
    noise = _part(answer, "noise_embed", ids, levels)
    by_place = _build(answer).noise_embed(levels[:, None]).detach().expand(LENGTH, -1, -1)
    if differs(noise, by_place):
        return None
    return f"with {LENGTH} texts of {LENGTH} places, place j carries the noise of text j"


@denoiser_inputs.hint(
    "Call your class in a cell of your own, and print the shape and dtype of what meets in the "
    "line that stops: what does that line expect?"
)
def it_runs(answer: type[nn.Module]) -> str | None:
    try:
        _build(answer)(_ids(), _levels())
    except Exception as error:
        return stops(error)
    return None


@denoiser_inputs.hint(
    "The next layer expects width d_model; which operation on three d_model vectors keeps it?"
)
def width_is_right(answer: type[nn.Module]) -> str | None:
    shape = _build(answer)(_ids(), _levels()).shape
    *others, width = shape
    if others != [BATCH, LENGTH] or width == D_MODEL:
        return None
    return f"for {_size(_ids())} and d_model={D_MODEL}, {by(shape)} comes out"


@denoiser_inputs.must("One vector for each place of each text: which axis is off, or missing?")
def shape_is_right(answer: type[nn.Module]) -> str | None:
    for ids in (_ids(), _ids(LENGTH, 1), _ids(1)):
        shape = tuple(_build(answer)(ids, _levels(len(ids))).shape)
        if shape != (*ids.shape, D_MODEL):
            return f"for {_size(ids)} and d_model={D_MODEL}, {by(shape)} comes out"
    return None


@denoiser_inputs.hint("What in forward is drawn anew at each call, and should it be?")
def calls_repeat(answer: type[nn.Module]) -> str | None:
    model = _build(answer)
    same = not differs(model(_ids(), _levels()), model(_ids(), _levels()))
    return None if same else "two calls with one input differ"


@denoiser_inputs.hint(CAST)
def dtype_is_kept(answer: type[nn.Module]) -> str | None:
    dtype = _build(answer)(_ids(), _levels()).dtype
    return None if dtype == torch.float32 else f"float32 tables and a float32 t give {dtype}"


@denoiser_inputs.hint(NOT_FINITE)
def numbers_are_finite(answer: type[nn.Module]) -> str | None:
    finite = _build(answer)(_ids(), _levels()).isfinite()
    return None if finite.all() else f"{(~finite).sum()} numbers of the output are not finite"


@denoiser_inputs.must("What is learned here beside the three layers, and should it be?")
def only_three_layers_are_learned(answer: type[nn.Module]) -> str | None:
    return other_parameter(_build(answer), LAYERS, _ids(), _levels())


@denoiser_inputs.hint("Three layers make the three vectors: which of them has no part in your sum?")
def noise_is_there(answer: type[nn.Module]) -> str | None:
    noise = _part(answer, "noise_embed", _ids(), _levels())
    return None if noise.abs().max() > TOLERANCE else "the noise layer reaches no output"


@denoiser_inputs.hint(
    "Does your code treat some places otherwise than others, and what do *where* and *how noisy* "
    "say at a [PAD]?"
)
def padding_has_its_vectors(answer: type[nn.Module]) -> str | None:
    bad = _off_places(_build(answer), _ids(), _levels())
    if not torch.equal(bad, _ids() == PAD):
        return None
    return f"{_off_number(_build(answer), _ids(), _levels())}; only the places of [PAD] are off"


@denoiser_inputs.hint(SUM)
def vectors_are_added(answer: type[nn.Module]) -> str | None:
    """Each vector is in the output as often as another one, and whatever the other two are."""
    for name, shown in zip(LAYERS, TERMS, strict=True):
        part = _part(answer, name, _ids(), _levels())
        for other, by_name in zip(LAYERS, TERMS, strict=True):
            if other == name:
                continue
            alone = _part(answer, name, _ids(), _levels(), off=other)
            bad = _is_off(answer, part, alone)
            if bad.any():
                item, place = first(bad)
                return (
                    f"at place {place} of text {item}, what the {shown} vector adds to the output "
                    f"depends on the {by_name} vector"
                )
    return None


@denoiser_inputs.hint(SUM)
def vectors_have_their_size(answer: type[nn.Module]) -> str | None:
    for name, shown in zip(LAYERS, TERMS, strict=True):
        part = _part(answer, name, _ids(), _levels())
        term = _terms(_build(answer), _ids(), _levels())[LAYERS.index(name)].detach()
        size = (part * term).sum() / (term * term).sum()
        if (
            abs(size - 1) > 0.01
            and size.abs() > 0.01
            and not _is_off(answer, part, size * term).any()
        ):
            return f"every {shown} vector is in the output {size:.2f} times"
    return None


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
    bad = _is_off(answer, position, table[:LENGTH])
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


@denoiser_inputs.hint(LEVEL)
def levels_reach_their_layer(answer: type[nn.Module]) -> str | None:
    return _other_level(_handed(answer, "noise_embed"), _levels())


@denoiser_inputs.hint("What does the noise vector of a text depend on, and on nothing else?")
def noise_is_the_texts_own(answer: type[nn.Module]) -> str | None:
    noise = _part(answer, "noise_embed", _ids(), _levels())
    expected = _build(answer).noise_embed(_levels()[:, None]).detach()[:, None]
    bad = _is_off(answer, noise, expected)
    if not bad.any():
        return None
    item, place = first(bad)
    return f"at place {place} of text {item}, the noise vector is not noise_embed(t[{item}])"


@denoiser_inputs.hint("Which table says what stands at a place, and which IDs does it look up?")
def tokens_are_looked_up(answer: type[nn.Module]) -> str | None:
    token = _part(answer, "token_embed", _ids(), _levels())
    bad = _is_off(answer, token, _build(answer).token_embed(_ids()))
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


@denoiser_inputs.hint(
    "Which row of the table belongs to the last place of a text that is exactly max_length long?"
)
def last_place_has_its_row(answer: type[nn.Module]) -> str | None:
    ids = _ids(MAX_LENGTH)
    bad = _off_places(_build(answer), ids, _levels())
    if not bad[:, -1].all() or bad[:, :-1].any():
        return None
    off = _off_number(_build(answer), ids, _levels())
    return f"with {MAX_LENGTH} places, which is max_length, {off}; only the last places are off"


@denoiser_inputs.hint("Is a level of 0 a level? What is the noise vector of a text without noise?")
def level_0_is_a_level(answer: type[nn.Module]) -> str | None:
    if _off_places(_build(answer), _ids(), _levels()).any():
        return None
    off = _off_number(_build(answer), _ids(), 0 * _levels())
    return f"with t = 0, {off}" if off else None


@denoiser_inputs.hint("What does your forward do in eval mode that it does not do in training?")
def eval_mode_is_no_matter(answer: type[nn.Module]) -> str | None:
    if _off_places(_build(answer), _ids(), _levels()).any():
        return None
    off = _off_number(_build(answer).eval(), _ids(), _levels())
    return f"in eval mode, {off}" if off else None


@denoiser_inputs.must(SUM)
def it_is_the_sum(answer: type[nn.Module]) -> str | None:
    for ids in (_ids(), _ids(MAX_LENGTH), _ids(4, 1), _ids(LENGTH, LENGTH)):
        levels = _levels(len(ids)) if len(ids) < LENGTH else torch.linspace(0, 1, LENGTH)
        for model in (_build(answer), _build(answer).eval()):
            if off := _off_number(model, ids, levels):
                return f"with {_size(ids)}, {off}"
    return None


def _off_places(model: nn.Module, ids: Tensor, levels: Tensor) -> Tensor:
    """The places of a model's output at which a number is off, `[batch, length]`."""
    gaps = (model(ids, levels) - sum(_terms(model, ids, levels))).abs().amax(-1)
    return ~(gaps <= TOLERANCE)


def _off_number(model: nn.Module, ids: Tensor, levels: Tensor) -> str | None:
    """By how much the output is off at the first of these places."""
    bad = _off_places(model, ids, levels)
    if not bad.any():
        return None
    item, place = first(bad)
    what = " ([PAD])" if ids[item, place] == PAD else ""
    out, expected = model(ids, levels), sum(_terms(model, ids, levels))
    gap = how_far(out[item, place], expected[item, place])
    return f"at place {place}{what} of text {item}, a number {gap}"


@denoiser_inputs.must("What cuts the way back to the tables: detach, .data, no_grad, a new tensor?")
def gradients_arrive(answer: type[nn.Module]) -> str | None:
    model = _build(answer)
    out = model(_ids(), _levels())
    if not out.requires_grad:
        return "the output carries no gradient"
    named = [(k, v) for k, v in model.named_parameters() if k.split(".")[0] in LAYERS]
    names, weights = zip(*named, strict=True)
    found = torch.autograd.grad((out**2).sum(), weights, allow_unused=True)
    wanted = torch.autograd.grad((sum(_terms(model, _ids(), _levels())) ** 2).sum(), weights)
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


@denoiser_inputs.hint(DTYPES)
def dtypes_meet(answer: type[nn.Module]) -> str | None:
    for model, levels in _dtypes(answer):
        try:
            model(_ids(), levels)
        except Exception as error:
            dtype = model.noise_embed.weight.dtype
            return f"a {dtype} model and a {levels.dtype} t stop with {type(error).__name__}"
    return None


@denoiser_inputs.must(CAST)
def dtypes_are_kept(answer: type[nn.Module]) -> str | None:
    for model, levels in _dtypes(answer):
        found, dtype = model(_ids(), levels).dtype, model.noise_embed.weight.dtype
        if found != dtype:
            return f"a {dtype} model and a {levels.dtype} t give {found}"
    return None


def _dtypes(answer: type[nn.Module]) -> Iterator[tuple[nn.Module, Tensor]]:
    """Models and levels whose dtypes differ."""
    yield _build(answer).double(), _levels()
    yield _build(answer), _levels().double()


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
    "Nearly all of an input layer's parameters sit in its tables.",
    "a function of (vocab_size, max_length, d_model) that returns a number",
    attempt=lambda answer: answer(8, 6, 16),
)


@count_parameters.hint(
    "Can anybody compute with what stands in quotes? What type does your line return?"
)
def count_is_no_text(answer: Callable[[int, int, int], int]) -> str | None:
    given = answer(*COUNTED[0])
    return f"you return {told(given)}, a str, not a number" if isinstance(given, str) else None


@count_parameters.hint(NOT_FINITE)
def count_is_finite(answer: Callable[[int, int, int], int]) -> str | None:
    given = answer(*COUNTED[0])
    with contextlib.suppress(Exception):
        return None if math.isfinite(given) else f"you return {told(given)}, not a number"
    return None


@count_parameters.hint("One number is asked for: how do the parts that you have become one?")
def count_is_a_number(answer: Callable[[int, int, int], int]) -> str | None:
    given = answer(*COUNTED[0])
    with contextlib.suppress(Exception):
        if not isinstance(given, bool) and math.isfinite(given):
            return None
    return f"you return {told(given)}, not one number"


@count_parameters.hint("Which number in your formula must come from the arguments instead?")
def sizes_come_from_the_arguments(answer: Callable[[int, int, int], int]) -> str | None:
    """Right for the lesson's own sizes only."""
    return _miscounted(answer, COUNTED) if not _miscounted(answer, COUNTED[:1]) else None


def _if_counted(question: str, formula: Callable[[int, int, int], int]) -> None:
    """Ask a question of its own when a known slip has been counted."""

    @count_parameters.hint(question)
    def count_is_no_slip(answer: Callable[[int, int, int], int]) -> str | None:
        same = all(answer(*sizes) == formula(*sizes) for sizes in COUNTED)
        return _miscounted(answer, COUNTED) if same else None


_if_counted(
    "How many numbers go into the noise layer, and how many come out?",
    lambda vocab_size, max_length, d_model: (vocab_size + max_length + d_model + 1) * d_model,
)
_if_counted(
    "How many noise layers are there: one, or one for each place?",
    lambda vocab_size, max_length, d_model: (vocab_size + 3 * max_length) * d_model,
)
_if_counted(
    "What is counted in yours: numbers, or the room that they take?",
    lambda vocab_size, max_length, d_model: 4 * (vocab_size + max_length + 2) * d_model,
)


@count_parameters.must(
    "Which tables are there, with how many rows and columns? Which part has a bias, and how many "
    "numbers are in it?"
)
def counts_agree(answer: Callable[[int, int, int], int]) -> str | None:
    return _miscounted(answer, COUNTED)


COUNTED = (8, 6, 16), (11, 7, 4), (1, 1, 1), (100, 20, 3)


def _miscounted(answer: Callable[[int, int, int], int], some: Sequence) -> str | None:
    for sizes in some:
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
    "No shape and no error told you; changing one input and watching the others did.",
    "a function of (model, x_t, t) that returns True or False",
    attempt=lambda answer: [
        answer(_NoiseModel(axis), _ids(4, 4), _levels(4)) for axis in ("text", "position")
    ],
)


class _NoiseModel(nn.Module):
    """The sum with the noise on a chosen axis, "text" or "position", or the "mean" for all texts.

    With a `leak` of two texts, one place of the first has the noise of the second, if both travel.
    The noise counts so many `times`.
    """

    def __init__(
        self, axis: str = "text", leak: tuple[int, int] | None = None, times: float = 1.0
    ) -> None:
        super().__init__()
        self.axis, self.leak, self.times = axis, leak, times
        self.token_embed = nn.Embedding(VOCAB, D_MODEL)
        self.noise_embed = nn.Linear(1, D_MODEL)
        with_known_weights(self)

    def forward(self, x_t: Tensor, t: Tensor) -> Tensor:
        noise, tokens = self.times * self.noise_embed(t[:, None]), self.token_embed(x_t)
        if self.axis == "position":
            return tokens + noise
        if self.axis == "mean":
            noise = noise.mean(0, keepdim=True).expand_as(noise)
        own = noise[:, None].repeat(1, x_t.shape[1], 1)
        if self.leak and max(self.leak) < min(x_t.shape):
            to, source = self.leak
            own[to, source] = noise[source]
        return tokens + own


@noise_axis.must(WRITES)
def lent_tensors_stay(answer: Callable) -> str | None:
    return _changed(lambda ids, levels: answer(_NoiseModel(), ids, levels))


@noise_axis.hint("A change shows in a comparison only: how often must the model run, and on what?")
def outputs_are_compared(answer: Callable) -> str | None:
    return too_few_runs(answer, _NoiseModel(), _ids(4, 4), _levels(4))


@noise_axis.must(
    "What does your test return when it finds something, and what when it finds nothing? Which "
    "line does that?"
)
def true_or_false_is_said(answer: Callable) -> str | None:
    for axis, what in (("text", "each text has its own level"), ("position", "levels are mixed")):
        if finding := no_truth_value(answer(_NoiseModel(axis), _ids(4, 4), _levels(4))):
            return f"where {what}, your test returns {finding}"
    return None


@noise_axis.hint(
    "What does `True` say in this exercise, and what does your test return when no other text "
    "moves?"
)
def test_is_not_turned_over(answer: Callable) -> str | None:
    says = [answer(_NoiseModel(axis), _ids(4, 4), _levels(4)) for axis in ("text", "position")]
    if not says[0] or says[1]:
        return None
    return "you accuse a model that gives each text its own noise level, and pass one that mixes"


@noise_axis.must("If only t[1] changes, which texts may move, and which must stand still?")
def right_noise_passes(answer: Callable) -> str | None:
    for ids, levels in ((_ids(4, 4), _levels(4)), (_ids(5, 3), _levels(3))):
        if answer(_NoiseModel(), ids, levels):
            return "you accuse a model that gives each text its own noise level"
    return None


@noise_axis.hint("How far does text 0 move there, and from how far on does your test count it?")
def small_moves_count(answer: Callable) -> str | None:
    usual, huge = (
        answer(_NoiseModel("position", times=times), _ids(4, 4), _levels(4)) for times in (1, 1000)
    )
    if usual or not huge:
        return None
    return "you miss a model whose place j gets the noise of text j, and catch it with huge noise"


@noise_axis.hint(
    "Text 0 has its own level: does its output move when another one's changes, and did you look "
    "at all of its places?"
)
def wrong_axis_is_caught(answer: Callable) -> str | None:
    if answer(_NoiseModel("position"), _ids(4, 4), _levels(4)):
        return None
    return "you miss a model whose place j gets the noise of text j"


@noise_axis.must("Which levels stay as they are in your comparison, and which one changes?")
def mean_level_is_caught(answer: Callable) -> str | None:
    if answer(_NoiseModel("mean"), _ids(4, 4), _levels(4)):
        return None
    return "you miss a model that gives all texts the mean of their noise vectors"


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
    "Two known levels fix the whole line: that is all that nn.Linear(1, d_model) can say.",
    "a function of (low, high) that returns two vectors like them",
    attempt=lambda answer: answer(torch.zeros(D_MODEL), torch.ones(D_MODEL)),
)


@midpoint.hint("How many levels are asked for, and how many vectors come back?")
def two_vectors(answer: Callable) -> str | None:
    found = answer(torch.zeros(D_MODEL), torch.ones(D_MODEL))
    two = isinstance(found, tuple | list | Tensor) and len(found) == 2
    return None if two else f"you return {in_words(found)}, not two vectors"


@midpoint.hint("Two vectors like low and high are asked for: what happens to their shape in yours?")
def shape_stays(answer: Callable) -> str | None:
    for level, vector in zip((0.5, 1.0), _on(answer, *_two_lines()[0]), strict=True):
        if vector.shape != (D_MODEL,):
            return f"your g({level}) has shape {tuple(vector.shape)}, low has shape ({D_MODEL},)"
    return None


@midpoint.hint(NOT_FINITE)
def vectors_are_finite(answer: Callable) -> str | None:
    for level, vector in zip((0.5, 1.0), _on(answer, *_two_lines()[0]), strict=True):
        if not vector.isfinite().all():
            return f"{int((~vector.isfinite()).sum())} numbers of your g({level}) are not finite"
    return None


def _off_the_line(found: Any, slope: Tensor, bias: Tensor) -> str | None:
    """Which of the two levels comes out otherwise than on the line t * slope + bias."""
    for level, result in zip((0.5, 1.0), found, strict=True):
        wanted = level * slope + bias
        if differs(result, wanted):
            return f"your g({level}) {how_far(result, wanted)}"
    return None


def _two_lines() -> Tensor:
    """The slopes and biases of two lines, `[2, 2, d_model]`."""
    return torch.randn(2, 2, D_MODEL, generator=torch.Generator().manual_seed(2))


def _on(answer: Callable, slope: Tensor, bias: Tensor) -> Any:
    return answer(0.25 * slope + bias, 0.75 * slope + bias)


@midpoint.hint(WRITES)
def ends_stay(answer: Callable) -> str | None:
    low, high = torch.zeros(D_MODEL), torch.ones(D_MODEL)
    answer(low, high)
    changed = [
        n for n, v, kept in (("low", low, 0.0), ("high", high, 1.0)) if not (v == kept).all()
    ]
    return f"your function changes the {changed[0]} that it is given" if changed else None


@midpoint.hint("Which of the numbers in your function come from low and high?")
def both_ends_are_used(answer: Callable) -> str | None:
    one, other = (_on(answer, *line) for line in _two_lines())
    for level, a, b in zip((0.5, 1.0), one, other, strict=True):
        if torch.equal(a, b):
            return f"your g({level}) is the same for another low and another high"
    return None


@midpoint.hint("Where low and high are one and the same vector, what is every g on the line?")
def level_lines_stay_level(answer: Callable) -> str | None:
    slope, bias = _two_lines()[0]
    if finding := _off_the_line(_on(answer, 0 * slope, bias), 0 * slope, bias):
        return f"with low and high the same vector, {finding}"
    return None


@midpoint.hint("Which of the two is asked for first?")
def order_is_kept(answer: Callable) -> str | None:
    slope, bias = _two_lines()[0]
    found = _on(answer, slope, bias)
    if _off_the_line([found[1], found[0]], slope, bias):
        return None
    return f"the first of your two vectors {how_far(found[0], 0.5 * slope + bias)}"


@midpoint.hint("From low to high the level grows: in which direction do you walk?")
def direction_is_right(answer: Callable) -> str | None:
    slope, bias = _two_lines()[0]
    found = _on(answer, slope, bias)
    return None if differs(found[0], bias) else _off_the_line(found, slope, bias)


@midpoint.must("Where on the way from 0.25 to 0.75 does 0.5 lie? And 1.0?")
def levels_lie_on_the_line(answer: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> str | None:
    slope, bias = _two_lines()[0]
    return _off_the_line(_on(answer, slope, bias), slope, bias)


# --------------------------------------------------------------------------------------
# sinusoidal
# --------------------------------------------------------------------------------------
SIZES = (5, 8), (7, 4), (60, 6)
sinusoidal = Exercise(
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
    for column, value in enumerate(answer(5, 8)[0].float().tolist()):
        if not abs(value - column % 2) <= 1e-3:
            return f"row 0 has {rounded(value, 2)} in column {column}"
    return None


@sinusoidal.hint(
    "Which numbers can a sine be between 0 and 1, and which of them can your table hold?"
)
def fractions_are_kept(answer: Callable[[int, int], Tensor]) -> str | None:
    table = answer(5, 8).float()
    return "your table holds whole numbers only" if torch.equal(table, table.round()) else None


@sinusoidal.hint(
    "By how much does the first angle grow from one place to the next, and does the length of the "
    "table matter to it?"
)
def length_is_no_matter(answer: Callable[[int, int], Tensor]) -> str | None:
    short, long = (answer(length, 8)[:5, 0].float() for length in (5, 7))
    return "the first column changes with the number of rows" if differs(short, long) else None


@sinusoidal.hint(
    "The first pair of columns has speed 1: in which unit is the angle that sin takes?"
)
def first_column_has_speed_one(answer: Callable[[int, int], Tensor]) -> str | None:
    return _first_off(answer(5, 8)[:, :1].float(), 8)


@sinusoidal.hint("Sine and cosine of one angle make a pair: which two columns share an angle?")
def pairs_share_an_angle(answer: Callable[[int, int], Tensor]) -> str | None:
    sines, cosines = answer(5, 8).reshape(5, 4, 2).float().unbind(-1)  # [length, pairs]
    odd = ~((sines**2 + cosines**2 - 1).abs() <= 1e-2)
    if not odd.any():
        return None
    place, pair = first(odd)
    values = (
        f"{rounded(sines[place, pair].item(), 3)} and {rounded(cosines[place, pair].item(), 3)}"
    )
    return (
        f"position {place} has {values} in columns {2 * pair} and {2 * pair + 1}: no angle has "
        "this sine and this cosine"
    )


@sinusoidal.must("By which factor does the speed fall from one pair of columns to the next?")
def speeds_fall(answer: Callable[[int, int], Tensor]) -> str | None:
    for length, d_model in SIZES:
        if finding := _first_off(answer(length, d_model).float(), d_model):
            return finding
    return None


def _first_off(columns: Tensor, d_model: int) -> str | None:
    """The first number of a table, or of its first columns, that the formula does not give."""
    for position, row in enumerate(columns.tolist()):
        for column, value in enumerate(row):
            angle = position / 10000 ** (column // 2 * 2 / d_model)
            wanted = math.cos(angle) if column % 2 else math.sin(angle)
            if not abs(value - wanted) < 1e-3:
                where = f"position {position}, column {column} (d_model {d_model})"
                return f"{where} is {rounded(value, 3)}"
    return None
