"""Lesson 4's exercises: what each answer must do, and hints that explain.

Texts, heads, places and vocabulary differ in size, except where a mistake shows only when two are
equal; the comment beside such sizes says which. Many hints know a mistake by its result: they
compare an answer with the same step made wrongly in one way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.checks.common import demand_class, differs, first, seed
from helpers.exercises import Exercise, describe, once, stops
from helpers.shapes import by

PAD, MASK, VOCAB, D_MODEL, HEADS = 0, 1, 9, 8, 2
WANTED_SIZES = ((3, 5), (4, 4), (1, 6), (2, 4))  # texts and places; (4, 4) hides a wrong axis


def _clean(texts: int, places: int) -> Tensor:
    """Clean texts that differ, `[texts, places]`: letters, and padding at some ends."""
    ids = torch.arange(texts * places).reshape(texts, places) * 3 % (VOCAB - 2) + 2
    for text in range(texts):
        ids[text, places - text % 3 :] = PAD
    return ids


def _hidden(ids: Tensor) -> Tensor:
    """Which letters are hidden: in each text another number of them, in the second none."""
    places = torch.arange(ids.shape[1])
    texts = torch.arange(len(ids)).unsqueeze(1)
    return ((places + texts) % (texts + 2) == 0) & (ids != PAD) & (texts != 1)


# --------------------------------------------------------------------------------------
# padding-mask
# --------------------------------------------------------------------------------------
padding_mask = Exercise(
    "Whatever fills the box, no letter looks at it: a word gets the same answer at any width.",
    "a function of x_t that returns a boolean tensor",
    attempt=lambda answer: answer(_damaged(3, 5)),
)
TEXTS_HEADS_PLACES = ((3, 2, 5), (2, 2, 4), (4, 3, 4))  # texts = heads, then texts = places


def _damaged(texts: int, places: int) -> Tensor:
    ids = _clean(texts, places)
    ids[:, 1] = MASK
    return ids


@once
def _masks(answer: Callable) -> list[tuple[Tensor, Tensor]]:
    """For each size the answer's mask spread over all scores, and the right one."""
    found = []
    for texts, heads, places in TEXTS_HEADS_PLACES:
        ids, size = _damaged(texts, places), (texts, heads, places, places)
        wanted = (ids == PAD)[:, None, None, :].expand(size)
        found.append((answer(ids.clone()).bool().expand(size), wanted))
    return found


@padding_mask.hint("Masking compares with a tensor: which function or operator gives you one?")
def mask_is_a_tensor(answer: Callable) -> str | None:
    found = answer(_damaged(3, 5))
    return None if isinstance(found, Tensor) else f"you return a {type(found).__name__}"


@padding_mask.must(
    "`masked_fill` asks of each place whether it is blocked, yes or no: which dtype says that?"
)
def mask_is_boolean(answer: Callable) -> str | None:
    found = answer(_damaged(3, 5)).dtype
    return None if found == torch.bool else f"the mask holds {found}"


@padding_mask.hint(
    "Line the shapes up from the right, [batch, heads, length, length] below yours: on which axis "
    "does each of yours land?"
)
def mask_fits_the_scores(answer: Callable) -> str | None:
    for texts, heads, places in TEXTS_HEADS_PLACES:
        shape = tuple(answer(_damaged(texts, places)).shape)
        scores = torch.empty(texts, heads, places, places)
        try:
            torch.empty(shape).expand_as(scores)
        except RuntimeError:
            return f"a mask of {by(shape)} does not fit scores of {by(scores.shape)}"
    return None


@padding_mask.hint("Read one row of your mask aloud, with `True` for blocked: what is blocked?")
def true_means_blocked(answer: Callable) -> str | None:
    found, wanted = _masks(answer)[0]
    return "letters are blocked, and padding is not" if torch.equal(found, ~wanted) else None


@padding_mask.hint(
    "`[MASK]` hides a letter, `[PAD]` fills the box: which of them must not be asked?"
)
def mask_token_is_open(answer: Callable) -> str | None:
    found, _ = _masks(answer)[0]
    return "keys with [MASK] are blocked for everyone" if found[..., 1].all() else None


@padding_mask.hint(
    "The last axis of the scores counts who is asked, the one before it who asks: which of the "
    "two may not be padding?"
)
def keys_are_blocked(answer: Callable) -> str | None:
    found, wanted = _masks(answer)[0]
    turned = torch.equal(found, wanted.transpose(2, 3))
    return "the rows of padding are blocked, and its columns are open" if turned else None


