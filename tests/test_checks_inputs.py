"""Lesson 1's checker against right answers in many forms and wrong answers of many kinds."""

import math
from unittest import mock

import pytest
import torch
from lessons import (
    Record,
    answers,
    assert_right,
    assert_wrong,
    cells,
    lesson,
    right_then_changed,
    run_cells,
    solutions,
    source,
)

from helpers import figures, judge

RECORD = Record(
    before_solutions=("tools", "vocabulary", "guards", "parts"),
    given={
        "formula-heading": {"10000": "a constant of the sinusoidal formula"},
    },
)

DenoiserInputs = run_cells(1, "tools", "vocabulary", "batch", "guards", "parts", "class")[
    "DenoiserInputs"
]


def answer(forward):
    return type("Answer", (DenoiserInputs,), {"forward": forward})


def places(x_t):
    return torch.arange(x_t.shape[1], device=x_t.device)


def noise(self, x_t, t, tokens):
    return self.noise_embed(t.reshape(len(x_t), 1).to(tokens)).unsqueeze(1)


# ------------------------------------------------------------------ right, in other forms
def plain(self, x_t, t):
    self.guard(x_t)
    tokens = self.token_embed(x_t)
    return tokens + self.position_embed(places(x_t)) + noise(self, x_t, t, tokens)


def with_table_rows(self, x_t, t):
    self.guard(x_t)
    tokens = self.token_embed(x_t)
    rows = self.position_embed.weight[: x_t.size(1)]
    return rows + tokens + self.noise_embed(t.view(-1, 1, 1).to(tokens))


def with_expanded_terms(self, x_t, t):
    self.guard(x_t)
    batch, length = x_t.shape
    tokens = self.token_embed(x_t)
    rows = self.position_embed(places(x_t).expand(batch, length))
    level = t.reshape(batch, 1).to(tokens.dtype).to(tokens.device)
    return torch.stack((tokens, rows, noise(self, x_t, level, tokens).expand_as(tokens))).sum(0)


def with_places_moved(self, x_t, t):
    self.guard(x_t)
    tokens = self.token_embed(x_t)
    row_numbers = torch.cumsum(torch.ones_like(x_t), dim=1) - 1
    return tokens + self.position_embed(row_numbers) + noise(self, x_t, t, tokens)


def keeping_rows(keep):
    """An answer that keeps its row numbers, made once, as `keep` does."""

    class Answer(DenoiserInputs):
        def __init__(self, vocab_size, max_length, d_model, pad_id):
            super().__init__(vocab_size, max_length, d_model, pad_id)
            keep(self, torch.arange(max_length))

        def forward(self, x_t, t):
            self.guard(x_t)
            tokens = self.token_embed(x_t)
            rows = self.position_embed(self.rows[: x_t.shape[1]])
            return tokens + rows + noise(self, x_t, t, tokens)

    return Answer


def without_guard(self, x_t, t):
    tokens = self.token_embed(x_t)
    row_numbers = torch.arange(x_t.shape[1]).to(x_t.device)
    return tokens + self.position_embed(row_numbers) + noise(self, x_t, t, tokens)


def with_one_hot_products(self, x_t, t):
    self.guard(x_t)
    letters = torch.nn.functional.one_hot(x_t.long(), self.token_embed.num_embeddings)
    tokens = letters.to(self.token_embed.weight) @ self.token_embed.weight
    return tokens + self.position_embed(places(x_t)) + noise(self, x_t, t, tokens)


def with_rows_by_index(self, x_t, t):
    self.guard(x_t)
    tokens = self.token_embed.weight[x_t]
    level = torch.nn.functional.linear(
        t.type_as(tokens)[:, None], self.noise_embed.weight, self.noise_embed.bias
    )
    return tokens + self.position_embed.weight[None, : x_t.shape[1]] + level[:, None, :]


RIGHT = [
    with_one_hot_products,
    with_rows_by_index,
    DenoiserInputs.forward,
    plain,
    with_table_rows,
    with_expanded_terms,
    with_places_moved,
    without_guard,
]


@pytest.mark.parametrize("forward", RIGHT, ids=lambda f: f.__name__)
def test_right_answers_in_every_form_are_right(forward):
    verdict = judge("denoiser-inputs", answer(forward))
    assert verdict.state == "right", verdict.message


def test_a_layer_without_a_part_in_the_sum_is_right():
    verdict = judge("denoiser-inputs", one_more(torch.nn.LayerNorm, lambda norm, out: out))
    assert verdict.state == "right", verdict.message


def test_row_numbers_in_a_buffer_are_right():
    kept = keeping_rows(lambda self, rows: self.register_buffer("rows", rows))
    verdict = judge("denoiser-inputs", kept)
    assert verdict.state == "right", verdict.message


# ------------------------------------------------------------------ wrong, of many kinds
def wrong(tokens=None, position=None, level=None, join=None, guard=True):
    """The sum with one of its steps replaced."""

    def forward(self, x_t, t):
        if guard:
            self.guard(x_t)
        tok = (tokens or (lambda self, x_t: self.token_embed(x_t)))(self, x_t)
        pos = (position or (lambda self, x_t: self.position_embed(places(x_t))))(self, x_t)
        noi = (level or noise)(self, x_t, t, tok)
        return (join or (lambda tok, pos, noi: tok + pos + noi))(tok, pos, noi)

    return answer(forward)


def strict_length(self, x_t, t):
    if x_t.shape[1] >= self.max_length:
        raise ValueError("too long")
    return plain(self, x_t, t)