@padding_mask.hint("What does softmax make of a row in which everything is blocked?")
def no_row_is_empty(answer: Callable) -> str | None:
    empty = _masks(answer)[0][0].all(-1)
    if not empty.any():
        return None
    text, _, row = first(empty)
    return f"in text {text}, row {row} is blocked as a whole"


@padding_mask.hint("Is any letter here in another one's future? What may a denoiser look at?")
def both_sides_are_open(answer: Callable) -> str | None:
    found, wanted = _masks(answer)[0]
    future = torch.ones(5, 5).triu(1).bool()
    looks_back = torch.equal(found, wanted | future) or torch.equal(found, future.expand_as(found))
    return "places to the right are blocked, even where letters stand" if looks_back else None


@padding_mask.must("Which places are `[PAD]` in text 0, which in text 1? Does your mask say so?")
def padding_is_blocked(answer: Callable) -> str | None:
    for (texts, heads, places), (found, wanted) in zip(
        TEXTS_HEADS_PLACES, _masks(answer), strict=True
    ):
        if (wrong := found != wanted).any():
            text, head, row, key = first(wrong)
            state = "blocked" if found[text, head, row, key] else "open"
            size = f"{texts} texts of {places} places and {heads} heads"
            return f"with {size}, head {head} of text {text} finds key {key} {state} in row {row}"
    return None


@padding_mask.must("Do you compare with the IDs that you are given, or write into them?")
def ids_stay(answer: Callable) -> str | None:
    ids = _damaged(3, 5)
    answer(ids)
    return None if torch.equal(ids, _damaged(3, 5)) else "x_t itself is changed"


# --------------------------------------------------------------------------------------
# encoder-block
# --------------------------------------------------------------------------------------
encoder_block = Exercise(
    "Each part reads a normalized copy and adds to the stream, so nothing on it is ever lost.",
    "a class whose forward(h, blocked) returns a plain float tensor",
    attempt=lambda answer: _run(answer),
)


def _stream() -> Tensor:
    """The stream of 3 texts of 5 places, not normalized, `[3, 5, 8]`."""
    return torch.arange(120.0).reshape(3, 5, D_MODEL).mul(0.7).sin().mul(2).add(0.5)


def _blocks_some() -> Tensor:
    return (_clean(3, 5) == PAD)[:, None, None, :]


@once
def _block(answer: type[nn.Module]) -> nn.Module:
    """A block of the learner's class whose every weight is drawn anew."""
    seed(5)
    block = answer(D_MODEL, HEADS)
    draw = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for weight in block.parameters():
            weight.copy_(torch.randn(weight.shape, generator=draw) / 2 + 0.2)
    return block


def _run(answer: type[nn.Module]) -> Tensor:
    return _block(answer)(_stream(), _blocks_some())


demand_class(encoder_block, "block")


@encoder_block.hint("The next block takes one stream: which of your results is it?")
def block_returns_a_tensor(answer: type[nn.Module]) -> str | None:
    found = _run(answer)
    return None if isinstance(found, Tensor) else f"forward returns a {type(found).__name__}"


@encoder_block.hint("A stream keeps its shape: which step changes yours?")
def block_keeps_the_shape(answer: type[nn.Module]) -> str | None:
    shape = tuple(_run(answer).shape)
    return None if shape == (3, 5, D_MODEL) else f"3 x 5 x 8 goes in, {by(shape)} comes out"


FIRST_HALF = (
    "What does attention read, the stream or its normalized copy, and what is added to what?"
)
SECOND_HALF = "What does the feed-forward part read, and to which stream is its result added?"
Block = Callable[[nn.Module, Tensor, Tensor], Tensor]


def _half_1(m: nn.Module, h: Tensor, b: Tensor) -> Tensor:
    return h + m.attention(m.norm_1(h), b)


def _half_2(m: nn.Module, h: Tensor) -> Tensor:
    return h + m.feed_forward(m.norm_2(h))


def _with_norms(first: str | None, second: str | None) -> Block:
    """A block with these norms, or none, before its two parts."""

    def block(m: nn.Module, h: Tensor, b: Tensor) -> Tensor:
        h = h + m.attention(getattr(m, first)(h) if first else h, b)
        return h + m.feed_forward(getattr(m, second)(h) if second else h)

    return block


def _in_another_way(finding: str, question: str, *ways: Block) -> None:
    """A hint for blocks that come out as one of some wrong ways does."""

    @encoder_block.hint(question)
    def comes_out_so(answer: type[nn.Module]) -> str | None:
        found, block = _run(answer), _block(answer)
        made = (way(block, _stream(), _blocks_some()) for way in ways)
        return None if all(differs(found, other) for other in made) else finding


_in_another_way(
    "your result is what comes out when nothing is blocked",
    "Who needs `blocked`, and do you hand it on as it is?",
    lambda m, h, b: _half_2(m, _half_1(m, h, torch.zeros_like(b))),
)
_in_another_way(
    "your result is what comes out when padding is open and all else is blocked",
    "`True` means blocked in this lesson: do you turn the mask around?",
    lambda m, h, b: _half_2(m, _half_1(m, h, ~b)),
)
_in_another_way(
    "your result holds what one part made, without the other",
    "A block has two parts that add: which one is missing?",
    _half_1,
    lambda m, h, b: _half_2(m, h),
)
_in_another_way(
    "both parts read the stream as it was at the start",
    "What does the second part read: the stream before or after attention has added to it?",
    lambda m, h, b: _half_1(m, h, b) + m.feed_forward(m.norm_2(h)),
    lambda m, h, b: h + m.feed_forward(m.norm_2(_half_1(m, h, b))),
)
_in_another_way(
    "the feed-forward part comes before attention",
    "Which part comes first: letting places look at each other, or working on each alone?",
    lambda m, h, b: _half_1(m, _half_2(m, h), b),
)
_in_another_way(
    "the norms have changed places, or one of them serves twice",
    "Each part has a norm of its own: which one stands before which part?",
    _with_norms("norm_2", "norm_1"),
    _with_norms("norm_1", "norm_1"),
    _with_norms("norm_2", "norm_2"),
)
_in_another_way(
    "a part reads the stream without its norm",
    "Which part reads what no LayerNorm has seen?",
    _with_norms(None, None),
    _with_norms(None, "norm_2"),
    _with_norms("norm_1", None),
)


def _norms_last(m: nn.Module, h: Tensor, b: Tensor) -> Tensor:
    h = m.norm_1(h + m.attention(h, b))
    return m.norm_2(h + m.feed_forward(h))


def _all_through_norms(m: nn.Module, h: Tensor, b: Tensor) -> Tensor:
    h = m.norm_1(h)
    h = m.norm_2(h + m.attention(h, b))
    return h + m.feed_forward(h)


def _through_norm_1(m: nn.Module, h: Tensor, b: Tensor) -> Tensor:
    h = m.norm_1(h)
    return _half_2(m, h + m.attention(h, b))


def _through_norm_2(m: nn.Module, h: Tensor, b: Tensor) -> Tensor:
    h = m.norm_2(_half_1(m, h, b))
    return h + m.feed_forward(h)


_in_another_way(
    "the stream itself has gone through a norm",
    "The norm belongs to what a part reads: does the stream pass through it, too?",
    *(_norms_last, _all_through_norms, _through_norm_1, _through_norm_2),
    lambda m, h, b: m.norm_2(_half_2(m, _half_1(m, h, b))),
)


def _silent(answer: type[nn.Module], *parts: str) -> tuple[Tensor, nn.Module]:
    """What comes out when some parts answer zero, and the block that gave it."""
    block = _block(answer)
    with contextlib.ExitStack() as stack:
        for part in parts:
            zero = lambda module, inputs, result: torch.zeros_like(result)  # noqa: E731
            handle = getattr(block, part).register_forward_hook(zero)
            stack.callback(handle.remove)
        return block(_stream(), _blocks_some()), block


@encoder_block.hint(
    "If both parts had nothing to say, what should come out? Where do you add, and what?"
)
def silent_parts_leave_the_stream(answer: type[nn.Module]) -> str | None:
    found, _ = _silent(answer, "attention", "feed_forward")
    if not differs(found, _stream()):
        return None
    if not differs(found, torch.zeros_like(found)):
        return "with both parts answering zero, the stream is gone: zero comes out"
    return "with both parts answering zero, something else than h comes out"


@encoder_block.hint(FIRST_HALF)
def attention_adds(answer: type[nn.Module]) -> str | None:
    found, block = _silent(answer, "feed_forward")
    wrong = differs(found, _half_1(block, _stream(), _blocks_some()))
    return (
        "with the feed-forward part answering zero, the first half is not right" if wrong else None
    )