def clamped(self, x_t):
    return self.position_embed(places(x_t).clamp(max=self.max_length - 1))


def blank_padding(tok, pos, noi):
    return (tok + pos + noi) * (tok != 0).any(-1, keepdim=True)


def keeps_positions(self, x_t, t):
    if not hasattr(self, "kept"):
        self.kept = places(x_t)
    tokens = self.token_embed(x_t)
    return tokens + self.position_embed(self.kept) + noise(self, x_t, t, tokens)


def counts_from_the_longest(self, x_t, t):
    self.longest = max(getattr(self, "longest", 0), x_t.shape[1])
    tokens = self.token_embed(x_t)
    rows = self.position_embed(places(x_t) + self.longest - x_t.shape[1])
    return tokens + rows + noise(self, x_t, t, tokens)


def one_more(layer, use):
    """An answer with one more layer, of which `use` makes something or nothing."""

    class Answer(DenoiserInputs):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.more = layer(sizes[2])

        def forward(self, x_t, t):
            return use(self.more, super().forward(x_t, t))

    return Answer


def changes_levels(self, x_t, t):
    out = plain(self, x_t, t)
    t.mul_(0)
    return out


# What was written, and a piece of the question that fits it.
def returns_nothing(self, x_t, t):
    self.guard(x_t)


THREE_TERMS = (
    lambda layers, x_t, t: layers.token_embed(x_t),
    lambda layers, x_t, t: layers.position_embed(places(x_t)),
    lambda layers, x_t, t: layers.noise_embed(t[:, None])[:, None],
)


def terms(layers, x_t, t):
    return tuple(term(layers, x_t, t) for term in THREE_TERMS)


def in_order(*order):
    return lambda layers, x_t, t: tuple(terms(layers, x_t, t)[k] for k in order)


def with_term(place, term):
    made = [*THREE_TERMS[:place], term, *THREE_TERMS[place + 1 :]]
    return lambda layers, x_t, t: tuple(make(layers, x_t, t) for make in made)


def levels_zeroed(layers, x_t, t):
    found = terms(layers, x_t, t)
    t.zero_()
    return found


def table(base=10000, begin=0, unit=1):
    def sinusoidal(length, d_model):
        speeds = base ** (-torch.arange(0, d_model, 2) / d_model)
        angles = torch.arange(begin, begin + length)[:, None] * speeds * unit
        return torch.stack((angles.sin(), angles.cos()), -1).reshape(length, d_model)

    return sinusoidal


WRONG = {
    "nothing returned": (answer(returns_nothing), "Which line hands the result back"),
    # The ten of the project's list.
    "noise added without the length axis": (
        wrong(level=lambda self, x, t, tok: self.noise_embed(t.reshape(len(x), 1).to(tok))),
        "does the batch of [batch, d_model] meet",
    ),
    "unsqueeze on the wrong axis": (
        wrong(
            level=lambda self, x, t, tok: self.noise_embed(t.reshape(len(x), 1).to(tok)).unsqueeze(
                0
            )
        ),
        "which axis must have size 1",
    ),
    "t not turned into a column": (
        wrong(level=lambda self, x, t, tok: self.noise_embed(t.to(tok)).unsqueeze(1)),
        "Linear looks only at the last axis",
    ),
    "float positions": (
        wrong(position=lambda self, x: self.position_embed(torch.linspace(0, 4, x.shape[1]))),
        "only t is a quantity",
    ),
    "positions counted from 1": (
        wrong(position=lambda self, x: self.position_embed(places(x) + 1)),
        "exactly max_length long",
    ),
    "positions run along the batch": (
        wrong(position=lambda self, x: self.position_embed(torch.arange(len(x))).unsqueeze(1)),
        "do two places still look different",
    ),
    "t made an integer like a token": (
        wrong(level=lambda self, x, t, tok: noise(self, x, t.long(), tok)),
        "What are 0.25 and 0.75 after .long()",
    ),
    "vectors concatenated": (
        wrong(
            join=lambda tok, pos, noi: torch.cat(
                [tok, pos.expand_as(tok), noi.expand_as(tok)], dim=-1
            )
        ),
        "keeps it",
    ),
    "guard off by one": (answer(strict_length), "How many rows does the table have"),
    "positions on the default device": (
        wrong(position=lambda self, x: self.position_embed(torch.arange(x.shape[1]))),
        "model.to('cuda')",
    ),
    "positions on no device": (
        wrong(position=lambda self, x: self.position_embed(torch.arange(x.shape[1], device=None))),
        "model.to('cuda')",
    ),
    "positions in a plain attribute": (
        keeping_rows(lambda self, rows: setattr(self, "rows", rows)),
        "parameters and buffers only",
    ),
    # More of the same kinds.
    "IDs used as positions": (
        wrong(position=lambda self, x: self.position_embed(x % 7)),
        "What does a position depend on",
    ),
    "positions reversed": (
        wrong(position=lambda self, x: self.position_embed(places(x).flip(0))),
        "What does a position depend on",
    ),
    "no positions": (
        wrong(join=lambda tok, pos, noi: tok + noi),
        "do two places still look different",
    ),
    "no noise": (wrong(join=lambda tok, pos, noi: tok + pos), "which of them has no part"),
    "levels without their layer": (
        wrong(level=lambda self, x, t, tok: t[:, None, None].to(tok)),
        "which of them has no part",
    ),
    "what is left of the text": (
        wrong(level=lambda self, x, t, tok: noise(self, x, 1 - t, tok)),
        "do with a level",
    ),
    "tokens scaled by the root of the width": (
        wrong(tokens=lambda self, x: self.token_embed(x) * self.token_embed.embedding_dim**0.5),
        "are they added, and nothing else",
    ),
    "cut off at zero": (
        wrong(join=lambda tok, pos, noi: (tok + pos + noi).relu()),
        "are they added",
    ),
    "some numbers dropped": (
        wrong(join=lambda tok, pos, noi: torch.nn.functional.dropout(tok + pos + noi)),
        "drawn anew at each call",
    ),
    "a new table at each call": (
        wrong(tokens=lambda self, x: torch.nn.Embedding(11, 8)(x)),
        "drawn anew at each call",
    ),
    "in half": (wrong(join=lambda tok, pos, noi: (tok + pos + noi).half()), "changes a dtype"),
    "texts and places exchanged": (
        wrong(join=lambda tok, pos, noi: (tok + pos + noi).transpose(0, 1)),
        "which axis is off, or missing",
    ),
    "three layers of results": (
        wrong(
            join=lambda tok, pos, noi: torch.stack([tok, pos.expand_as(tok), noi.expand_as(tok)])
        ),
        "which axis is off, or missing",
    ),
    "the whole table of positions": (
        wrong(position=lambda self, x: self.position_embed.weight),
        "print the shape and",
    ),
    "positions of six places": (
        wrong(position=lambda self, x: self.position_embed(torch.arange(6))),
        "print the shape and",
    ),
    "tables exchanged": (
        wrong(
            tokens=lambda self, x: self.position_embed(x % 7),
            position=lambda self, x: self.token_embed(places(x)),
        ),
        "Which table is handed the IDs",
    ),
    "tables exchanged, the IDs as they are": (
        wrong(
            tokens=lambda self, x: self.position_embed(x),
            position=lambda self, x: self.token_embed(places(x)),
        ),
        "Which table is handed the IDs",
    ),
    "nan in eval mode": (
        answer(lambda self, x, t: plain(self, x, t) * (1 if self.training else torch.nan)),
        "in eval mode that it does not",
    ),
    "no tokens": (wrong(join=lambda tok, pos, noi: pos + noi), "which IDs does it look up"),
    "padding blanked": (wrong(join=blank_padding), "treat some places otherwise"),
    "one level for the batch": (
        wrong(level=lambda self, x, t, tok: noise(self, x, t.mean().expand(len(x)), tok)),
        "What are 0.25 and 0.75",
    ),
    "levels in reverse": (
        wrong(level=lambda self, x, t, tok: noise(self, x, t.flip(0), tok)),
        "What does the noise vector of a text depend on",
    ),
    "level scaled": (
        wrong(level=lambda self, x, t, tok: noise(self, x, t * 100, tok)),
        "do with a level",
    ),
    "product, not sum": (
        wrong(join=lambda tok, pos, noi: tok * pos + noi),
        "are they added",
    ),
    "mean, not sum": (
        wrong(join=lambda tok, pos, noi: (tok + pos + noi) / 3),
        "are they added",
    ),
    "long texts clamped": (wrong(position=clamped, guard=False), "would place max_length take"),
    "position added twice": (
        wrong(join=lambda tok, pos, noi: tok + 2 * pos + noi),
        "are they added",
    ),
    "detached": (
        wrong(join=lambda tok, pos, noi: (tok + pos + noi).detach()),
        "cuts the way back",
    ),
    "dtype of t kept": (
        wrong(level=lambda self, x, t, tok: self.noise_embed(t.reshape(-1, 1))[:, None]),
        "Which dtype",
    ),
    "t changed": (answer(changes_levels), "something of its own"),
    "a batch of one loses its axis": (
        wrong(join=lambda tok, pos, noi: (tok + pos + noi).squeeze(0)),
        "which axis is off, or missing",
    ),
    "levels in steps": (
        wrong(level=lambda self, x, t, tok: noise(self, x, (t * 100).long() / 100, tok)),
        "do with a level",
    ),
    "twice in eval mode": (
        answer(lambda self, x, t: plain(self, x, t) * (1 if self.training else 2)),
        "in eval mode that it does not",
    ),
    "half of the gradient": (
        wrong(
            join=lambda tok, pos, noi: (tok + pos + noi) * 0.5 + (tok + pos + noi).detach() * 0.5
        ),
        "cuts the way back",
    ),
    "positions kept from the first call": (answer(keeps_positions), "kept from an earlier call"),
    "noise for place and text": (
        wrong(level=lambda self, x, t, tok: self.noise_embed(t[:, None].to(tok))),
        "does the batch of [batch, d_model] meet",
    ),
    "a misspelled name": (
        wrong(tokens=lambda self, x: self.tokens_embed(x)),
        "Which name, attribute or argument",
    ),
    "divided by what is padding": (
        wrong(join=lambda tok, pos, noi: (tok + pos + noi) / (tok != 0).any(-1, keepdim=True)),
        "a number that is no number",
    ),
    "two texts assumed": (
        wrong(level=lambda self, x, t, tok: self.noise_embed(t.reshape(len(x), 2).to(tok))),
        "print the shape and",
    ),
    "axes of one place squeezed": (
        wrong(join=lambda tok, pos, noi: (tok + pos + noi).squeeze(1)),
        "One vector for each place of each text",
    ),
    "level in whole hundreds": (
        wrong(level=lambda self, x, t, tok: noise(self, x, (t * 100).long() * 100, tok)),
        "do with a level",
    ),
    "places cut too early": (
        wrong(
            position=lambda self, x: self.position_embed(places(x).clamp(max=self.max_length - 2))
        ),
        "belongs to the last place",
    ),
    "no noise at [MASK]": (
        wrong(level=lambda self, x, t, tok: noise(self, x, t, tok) * (x != 1).unsqueeze(-1)),
        "What does the noise vector",
    ),
    "always in float32": (
        answer(lambda self, x, t: plain(self, x, t).float()),
        "do so for every model",
    ),
    "places counted from the longest so far": (
        answer(counts_from_the_longest),
        "kept from an earlier call",
    ),
    "lowered by a half": (
        wrong(join=lambda tok, pos, noi: tok + pos + noi - 0.5),
        "Three vectors meet at each place",
    ),
    "cut off at one": (
        wrong(join=lambda tok, pos, noi: (tok + pos + noi).clamp(max=1.0)),
        "are they added",
    ),
    "halved in eval mode": (
        answer(lambda self, x, t: plain(self, x, t) / (1 if self.training else 2)),
        "in eval mode that it does not",
    ),
    "level 0 taken for none": (
        wrong(level=lambda self, x, t, tok: noise(self, x, t, tok) * (t != 0)[:, None, None]),
        "Is a level of 0 a level",
    ),
    "sum normalized": (
        one_more(torch.nn.LayerNorm, lambda norm, out: norm(out)),
        "What is learned here",
    ),
    "an instance": (DenoiserInputs(8, 6, 16, 0), "handed in the class"),
    "two results": (wrong(join=lambda tok, pos, noi: (tok, pos + noi)), "takes one tensor"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_told_as_wrong_with_a_fitting_question(name):
    assert_wrong("denoiser-inputs", *WRONG[name])


def not_written(self, x_t, t):
    raise NotImplementedError


@pytest.mark.parametrize("stub", [not_written, lambda self, x_t, t: None])
def test_a_stub_is_not_attempted(stub):
    assert judge("denoiser-inputs", answer(stub)).state == "not attempted"


# ------------------------------------------------------------------ the smaller exercises
@pytest.mark.parametrize("name", answers(1))
def test_each_printed_solution_is_right(name):
    names = run_cells(1, *RECORD.before_solutions)
    exec(solutions(1)[name], names)
    assert_right(name, names[answers(1)[name]])


@pytest.fixture(scope="module")
def all_names():
    """The names that the whole lesson leaves behind; nothing is checked or drawn."""
    code = [cell for cell in cells(lesson(1), "code")[1:] if "check(" not in source(cell)]
    with mock.patch.multiple(figures, **dict.fromkeys(figures.__all__, mock.DEFAULT)):
        return run_cells(1, *(cell["id"] for cell in code))


FORGOTTEN = [
    *(("three-terms", name) for name in ("token", "position", "noise", "places")),
    *(("denoiser-inputs", name) for name in ("tokens", "positions", "noise", "places", "levels")),
]


@pytest.mark.parametrize(("exercise", "forgotten"), FORGOTTEN)
def test_no_name_of_the_lesson_covers_up_a_line_that_is_missing(exercise, forgotten, all_names):
    lines = solutions(1)[exercise].splitlines()
    names, left = {**all_names}, [x for x in lines if not x.strip().startswith(f"{forgotten} = ")]
    assert len(left) == len(lines) - 1
    exec("\n".join(left), names)
    verdict = judge(exercise, names[answers(1)[exercise]])
    assert verdict.state == "wrong"
    assert f"NameError: name '{forgotten}' is not defined" in verdict.message


SHAPES = {"token": (3, 5, 7), "position": (5, 7), "noise": (3, 1, 7), "sum": (3, 5, 7)}


def never(model, x_t, t):
    return False


def first_level_only(model, x_t, t):
    changed = t.clone()
    changed[1] += 1
    return bool((model(x_t, changed)[0, 0] != model(x_t, t)[0, 0]).any())


def any_text_moves(model, x_t, t):
    return not torch.equal(model(x_t, t + 0.1), model(x_t, t))


def swapped_table(length, d_model):
    table = run_solution("sinusoidal")(length, d_model)
    return table.reshape(length, -1, 2).flip(-1).reshape(length, d_model)


def halves_table(length, d_model):
    table = run_solution("sinusoidal")(length, d_model)
    return torch.cat((table[:, ::2], table[:, 1::2]), dim=1)


def run_solution(name):
    names = run_cells(1, "tools")
    exec(solutions(1)[name], names)
    return names[answers(1)[name]]


def second_level_only(model, x_t, t):
    """Changes one level and compares all other texts."""
    other = t.clone()
    other[1] += 0.1
    others = [k for k in range(len(t)) if k != 1]
    return not torch.equal(model(x_t, t)[others], model(x_t, other)[others])


def a_speed_for_each_column(length, d_model):
    angles = torch.arange(length)[:, None] * 10000 ** (-torch.arange(d_model) / d_model)
    return torch.where(torch.arange(d_model) % 2 == 0, angles.sin(), angles.cos())


def cosines_twice_as_fast(length, d_model):
    angles = torch.arange(length)[:, None] * 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack((angles.sin(), (2 * angles).cos()), -1).reshape(length, d_model)


def low_used_up(low, high):
    middle = low.add_(high).div_(2)
    return middle, high + (high - low) / 2


def mixes(model, x_t, t, room=1e-6):
    """Right: the outputs of all other texts, for each level in turn."""
    before = model(x_t, t)
    for text in range(len(t)):
        moved = (model(x_t, t + torch.eye(len(t))[text]) - before).abs().amax((1, 2)) > room
        if moved.sum() > moved[text].int():
            return True
    return False


def nothing_for_false(model, x_t, t):
    if mixes(model, x_t, t):
        return True


def how_many(model, x_t, t):
    """The texts that move when the level of the first does."""
    changed = t + torch.eye(len(t))[0]
    return int((model(x_t, changed) != model(x_t, t)).any(-1).any(-1).sum())


def first_changed(x_t):
    return torch.cat([x_t[:1] * 0, x_t[1:]])


def one_way(changed_texts, watched):
    """A test that changes some levels, one at a time, and watches a part of the other texts."""

    def mixes_levels(model, x_t, t):
        before = model(x_t, t)
        for k in changed_texts(len(t)):
            other = t.clone()
            other[k] += 0.1
            moved = (model(x_t, other) - before).abs().amax(-1) > 1e-6
            if moved[watched(k)].any():
                return True
        return False

    return mixes_levels


def ids_for_places(rows):
    return lambda parts, x_t, t: (
        parts.token_embed(x_t),
        parts.position_embed(x_t % rows),
        parts.noise_embed(t[:, None])[:, None],
    )


def nothing_returned(length, d_model):
    torch.zeros(length, d_model // 2, 2).reshape(length, d_model)


SMALL_WRONG = {
    "a table that is not returned": ("sinusoidal", nothing_returned, "Which line hands"),
    "no width": ("three-shapes", {**SHAPES, "token": (3, 5)}, "how wide is one row"),
    "batch for positions": ("three-shapes", {**SHAPES, "position": (3, 5, 7)}, "two texts"),
    "no axis for the noise": ("three-shapes", {**SHAPES, "noise": (3, 7)}, "One vector for each"),
    "widths added": ("three-shapes", {**SHAPES, "sum": (3, 5, 21)}, "Line the three shapes up"),
    "one left open": ("three-shapes", {**SHAPES, "sum": None}, "which is missing"),
    "batch and length exchanged": (
        "three-shapes",
        {**SHAPES, "token": (5, 3, 7)},
        "What shape has x_t",
    ),
    "the whole table": (
        "three-shapes",
        {**SHAPES, "position": (6, 7)},
        "how many rows are looked up",
    ),
    "the numbers of the places": (
        "three-shapes",
        {**SHAPES, "position": (5,)},
        "a number, or how many",
    ),
    "one level for each text": (
        "three-shapes",
        {**SHAPES, "noise": (3, 1)},
        "One vector of how many",
    ),
    "the axis in front": ("three-shapes", {**SHAPES, "noise": (1, 3, 7)}, "left for broadcasting"),
    "spread already": ("three-shapes", {**SHAPES, "noise": (3, 5, 7)}, "left for broadcasting"),
    "places put side by side": ("three-shapes", {**SHAPES, "sum": (3, 15, 7)}, "Line the three"),
    "a shape in words": ("three-shapes", {**SHAPES, "token": "3 x 5 x 7"}, "One tuple"),
    "numbers in quotes": ("three-shapes", {**SHAPES, "token": ("3", "5", "7")}, "One tuple"),
    "how many numbers": ("three-shapes", {**SHAPES, "token": 105}, "One tuple"),
    "a set": ("three-shapes", {**SHAPES, "token": {3, 5, 7}}, "One tuple"),
    "the tensor itself": ("three-shapes", {**SHAPES, "token": torch.zeros(3, 5, 7)}, "One tuple"),
    "another name": ("three-shapes", {"tokens": (3, 5, 7)}, "which is missing"),
    "no names": ("three-shapes", [*SHAPES.values()], "One tuple"),
    "summed already": ("three-terms", lambda p, x, t: p.token_embed(x), "Which three vectors"),
    "IDs for places": ("three-terms", ids_for_places(7), "places 0, 1, 2"),
    "IDs for places, all known": ("three-terms", ids_for_places(8), "places 0, 1, 2"),
    "noise without its axis": (
        "three-terms",
        lambda p, x, t: (
            p.token_embed(x),
            p.position_embed(places(x)),
            p.noise_embed(t[:, None]),
        ),
        "axis of size 1",
    ),
    "positions first": ("three-terms", in_order(1, 0, 2), "which second"),
    "noise before positions": ("three-terms", in_order(0, 2, 1), "which second"),
    "positions from one": (
        "three-terms",
        with_term(1, lambda p, x, t: p.position_embed(1 + places(x))),
        "places 0, 1, 2",
    ),
    "the whole table of positions": (
        "three-terms",
        with_term(1, lambda p, x, t: p.position_embed.weight),
        "places 0, 1, 2",
    ),
    "the axis first": (
        "three-terms",
        with_term(2, lambda p, x, t: p.noise_embed(t[:, None])[None]),
        "axis of size 1",
    ),
    "the first level for all": (
        "three-terms",
        with_term(2, lambda p, x, t: p.noise_embed(t[:1, None]).expand(len(t), 1, -1)),
        "from which text's level",
    ),
    "the mean level for all": (
        "three-terms",
        with_term(2, lambda p, x, t: p.noise_embed(t.mean().reshape(1, 1, 1))),
        "from which text's level",
    ),
    "what is left of the text": (
        "three-terms",
        with_term(2, lambda p, x, t: p.noise_embed(1 - t[:, None])[:, None]),
        "do with a level",
    ),
    "the level itself": (
        "three-terms",
        with_term(2, lambda p, x, t: t[:, None, None]),
        "Which layer makes",
    ),
    "whole levels": (
        "three-terms",
        with_term(2, lambda p, x, t: p.noise_embed(t.long()[:, None].float())[:, None]),
        "after .long()",
    ),
    "five places always": (
        "three-terms",
        with_term(2, lambda p, x, t: p.noise_embed(t[:, None])[:, None].expand(len(t), 5, -1)),
        "where must the axis of size 1",
    ),
    "five positions always": (
        "three-terms",
        with_term(1, lambda p, x, t: p.position_embed(torch.arange(5))),
        "places 0, 1, 2",
    ),
    "positions along the batch": (
        "three-terms",
        with_term(1, lambda p, x, t: p.position_embed(torch.arange(len(x)))[:, None]),
        "count the texts",
    ),
    "the table in place of its rows": (
        "three-terms",
        with_term(0, lambda p, x, t: p.token_embed.weight),
        "which IDs does it look up",
    ),
    "the IDs themselves": (
        "three-terms",
        with_term(0, lambda p, x, t: x),
        "which IDs does it look up",
    ),
    "levels set to zero on the way": ("three-terms", levels_zeroed, "which line writes into it"),
    "levels in a row": (
        "three-terms",
        with_term(2, lambda p, x, t: p.noise_embed(t)),
        "Linear looks only at the last axis",
    ),
    "positions as quantities": (
        "three-terms",
        with_term(1, lambda p, x, t: p.position_embed(places(x).float())),
        "Read the error",
    ),
    "layers, not terms": (
        "three-terms",
        lambda p, x, t: (p.token_embed, p.position_embed, p.noise_embed),
        "returns three plain float tensors",
    ),
    "side by side": (
        "three-terms",
        lambda p, x, t: torch.cat([term.expand(*x.shape, 8) for term in terms(p, x, t)], -1),
        "Which three vectors",
    ),
    "tables only": ("count-parameters", lambda v, m, d: (v + m) * d, "has a bias"),
    "one row too many": ("count-parameters", lambda v, m, d: (v + m + 3) * d, "how many rows"),
    "square noise": ("count-parameters", lambda v, m, d: (v + m + d + 1) * d, "go into the noise"),
    "one bias number": ("count-parameters", lambda v, m, d: (v + m + 1) * d + 1, "has a bias"),
    "one table": ("count-parameters", lambda v, m, d: (v + 2) * d, "Which tables"),
    "rows times rows": ("count-parameters", lambda v, m, d: v * m * d, "how many rows"),
    "sizes added": ("count-parameters", lambda v, m, d: v + m + d, "how many rows"),
    "noise at each place": (
        "count-parameters",
        lambda v, m, d: (v + 3 * m) * d,
        "How many noise layers",
    ),
    "no bias": ("count-parameters", lambda v, m, d: (v + m + 1) * d, "has a bias"),
    "position bias": ("count-parameters", lambda v, m, d: (v + m + 3) * d, "has a bias"),
    "one size only": ("count-parameters", lambda v, m, d: 256, "from the arguments"),
    "sixteen written out": (
        "count-parameters",
        lambda v, m, d: (v + m) * d + 32,
        "from the arguments",
    ),
    "tables with biases": ("count-parameters", lambda v, m, d: (v + m + 4) * d, "has a bias"),
    "no row for [PAD]": ("count-parameters", lambda v, m, d: (v + m + 1) * d, "how many rows"),
    "bytes": ("count-parameters", lambda v, m, d: 4 * (v + m + 2) * d, "What is counted"),
    "parts not summed": (
        "count-parameters",
        lambda v, m, d: (v * d, m * d, 2 * d),
        "how do the parts",
    ),
    "a number as text": ("count-parameters", lambda v, m, d: f"{(v + m + 2) * d}", "in quotes"),
    "no number": ("count-parameters", lambda v, m, d: torch.nan, "a division"),
    "how many layers": ("count-parameters", lambda v, m, d: 3, "Which tables are there"),
    "never": ("noise-axis", never, "how often must the model run"),
    "always": ("noise-axis", lambda model, x_t, t: True, "how often must the model run"),
    "one run": (
        "noise-axis",
        lambda model, x_t, t: bool(model(x_t, t)[0, 0].sum() != model.noise_embed(t[:1]).sum()),
        "how often must the model run",
    ),
    "nothing said of honest models": ("noise-axis", nothing_for_false, "when it finds nothing"),
    "in quotes": ("noise-axis", lambda *given: str(mixes(*given)), "What does your test return"),
    "in a list": ("noise-axis", lambda *given: [mixes(*given)], "What does your test return"),
    "how many": ("noise-axis", how_many, "What does your test return"),
    "turned over": ("noise-axis", lambda *given: not mixes(*given), "What does `True` say"),
    "too coarse": ("noise-axis", lambda *given: mixes(*given, room=5.0), "from how far on"),
    "letters changed, not levels": (
        "noise-axis",
        lambda model, x_t, t: not torch.equal(model(x_t, t)[1:], model(first_changed(x_t), t)[1:]),
        "another one's changes",
    ),
    "texts turned round": (
        "noise-axis",
        lambda model, x_t, t: (
            not torch.allclose(model(x_t.flip(0), t.flip(0)).flip(0), model(x_t, t), atol=1e-6)
        ),
        "Which levels stay as they are",
    ),
    "the first place only": (
        "noise-axis",
        lambda model, x_t, t: mixes(lambda *given: model(*given)[:, :1], x_t, t),
        "All of them",
    ),
    "any text moves": ("noise-axis", any_text_moves, "which must stand still"),
    "one place, one level": ("noise-axis", first_level_only, "another one's changes"),
    "one level, not the last": ("noise-axis", second_level_only, "All of them"),
    "first changed, last watched": (
        "noise-axis",
        one_way(lambda texts: [0], lambda k: slice(-1, None)),
        "All of them",
    ),
    "last changed, first watched": (
        "noise-axis",
        one_way(lambda texts: [texts - 1], lambda k: slice(0, 1)),
        "All of them",
    ),
    "last changed, all watched": (
        "noise-axis",
        one_way(lambda texts: [texts - 1], lambda k: slice(k)),
        "All of them",
    ),
    "all changed, texts before watched": ("noise-axis", one_way(range, slice), "All of them"),
    "all changed, next text watched": (
        "noise-axis",
        one_way(range, lambda k: slice(k + 1, k + 2)),
        "All of them",
    ),
    "shape only": (
        "noise-axis",
        lambda model, x_t, t: model(x_t, t).shape[0] != len(t),
        "how often must the model run",
    ),
    "t changed": ("noise-axis", lambda model, x_t, t: bool(t.add_(1).sum() < 0), "writes into it"),
    "ends for middles": ("midpoint", lambda low, high: (low, high), "Where on the way"),
    "one step too far": (
        "midpoint",
        lambda low, high: ((low + high) / 2, high + (high - low)),
        "And 1.0",
    ),
    "the middle only": ("midpoint", lambda low, high: (low + high) / 2, "how many vectors"),
    "ends in one tensor": ("midpoint", lambda *ends: torch.stack(ends), "Where on the way"),
    "high for the end": ("midpoint", lambda low, high: ((low + high) / 2, high), "And 1.0"),
    "high doubled": (
        "midpoint",
        lambda low, high: ((low + high) / 2, 2 * high),
        "one and the same",
    ),
    "in proportion": ("midpoint", lambda low, high: (2 * low, 4 * low), "one and the same"),
    "a sum for the end": ("midpoint", lambda low, high: ((low + high) / 2, low + high), "the same"),
    "one half too late": ("midpoint", lambda low, high: (low + high / 2, high), "the same"),
    "step of a quarter": ("midpoint", lambda low, high: (low + 0.25, high + 0.25), "the same"),
    "t as the share of the way": (
        "midpoint",
        lambda low, high: (torch.lerp(low, high, 0.5), torch.lerp(low, high, 1.0)),
        "And 1.0",
    ),
    "low minus high": (
        "midpoint",
        lambda low, high: (low + (low - high) / 2, high + (low - high) / 2),
        "in which direction",
    ),
    "divided by nothing": ("midpoint", lambda low, high: (low / (low - low), high), "no number: a"),
    "nan at the end": (
        "midpoint",
        lambda low, high: ((low + high) / 2, high * torch.nan),
        "an inf",
    ),
    "the levels themselves": ("midpoint", lambda low, high: (0.5, 1.0), "two vectors like them"),
    "arrays": (
        "midpoint",
        lambda low, high: (low.numpy(), high.numpy()),
        "two vectors like them",
    ),
    "one number of each": ("midpoint", lambda low, high: (low[0], high[0]), "to their shape"),
    "columns": ("midpoint", lambda low, high: (low[:, None], high[:, None]), "to their shape"),
    "vectors of one's own": (
        "midpoint",
        lambda low, high: (torch.zeros(8), torch.ones(8)),
        "come from low and high",
    ),
    "low used up": ("midpoint", low_used_up, "which line writes into it"),
    "quarter steps": (
        "midpoint",
        lambda low, high: (low + (high - low) / 4, high + (high - low) / 4),
        "Where on the way",
    ),
    "end first": ("midpoint", lambda low, high: (1.5 * high - low / 2, (low + high) / 2), "first"),
    "back from high": ("midpoint", lambda low, high: 2 * [(low + high) / 2], "And 1.0"),
    "not halved": ("midpoint", lambda low, high: (low + high, low + high), "the same"),
    "other base": ("sinusoidal", table(base=1000), "By which factor"),
    "faster and faster": ("sinusoidal", table(base=1e-4), "By which factor"),
    "places from one": ("sinusoidal", table(begin=1), "sine and the cosine of 0"),
    "cosine first": ("sinusoidal", swapped_table, "sine and the cosine of 0"),
    "halves": ("sinusoidal", halves_table, "In which columns"),
    "one speed": (
        "sinusoidal",
        lambda length, d: torch.stack(
            [torch.arange(length).float().sin(), torch.arange(length).float().cos()] * (d // 2), 1
        ),
        "By which factor",
    ),
    "slightly faster": (
        "sinusoidal",
        lambda *sizes: loop_table(*sizes, base=9000),
        "By which factor",
    ),
    "fifty places at most": (
        "sinusoidal",
        lambda length, d: loop_table(50, d)[:length],
        "One row for each",
    ),
    "turned": ("sinusoidal", lambda length, d: torch.zeros(d, length), "One row for each"),
    "an axis for the batch": (
        "sinusoidal",
        lambda *sizes: table()(*sizes)[None],
        "One row for each",
    ),
    "the lesson's sizes": ("sinusoidal", lambda length, d: table()(6, 16), "One row for each"),
    "half the width": ("sinusoidal", lambda *sizes: table()(*sizes)[:, ::2], "One row for each"),
    "degrees": ("sinusoidal", table(unit=math.pi / 180), "in which unit"),
    "turns": ("sinusoidal", table(unit=2 * math.pi), "in which unit"),
    "half turns": ("sinusoidal", table(unit=math.pi), "in which unit"),
    "places up to one": ("sinusoidal", lambda n, d: table(unit=1 / n)(n, d), "does the length"),
    "whole numbers": ("sinusoidal", lambda *sizes: table()(*sizes).int(), "can your table hold"),
    "a speed for each column": ("sinusoidal", a_speed_for_each_column, "share an angle"),
    "cosines twice as fast": ("sinusoidal", cosines_twice_as_fast, "share an angle"),
    "half the exponent": (
        "sinusoidal",
        lambda length, d: table(base=100)(length, d),
        "By which factor",
    ),
    "twice the exponent": (
        "sinusoidal",
        lambda length, d: table(base=10000**2)(length, d),
        "By which factor",
    ),
    "sines only": (
        "sinusoidal",
        lambda *sizes: table()(*sizes)[:, ::2].repeat_interleave(2, 1),
        "sine and the cosine of 0",
    ),
    "angles": ("sinusoidal", lambda n, d: torch.arange(n)[:, None].expand(n, d), "cosine of 0"),
    "a list of rows": ("sinusoidal", lambda *sizes: table()(*sizes).tolist(), "plain float tensor"),
}


@pytest.mark.parametrize("name", SMALL_WRONG)
def test_wrong_small_answers_get_a_fitting_question(name):
    assert_wrong(*SMALL_WRONG[name])


def loop_table(length, d_model, base=10000):
    return torch.tensor(
        [
            [
                (math.cos if c % 2 else math.sin)(p / base ** ((c - c % 2) / d_model))
                for c in range(d_model)
            ]
            for p in range(length)
        ]
    )


@pytest.mark.parametrize(
    ("exercise", "given"),
    [
        ("three-shapes", {name: list(shape) for name, shape in SHAPES.items()}),
        ("count-parameters", lambda v, m, d: v * d + m * d + d + d),
        (
            "three-terms",
            lambda p, x, t: [
                p.token_embed(x),
                p.position_embed(places(x).expand_as(x)),
                p.noise_embed(t.reshape(-1, 1, 1)).expand(*x.shape, -1),
            ],
        ),
        ("midpoint", lambda low, high: ((low + high) / 2, 1.5 * high - 0.5 * low)),
        ("sinusoidal", loop_table),
        ("three-shapes", {**SHAPES, "position": (1, 5, 7)}),
        ("count-parameters", lambda v, m, d: torch.tensor(float((v + m + 2) * d))),
        ("three-terms", lambda p, x, t: tuple(term.double() for term in terms(p, x, t))),
        (
            "three-terms",
            lambda p, x, t: (
                torch.nn.functional.one_hot(x, 11).float() @ p.token_embed.weight,
                p.position_embed.weight[None, : x.shape[1]],
                torch.einsum("b,d->bd", t, p.noise_embed.weight[:, 0])[:, None]
                + p.noise_embed.bias,
            ),
        ),
        ("noise-axis", lambda *given: int(mixes(*given))),
        ("noise-axis", lambda *given: torch.tensor(mixes(*given))),
        (
            "noise-axis",
            lambda model, x_t, t: (
                not torch.allclose(
                    torch.cat([model(x_t[k : k + 1], t[k : k + 1]) for k in range(len(t))]),
                    model(x_t, t),
                    atol=1e-6,
                )
            ),
        ),
        ("midpoint", lambda low, high: torch.stack(((low + high) / 2, 1.5 * high - 0.5 * low))),
        ("midpoint", lambda low, high: ((low + high) / 2, high.add_((high - low) / 2))),
        ("sinusoidal", lambda *sizes: loop_table(*sizes).double()),
        ("sinusoidal", lambda *sizes: torch.nn.Parameter(loop_table(*sizes))),
    ],
)
def test_right_small_answers_in_other_forms_are_right(exercise, given):
    verdict = judge(exercise, given)
    assert verdict.state == "right", verdict.message


# ------------------------------------------------------------------ what each must refuses
class Scaled(DenoiserInputs):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, x_t, t):
        return self.scale * super().forward(x_t, t)


# For each must of an exercise, in order, an answer that it alone refuses: the name of one of the
# known ones above, or the answer itself.
REFUSED = {
    "three-shapes": [
        *("no width", "batch for positions", "no axis for the noise", "widths added"),
    ],
    "three-terms": [
        lambda layers, x_t, t: (
            2 * layers.token_embed(x_t),
            layers.position_embed(torch.arange(x_t.shape[1])),
            layers.noise_embed(t[:, None])[:, None],
        ),
        *("IDs for places", "noise without its axis"),
    ],
    "denoiser-inputs": [
        *("a batch of one loses its axis", Scaled, "long texts clamped", "twice in eval mode"),
        *("detached", "positions kept from the first call", "dtype of t kept"),
        "positions on the default device",
    ],
    "count-parameters": ["no bias"],
    "noise-axis": [
        right_then_changed(run_solution("noise-axis")),
        "nothing said of honest models",
        *("always", "texts turned round", "the first place only"),
    ],
    "midpoint": ["ends for middles"],
    "sinusoidal": [
        lambda length, d_model: loop_table(length + 1, d_model),
        "cosine first",
    ],
}