@encoder_block.hint(SECOND_HALF)
def feed_forward_adds(answer: type[nn.Module]) -> str | None:
    found, block = _silent(answer, "attention")
    wrong = differs(found, _half_2(block, _stream()))
    return "with attention answering zero, the second half is not right" if wrong else None


@encoder_block.must("Which of the two lines of the formula do your lines differ from?")
def block_is_the_formula(answer: type[nn.Module]) -> str | None:
    block = _block(answer)
    for texts in (3, 1):
        h, blocked = _stream()[:texts], _blocks_some()[:texts]
        wanted = _half_2(block, _half_1(block, h, blocked))
        found = block(h.clone(), blocked.clone())
        if differs(found, wanted):
            where = first((found - wanted).abs() > 1e-4) if found.shape == wanted.shape else "shape"
            return f"the result differs from the formula's, first at {where}"
    return None


@encoder_block.must("`+=` writes into the tensor that stands there: whose tensor is that?")
def stream_is_not_written_into(answer: type[nn.Module]) -> str | None:
    h = _stream()
    _block(answer)(h, _blocks_some())
    return "the h that you are given is changed" if differs(h, _stream()) else None


# --------------------------------------------------------------------------------------
# masked-loss
# --------------------------------------------------------------------------------------
masked_loss = Exercise(
    "Every letter counts once on average, at every level, so the loss is the price of a word.",
    "a function of (log_probs, x, hidden, t) that returns a tensor without axes",
    attempt=lambda answer: answer(*_graded(3, 5)),
)


def _graded(texts: int, places: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Log-probabilities, clean texts, hidden places and levels, as a denoiser gives them."""
    x = _clean(texts, places)
    scores = torch.arange(float(texts * places * VOCAB)).reshape(texts, places, VOCAB)
    scores = scores.mul(1.3).sin().mul(2)
    scores[..., [PAD, MASK]] = -torch.inf
    return scores.log_softmax(-1), x, _hidden(x), torch.linspace(0.2, 0.9, texts + 1)[1:]


def _costs(log_probs: Tensor, x: Tensor) -> Tensor:
    return -log_probs.gather(-1, x.unsqueeze(-1)).squeeze(-1)


def _paid(log_probs: Tensor, x: Tensor, hidden: Tensor) -> Tensor:
    return torch.where(hidden, _costs(log_probs, x), 0.0)


def _loss(log_probs: Tensor, x: Tensor, hidden: Tensor, t: Tensor) -> Tensor:
    return (_paid(log_probs, x, hidden).sum(1) / t).mean()


@masked_loss.hint(
    "`t` is `[batch]`: which axis of `[batch, length]` does it land on? What if it were a column?"
)
def levels_meet_their_words(answer: Callable) -> str | None:
    try:
        answer(*_graded(3, 5))
    except RuntimeError as error:
        return stops(error) if "must match the size" in str(error) else None
    return None


@masked_loss.hint("Training needs a tensor to go back from: which step turned it into a number?")
def loss_is_a_tensor(answer: Callable) -> str | None:
    found = answer(*_graded(3, 5))
    return None if isinstance(found, Tensor) else f"you return a {type(found).__name__}"


@masked_loss.hint("One number for the whole batch: which axes are left, and what joins them?")
def loss_has_no_axes(answer: Callable) -> str | None:
    shape = tuple(answer(*_graded(3, 5)).shape)
    return f"the loss has the shape {by(shape)}" if shape else None


@masked_loss.hint("In a word with nothing hidden, what do you divide by?")
def nothing_hidden_is_no_divisor(answer: Callable) -> str | None:
    damaged = answer(*(part[::2] for part in _graded(3, 5)))
    if answer(*_graded(3, 5)).isfinite() or not damaged.isfinite():
        return None
    return "the loss is a number only while each word has something hidden"


@masked_loss.hint(
    "At `[PAD]` the cost is infinite. What is infinity times 0? Which function chooses instead?"
)
def loss_is_a_number(answer: Callable) -> str | None:
    found = answer(*_graded(3, 5))
    if found.isnan():
        return "the loss is nan"
    return "the loss is infinite" if found.isinf() else None


Loss = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def _costs_as(finding: str, question: str, *ways: Loss, size: tuple[int, int] = (3, 5)) -> None:
    """A hint for losses that come out as one of some wrong ways does."""

    @masked_loss.hint(question)
    def comes_out_so(answer: Callable) -> str | None:
        found = answer(*_graded(*size))
        made = (way(*_graded(*size)) for way in ways)
        return None if all(differs(found, other) for other in made) else finding


_costs_as(
    "the loss is below zero",
    "A chance is at most 1: which sign has its logarithm, and which should a cost have?",
    lambda p, x, hidden, t: -_loss(p, x, hidden, t),
)
_costs_as(
    "a hidden letter costs the same at every level",
    "How often is a letter hidden at level 0.2, how often at 0.8? What makes up for that?",
    lambda p, x, hidden, t: _paid(p, x, hidden).sum(1).mean(),
    lambda p, x, hidden, t: _paid(p, x, hidden).sum() / hidden.sum(),
    lambda p, x, hidden, t: _paid(p, x, hidden).mean(),
)
_costs_as(
    "the higher the level, the more a hidden letter costs",
    "At a low level few letters are hidden: must each of them count more, or less?",
    lambda p, x, hidden, t: (_paid(p, x, hidden).sum(1) * t).mean(),
)
_costs_as(
    "you sum over the words, so a larger batch costs more",
    'The formula says "mean over words": over how many words do you divide?',
    lambda p, x, hidden, t: (_paid(p, x, hidden).sum(1) / t).sum(),
)
_costs_as(
    "you take a mean over places, where the formula has a sum",
    "Does a word with two hidden letters cost as much as one of them, or as both?",
    lambda p, x, hidden, t: (_paid(p, x, hidden).mean(1) / t).mean(),
    lambda p, x, hidden, t: (_paid(p, x, hidden).sum(1) / hidden.sum(1).clamp(min=1) / t).mean(),
    lambda p, x, hidden, t: (_paid(p, x, hidden).sum(1) / t).sum() / hidden.sum(),
    lambda p, x, hidden, t: (_paid(p, x, hidden).sum(1) / (x != PAD).sum(1) / t).mean(),
)
_costs_as(
    "words with nothing hidden do not count in the mean",
    "How many words has the batch? Does a word that costs 0 lower the mean?",
    lambda p, x, hidden, t: (_paid(p, x, hidden).sum(1) / t).sum() / hidden.any(1).sum(),
)
_costs_as(
    "visible letters are paid for",
    "Which places need no repair? What should they cost?",
    lambda p, x, hidden, t: (_paid(p, x, x != PAD).sum(1) / t).mean(),
    lambda p, x, hidden, t: (_paid(p, x, (x != PAD) & ~hidden).sum(1) / t).mean(),
)
_costs_as(
    "all words are weighed alike, by their mean level",
    "Each word has a level of its own: do you divide before or after you take the mean?",
    lambda p, x, hidden, t: _paid(p, x, hidden).sum(1).mean() / t.mean(),
    lambda p, x, hidden, t: _paid(p, x, hidden).sum(1).mean() * (1 / t).mean(),
)
_costs_as(
    "with as many words as places, place j is divided by the level of word j",
    "`t` is `[batch]`: which axis of `[batch, length]` does it land on? What if it were a column?",
    lambda p, x, hidden, t: (_paid(p, x, hidden) / t).sum(1).mean(),
    size=(4, 4),
)
_costs_as(
    "you add up chances, not their logarithms",
    "`log_probs` holds logarithms already: what has happened to them on the way?",
    lambda p, x, hidden, t: _loss(p.exp(), x, hidden, t),
    lambda p, x, hidden, t: -_loss(p.exp(), x, hidden, t),
    lambda p, x, hidden, t: (torch.where(hidden, 1 - (-_costs(p, x)).exp(), 0.0).sum(1) / t).mean(),
)
_costs_as(
    "you take the logarithm in another unit",
    "`log_probs` comes in natural units, and the formula has nothing else: who divides?",
    lambda p, x, hidden, t: _loss(p, x, hidden, t) / torch.tensor(2.0).log(),
)
_costs_as(
    "you score the model's own first guess",
    "Whose chance is paid for: that of the guess, or that of the letter that stood there?",
    lambda p, x, hidden, t: _loss(p, p.argmax(-1), hidden, t),
)


@masked_loss.hint("With nothing to repair, what is there to pay? Which of your terms is left?")
def nothing_hidden_costs_nothing(answer: Callable) -> str | None:
    log_probs, x, hidden, t = _graded(3, 5)
    found = answer(log_probs, x, hidden & False, t)
    return None if found == 0 else f"with nothing hidden in any word, the loss is {found:.2f}"


@masked_loss.must("Try one word with one hidden letter by hand: which step gives another number?")
def loss_is_the_formula(answer: Callable) -> str | None:
    for texts, places in WANTED_SIZES:
        given = _graded(texts, places)
        found, wanted = answer(*(part.clone() for part in given)), _loss(*given)
        if differs(found, wanted):
            size = f"{texts} words of {places} places" if texts > 1 else "a single word"
            return f"for {size} the loss is not what the formula gives"
    return None


@masked_loss.must("Which step cuts the way back to the model, or makes nan on that way?")
def loss_can_be_learned_from(answer: Callable) -> str | None:
    log_probs, x, hidden, t = _graded(3, 5)
    log_probs = log_probs.clone().requires_grad_()
    loss = answer(log_probs, x, hidden, t)
    if not loss.requires_grad:
        return "no gradient leads back to log_probs"
    loss.backward()
    return None if log_probs.grad.isfinite().all() else "the gradient is not finite"


@masked_loss.must("Which of your lines writes into a tensor that belongs to someone else?")
def loss_changes_nothing(answer: Callable) -> str | None:
    given = _graded(3, 5)
    answer(*given)
    for name, now, before in zip(
        ("log_probs", "x", "hidden", "t"), given, _graded(3, 5), strict=True
    ):
        if not torch.equal(now, before):
            return f"{name} itself is changed"
    return None


# --------------------------------------------------------------------------------------
# unmask-step
# --------------------------------------------------------------------------------------
unmask_step = Exercise(
    "Fill a little, look again: so each new letter is chosen in view of those that stand already.",
    "a function of (model, x_t, t, how_many, order, uniform) that returns token IDs",
    attempt=lambda answer: answer(*_step(1)),
)
NUMBERS_OF_GAPS = (1, 2, 3, 9)
Step = tuple[Callable, Tensor, Tensor, int, Tensor, Tensor]


def _model(x_t: Tensor, t: Tensor) -> Tensor:
    """A stand-in for a denoiser: its chances depend on the place, the whole text and the level."""
    texts, places = x_t.shape
    seen = (x_t * torch.arange(1, places + 1)).sum(1).reshape(texts, 1, 1)
    there = torch.arange(places).reshape(1, places, 1)
    scores = (seen + 5 * there + 3 * torch.arange(VOCAB) + 7 * t.reshape(texts, 1, 1)).sin() * 1.5
    scores[..., [PAD, MASK]] = -torch.inf
    return scores.log_softmax(-1)


def _step(how_many: int, texts: int = 4) -> Step:
    """Damaged texts with 1, 5, 0 and 3 gaps, their levels, and given random numbers."""
    x_t = _clean(texts, 6)
    for text, gaps in zip(range(texts), ((3,), (0, 1, 2, 3, 4), (), (0, 2, 5)), strict=False):
        x_t[text, list(gaps)] = MASK
    t = (x_t == MASK).sum(1) / (x_t != PAD).sum(1)
    draw = torch.Generator().manual_seed(7)
    order, uniform = torch.rand(2, texts, 6, generator=draw)
    return _model, x_t, t, how_many, order, uniform


def _drawn(model: Callable, x_t: Tensor, t: Tensor, uniform: Tensor) -> Tensor:
    return (model(x_t, t).exp().cumsum(-1) <= uniform.unsqueeze(-1)).sum(-1)


def _gaps_first(x_t: Tensor, order: Tensor) -> Tensor:
    return torch.where(x_t == MASK, order, 2.0)


def _chosen(x_t: Tensor, how_many: int, order: Tensor) -> Tensor:
    return (x_t == MASK) & (_gaps_first(x_t, order).argsort(-1).argsort(-1) < how_many)


def _stepped(
    model: Callable, x_t: Tensor, t: Tensor, how_many: int, order: Tensor, uniform: Tensor
) -> Tensor:
    return torch.where(_chosen(x_t, how_many, order), _drawn(model, x_t, t, uniform), x_t)


@once
def _steps(answer: Callable) -> list[tuple[Step, Tensor]]:
    """What goes in for each number of gaps, and what the answer makes of a copy of it."""
    given = [_step(how_many) for how_many in NUMBERS_OF_GAPS]
    return [
        (step, answer(*(p.clone() if isinstance(p, Tensor) else p for p in step))) for step in given
    ]


@unmask_step.hint("The next step takes a tensor of IDs: which of your results is it?")
def step_returns_a_tensor(answer: Callable) -> str | None:
    found = answer(*_step(1))
    return None if isinstance(found, Tensor) else f"you return a {type(found).__name__}"


@unmask_step.hint("IDs go in, IDs come out: which axis have you added or lost?")
def step_keeps_the_shape(answer: Callable) -> str | None:
    shape = tuple(answer(*_step(1)).shape)
    return None if shape == (4, 6) else f"4 x 6 goes in, {by(shape)} comes out"


@unmask_step.must("A table looks up whole numbers: which step made fractions of them?")
def step_returns_ids(answer: Callable) -> str | None:
    found = answer(*_step(1))
    return f"you return {found.dtype}" if found.is_floating_point() else None


@unmask_step.hint("All random numbers are given: where do you still draw some of your own?")
def step_repeats(answer: Callable) -> str | None:
    draws = []
    for number in (1, 2, 3):
        seed(number)
        draws.append(answer(*_step(2)))
    moved = any(not torch.equal(draws[0], other) for other in draws[1:])
    return "two calls with the same numbers give two results" if moved else None


@unmask_step.hint("Only gaps are filled: what tells your code which places are gaps?")
def visible_places_stay(answer: Callable) -> str | None:
    for (_, x_t, *_), found in _steps(answer):
        if (wrong := (found != x_t) & (x_t != MASK)).any():
            text, place = first(wrong)
            what = "padding" if x_t[text, place] == PAD else "a visible letter"
            return f"in text {text}, {what} at place {place} has changed"
    return None


@unmask_step.hint("How many gaps may one call fill in each text? Where do you read `how_many`?")
def no_more_than_asked(answer: Callable) -> str | None:
    for (_, x_t, _, how_many, *_), found in _steps(answer):
        filled = ((found != x_t) & (x_t == MASK)).sum(1)
        if filled.max() > how_many:
            return f"with how_many={how_many}, {filled.max()} gaps of one text are filled"
    return None


def _fills_as(finding: str, question: str, way: Callable[[Tensor, int, Tensor], Tensor]) -> None:
    """A hint for answers that fill the places which a wrong way chooses."""

    @unmask_step.hint(question)
    def fills_so(answer: Callable) -> str | None:
        for (_, x_t, _, how_many, order, _), found in _steps(answer):
            if not torch.equal(found != x_t, way(x_t, how_many, order)):
                return None
        return finding


_fills_as(
    "the places are chosen by what one `argsort` gives, which are places and no ranks",
    "`argsort` says which place comes first, second, …. Which rank does place 0 have? Sort what "
    "again?",
    lambda x_t, how_many, order: (x_t == MASK) & (_gaps_first(x_t, order).argsort(-1) < how_many),
)
_fills_as(
    "the gaps of all texts are put in one order",
    "Each text fills its own gaps: along which axis do you sort?",
    lambda x_t, how_many, order: (
        (x_t == MASK)
        & (_gaps_first(x_t, order).flatten().argsort().argsort().view_as(x_t) < how_many)
    ),
)


@unmask_step.hint("Which of your lines reads `how_many`?")
def number_of_gaps_counts(answer: Callable) -> str | None:
    filled = [found != x_t for (_, x_t, *_), found in _steps(answer)]
    alike = all(torch.equal(filled[0], other) for other in filled)
    return "the same gaps are filled, however many are asked for" if alike else None


Letters = Callable[[Callable, Tensor, Tensor, Tensor, Tensor], Tensor]


def _draws_as(finding: str, question: str, *ways: Letters) -> None:
    """A hint for answers whose letters come out as one of some wrong ways does."""

    @unmask_step.hint(question)
    def comes_out_so(answer: Callable) -> str | None:
        for way in ways:
            alike = True
            for (model, x_t, t, _, order, uniform), found in _steps(answer):
                filled = found != x_t
                alike &= torch.equal(way(model, x_t, t, order, uniform)[filled], found[filled])
            if alike:
                return finding
        return None


_draws_as(
    "each drawn ID is off by the same amount",
    "How many sums are not above `uniform` when the very first letter, ID 2, is drawn?",
    *(
        lambda model, x_t, t, order, uniform, off=off: _drawn(model, x_t, t, uniform) + off
        for off in (-2, -1, 1, 2)
    ),
)


@unmask_step.hint(
    "A place that is not hidden must come last in the order, or it takes a gap's turn. What "
    "number does it have in yours?"
)
def enough_gaps_are_filled(answer: Callable) -> str | None:
    for (_, x_t, _, how_many, *_), found in _steps(answer):
        gaps = (x_t == MASK).sum(1)
        filled = ((found != x_t) & (x_t == MASK)).sum(1)
        if (few := filled < gaps.clamp(max=how_many)).any():
            (text,) = first(few)
            return (
                f"with how_many={how_many}, {filled[text]} of text {text}'s {gaps[text]} gaps "
                "are filled"
            )
    return None


_fills_as(
    "the gaps with the largest numbers in `order` are filled",
    "Which come first, small numbers or large ones? Which way does your sort go?",
    lambda x_t, how_many, order: _chosen(x_t, how_many, 1 - order),
)


@unmask_step.hint("Which gaps have the smallest numbers in `order`, in each text for itself?")
def places_are_right(answer: Callable) -> str | None:
    for (_, x_t, _, how_many, order, _), found in _steps(answer):
        filled = found != x_t
        if (wrong := filled != _chosen(x_t, how_many, order)).any():
            text, place = first(wrong)
            state = "filled" if filled[text, place] else "left open"
            return f"with how_many={how_many}, place {place} of text {text} is {state}"
    return None


_draws_as(
    "at each gap you write the letter with the highest chance",
    "Which letter is drawn when `uniform` is 0.99? Where does your code read `uniform`?",
    lambda model, x_t, t, order, uniform: model(x_t, t).argmax(-1),
)
_draws_as(
    "the letters are drawn with the numbers in `order`",
    "Two kinds of random numbers are given: which is for places, which for letters?",
    lambda model, x_t, t, order, uniform: _drawn(model, x_t, t, order),
)
_draws_as(
    "the model is told another level than the one you are given",
    "What does the model take beside the IDs, and do you hand on yours?",
    *(
        lambda model, x_t, t, order, uniform, level=level: _drawn(
            model, x_t, torch.full_like(t, level), uniform
        )
        for level in (0.0, 0.5, 1.0)
    ),
    lambda model, x_t, t, order, uniform: _drawn(model, x_t, 1 - t, uniform),
)
_draws_as(
    "the letters are drawn from the other end of the vocabulary",
    "Which way do you walk through the vocabulary, and do you add up from its start?",
    lambda model, x_t, t, order, uniform: _drawn(model, x_t, t, 1 - uniform),
)
_draws_as(
    "the letters are drawn from something else than chances",
    "The model returns logarithms: what must happen to them before you add them up?",
    lambda model, x_t, t, order, uniform: (model(x_t, t).cumsum(-1) <= uniform.unsqueeze(-1)).sum(
        -1
    ),
    lambda model, x_t, t, order, uniform: (model(x_t, t).exp() <= uniform.unsqueeze(-1)).sum(-1),
)
_draws_as(
    "the chances are added up along the places",
    "Which axis of [batch, length, vocab] holds the chances of one gap?",
    lambda model, x_t, t, order, uniform: (
        model(x_t, t).exp().cumsum(1) <= uniform.unsqueeze(-1)
    ).sum(-1),
)


@unmask_step.must("Take one gap: add its chances up until they exceed `uniform`. Which ID is it?")
def step_is_right(answer: Callable) -> str | None:
    for step, found in _steps(answer):
        if (wrong := found != _stepped(*step)).any():
            text, place = first(wrong)
            number = found[text, place]
            return f"with how_many={step[3]}, place {place} of text {text} gets ID {number}"
    return None


@unmask_step.must("What in your lines depends on how many texts there are?")
def other_texts_do_not_matter(answer: Callable) -> str | None:
    model, x_t, t, how_many, order, uniform = _step(2)
    among_all = answer(model, x_t.clone(), t, how_many, order, uniform)
    for texts in (1, 3):
        part = x_t[:texts].clone(), t[:texts], how_many, order[:texts], uniform[:texts]
        try:
            found = answer(model, *part)
        except Exception as error:
            return f"with a batch of {texts} it stops: {describe(error)}"
        if not torch.equal(found, among_all[:texts]):
            return f"a batch of {texts} is filled otherwise than the same texts among {len(x_t)}"
    return None


@unmask_step.must("Do you fill a new tensor, or the one that you are given?")
def texts_stay(answer: Callable) -> str | None:
    step = _step(2)
    answer(*step)
    return None if torch.equal(step[1], _step(2)[1]) else "x_t itself is changed"
