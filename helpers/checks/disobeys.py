"""Lesson 3's exercises: what each answer must do, and hints that explain.

A head is judged by its attention, row by row, and by every slot that it changes: heads with
exchanged slots can still give the puzzle's right answers.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor

from helpers.checks.common import (
    NOT_FINITE,
    STUB,
    TOLERANCE,
    differs,
    first,
    how_far,
    no_dictionary,
    no_truth_value,
)
from helpers.checks.hand_built import (
    FLIGHT_INPUTS,
    NOTE,
    OBJECT_HEAD,
    PREVIOUS_HEAD,
    SLOTS,
    SPEECH_INPUTS,
    Head,
    add,
    attend,
    embed,
    layout,
    read_out,
)
from helpers.exercises import Exercise, in_words, is_blank, once, told
from helpers.puzzle import (
    DISOBEYS,
    FLIGHT,
    OBJECTS,
    QUESTION,
    SPEECH,
    orderings,
    read,
    rule,
    sentences,
)
from helpers.shapes import by, rounded

SHARP = 0.8  # the least share of attention that counts as "looks at"
CLOSE = 0.25  # how far a written bit may be from 0 or 1: room for a leak
CHANGED = 1e-3
GAIN = (
    "Scores are divided by the root of Wq's width before softmax: how large must the gain be, so "
    "that almost nothing is left for the other words?"
)
MATRICES = "(Wq, Wk, Wv, Wo), plain tensors of numbers"

# --------------------------------------------------------------------------------------
# same-words
# --------------------------------------------------------------------------------------
SHOWN = {
    "Crow disobeys keep-flight swap-speech he-is?",
    "Crow keep-flight disobeys swap-speech he-is?",
}

same_words = Exercise(
    "One bag of words, two right answers: no model that is blind to order can have both.",
    "two sentences in quotes",
    attempt=lambda pair: pair,
)


@same_words.must("Two sentences in quotes, separated by a comma: what have you handed in?")
def a_pair_of_texts(pair: Any) -> str | None:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        return f"the answer is {in_words(pair)}, not a pair"
    wrong = [text for text in pair if not isinstance(text, str)]
    return f"{told(wrong[0])} is not a sentence" if wrong else None


@same_words.must("Which rule of the language does this sentence break?")
def both_are_sentences(pair: Sequence[str]) -> str | None:
    for text in pair:
        try:
            words = read(text)
        except ValueError as error:
            return str(error)
        if words[-1] != QUESTION:
            return f"{text!r} does not end with {QUESTION!r}"
    return None


@same_words.must("Which word does one of them have and the other not?")
def same_bag(pair: Sequence[str]) -> str | None:
    bags = [sorted(read(text)) for text in pair]
    return None if bags[0] == bags[1] else "the two do not hold the same words"


@same_words.hint("The words stay: what else of a sentence can you change?")
def two_sentences(pair: Sequence[str]) -> str | None:
    return "both are one and the same sentence" if read(pair[0]) == read(pair[1]) else None


@same_words.hint("Which word's own place decides what happens to the word after it?")
def place_matters(pair: Sequence[str]) -> str | None:
    return None if DISOBEYS in read(pair[0]) else f"no word of yours is {DISOBEYS!r}"


@same_words.must("Which action does `disobeys` touch in the first, and which in the second?")
def other_answers(pair: Sequence[str]) -> str | None:
    answers = [rule(read(text)) for text in pair]
    return f"both are answered {answers[0]}" if answers[0] == answers[1] else None


@same_words.must("That pair is in the lesson: can you change the object, or an action?")
def a_pair_of_ones_own(pair: Sequence[str]) -> str | None:
    known = {" ".join(read(text)) for text in pair} == SHOWN
    return "these are the lesson's two sentences" if known else None


# --------------------------------------------------------------------------------------
# Heads, handed in as (Wq, Wk, Wv, Wo)
# --------------------------------------------------------------------------------------
class NotFiniteError(ValueError):
    """A part of an answer holds a number that is none."""


def _as_matrices(answer: Any, names: Sequence[str]) -> list[Tensor]:
    """The answer's parts as float tensors. Raises `ValueError` with what is wrong."""
    if not isinstance(answer, tuple | list):
        raise ValueError(f"the answer is {in_words(answer)}, not ({', '.join(names)})")
    if len(answer) != len(names):
        raise ValueError(f"the answer has {len(answer)} parts, not ({', '.join(names)})")
    parts = []
    for name, part in zip(names, answer, strict=True):
        if is_blank(part):
            raise ValueError(f"{name} is still missing")
        try:
            part = torch.as_tensor(part).detach().cpu().to(torch.float32)
        except Exception:
            raise ValueError(f"{name} cannot be read as a matrix of numbers") from None
        if not part.isfinite().all():
            raise NotFiniteError(
                f"{name} holds a number that is not finite, or too large for float32"
            )
        parts.append(part)
    return parts


def _head(answer: Any) -> Head:
    Wq, Wk, Wv, Wo = _as_matrices(answer, ("Wq", "Wk", "Wv", "Wo"))
    return Wq, Wk, Wv, Wo


def _no_head(answer: Any, d_model: int) -> str | None:
    """What is wrong with the form of a head."""
    try:
        Wq, Wk, Wv, Wo = _head(answer)
    except ValueError as error:
        return str(error)
    for name, matrix in (("Wq", Wq), ("Wk", Wk), ("Wv", Wv)):
        if matrix.dim() != 2 or len(matrix) != d_model:
            return f"{name} has shape {tuple(matrix.shape)}, not ({d_model}, its width)"
    if Wq.shape != Wk.shape:
        return f"Wq is {by(Wq.shape)} and Wk is {by(Wk.shape)}"
    if tuple(Wo.shape) != (Wv.shape[1], d_model):
        return f"Wv is {by(Wv.shape)} and Wo has shape {tuple(Wo.shape)}"
    return None


def _demand_numbers(exercise: Exercise, names: Sequence[str]) -> None:
    @exercise.hint(NOT_FINITE)
    def parts_are_finite(answer: Any) -> str | None:
        try:
            _as_matrices(answer, names)
        except NotFiniteError as error:
            return str(error)
        except ValueError:
            return None  # the next demand's
        return None


def _demand_form(exercise: Exercise, slots: Sequence[str]) -> None:
    _demand_numbers(exercise, ("Wq", "Wk", "Wv", "Wo"))

    @exercise.hint(
        "Wq and Wk turn a stream [words, slots] into [words, width], Wv into [words, width of "
        "its own], and Wo turns that back into [words, slots]: which sizes must be equal?"
    )
    def matrices_fit(answer: Any) -> str | None:
        return _no_head(answer, len(slots))

    @exercise.hint("How large do numbers get when a query meets a key, or a value meets Wo?")
    def numbers_stay_finite(answer: Any) -> str | None:
        Wq, Wk, Wv, Wo = _head(answer)
        for what, product_of_two in (("Wq @ Wk.T", Wq @ Wk.T), ("Wv @ Wo", Wv @ Wo)):
            if not product_of_two.isfinite().all():
                return f"{what} holds numbers too large for float32"
        return None


def _most(row: Tensor) -> str:
    """Whom a row of attention looks at: one word, or several that share."""
    most = row > row.max() - 0.05
    places, least = most.nonzero().flatten().tolist(), row[most].min()
    if len(places) == 1:
        return f"looks most at word {places[0]}"
    alike = row.max() - least < 0.005
    shares = f"{row.max():.2f} each" if alike else f"{least:.2f} to {row.max():.2f}"
    if len(places) == len(row):
        return "spreads its attention evenly" if alike else f"spreads its attention, {shares}"
    how = "the same share" if alike else "nearly the same share"
    return f"gives words {' and '.join(map(str, places))} {how}, {shares}"


def _is_off(value: float, bit: float) -> bool:
    """True unless a written bit is near what it should be; a leak makes it smaller."""
    room = 0.1 if bit > 0.5 else CLOSE
    return not bit - CLOSE <= value <= bit + room


def _attended(head: Head, streams: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """What `attend` gives for each stream; those of one length go through it together."""
    lengths: dict[int, list[int]] = {}
    for k, X in enumerate(streams):
        lengths.setdefault(len(X), []).append(k)
    found = {}
    for alike in lengths.values():
        batch = torch.stack([streams[k] for k in alike])  # [streams, words, d_model]
        found |= zip(alike, zip(*attend(batch, head), strict=True), strict=True)
    return [found[k] for k in range(len(streams))]


def _other_slot(
    each_written: Iterable[Tensor], slots: Sequence[str], own: Sequence[str]
) -> str | None:
    """A slot that a head changes though it is none of its `own`."""
    for written in each_written:
        changed = (written.abs().amax(0) > CHANGED).tolist()
        for slot, is_changed in zip(slots, changed, strict=True):
            if is_changed and slot not in own:
                return f"the head changes the slot {slot!r}"
    return None


@functools.cache
def _tried() -> list[tuple[str, ...]]:
    """All sentences, and some of their orders that no sentence has."""
    return sentences() + orderings()[::80]


# --------------------------------------------------------------------------------------
# previous-word-head, and eight-places, which differs in its sizes
# --------------------------------------------------------------------------------------
def _previous_word(exercise: Exercise, places: int, texts: Callable, leak: float) -> None:
    """Demand that a head looks one word back, in a layout with so many places.

    `texts` gives the sentences to try, the longest first; `leak` is how much attention may
    go elsewhere.
    """
    slots = layout(places)
    must, hint = exercise.must, exercise.hint
    _demand_form(exercise, slots)

    @functools.cache
    def streams() -> list[tuple[Sequence[str], Tensor]]:
        return [(words, embed(words, slots)) for words in texts()]

    @once
    def tried(answer: Any) -> list[tuple[Sequence[str], Tensor, Tensor]]:
        """Each text with the head's attention in it and what the head writes."""
        every = streams()
        attended = _attended(_head(answer), [X for _, X in every])
        return [(words, *both) for (words, _), both in zip(every, attended, strict=True)]

    def longest(answer: Any) -> Tensor:
        """The attention in the first text, `[words, words]`."""
        return attend(streams()[0][1], _head(answer))[0]

    @hint("Without position slots, what can the previous-word head compare?")
    def positions_are_read(answer: Any) -> str | None:
        Wq, Wk, _, _ = _head(answer)
        rows = [k for k, slot in enumerate(slots) if slot.startswith("pos")]
        for name, matrix in (("Wq", Wq), ("Wk", Wk)):
            if not matrix[rows].any():
                return f"{name} holds nothing in the position slots"
        return None

    @hint("Row = the word that asks: in row 2 of the attention, which column should be 1?")
    def looks_not_ahead(answer: Any) -> str | None:
        weights = longest(answer)
        if weights[1:-1].diagonal(2).min() <= 0.5:
            return None
        return f"row 2 of the attention has {weights[2, 3]:.2f} in column 3, the word that follows"

    @hint(
        "Run attend with your head in a cell of your own, and look at the attention: are the ones "
        "on the diagonal or one below it?"
    )
    def looks_not_at_itself(answer: Any) -> str | None:
        weights = longest(answer)
        if weights.diagonal()[1:].min() <= 0.5:
            return None
        return f"row 2 of the attention has {weights[2, 2]:.2f} in column 2, the word itself"

    @hint("How much weight does the word right before get when four words lie before it?")
    def looks_not_at_all_earlier(answer: Any) -> str | None:
        row = longest(answer)[4]
        for last in (3, 4):
            earlier = row[: last + 1]
            if earlier.sum() > 0.95 and earlier.max() - earlier.min() < 0.005:
                share = f"{row[3]:.2f} each"
                return f"row 4 of the attention gives words 0 to {last} the same share, {share}"
        return None

    @hint("Take that row: with which slot does the word ask, and which slot answers it?")
    def looks_one_back(answer: Any) -> str | None:
        for words, weights, _ in tried(answer):
            before = weights.diagonal(-1)  # [words - 1]
            others = weights[1:].clone()
            others.diagonal().zero_()
            missed = before < others.amax(1) + 0.05
            if missed.any():
                i = first(missed)[0] + 1
                return f"in {' '.join(words)!r}, word {i} {_most(weights[i])}"
        return None

    @must(GAIN)
    def is_sharp(answer: Any) -> str | None:
        least = min(float(weights.diagonal(-1).min()) for _, weights, _ in tried(answer))
        if least > 1 - leak:
            return None
        return f"one word leaks {1 - least:.5f} of its attention to others than the word before"

    @must("Layer 2 reads previous_word_is_disobey: which slots did this head change?")
    def writes_to_its_slot(answer: Any) -> str | None:
        return _other_slot((written for _, _, written in tried(answer)), slots, (NOTE,))

    @must("Which bit of the word before is carried, and how large must it arrive?")
    def note_arrives(answer: Any) -> str | None:
        for words, _, written in tried(answer):
            notes = written[:, slots.index(NOTE)].tolist()
            for i in range(1, len(words)):
                expected = float(words[i - 1] == DISOBEYS)
                if _is_off(notes[i], expected):
                    return (
                        f"in {' '.join(words)!r}, the note at word {i} is {notes[i]:.2f}, "
                        f"and the word before it is {words[i - 1]!r}"
                    )
        return None

    @must("The first word has no predecessor: whom does yours look at?")
    def first_word_has_no_note(answer: Any) -> str | None:
        for words, _, written in tried(answer):
            note = written[0, slots.index(NOTE)]
            if words[0] in (*FLIGHT, *SPEECH) and not abs(note) <= 0.5:
                return f"in {' '.join(words)!r}, the note at word 0 is {note:.2f}"
        return None


def _longest_first() -> list[tuple[str, ...]]:
    return sorted(_tried(), key=len, reverse=True)


def _eight_words() -> list[tuple[str, ...]]:
    """Texts of eight and fewer words, with `disobeys` at each place in turn."""
    body = ("keep-flight", "swap-speech", "Crow", "keep-speech", "swap-flight", "Rock", "Human")
    texts = [(*body[:place], DISOBEYS, *body[place:]) for place in range(8)]
    return [*texts, *(text[:length] for text in texts for length in (7, 4))]


previous_word_head = Exercise(
    "Every word looks one back, whatever the words are: that is what positions are for.",
    MATRICES,
    attempt=lambda answer: answer,
)
_previous_word(previous_word_head, 6, _longest_first, leak=1 - SHARP)

# --------------------------------------------------------------------------------------
# layer
# --------------------------------------------------------------------------------------
layer = Exercise(
    "It adds what every head finds and overwrites nothing: that is a residual stream.",
    "a function of (X, heads) that returns a plain float tensor",
    attempt=lambda answer: answer(_stream(), tuple(_heads())),
)


def _draw(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _stream() -> Tensor:
    """A stream `[5, 22]` with something in every slot."""
    return _draw(5, len(SLOTS), seed=1)


def _heads() -> list[Head]:
    """Two heads with widths of their own."""
    d = len(SLOTS)
    return [
        tuple(
            _draw(*shape, seed=seed + k) / 2
            for k, shape in enumerate([(d, width), (d, width), (d, carried), (carried, d)])
        )
        for seed, width, carried in ((10, 3, 2), (20, 7, 4))
    ]


def _layer(answer: Callable, X: Tensor, heads: Sequence[Head]) -> Tensor:
    out = answer(X.clone(), tuple(tuple(part.clone() for part in head) for head in heads))
    return out.float() if isinstance(out, Tensor) else out


@layer.hint("A layer gives a stream like the one it got: what does yours return?")
def a_stream_comes_out(answer: Callable) -> str | None:
    out = _layer(answer, _stream(), _heads())
    if not isinstance(out, Tensor):
        return f"layer returns a {type(out).__name__}"
    shape = tuple(out.shape)
    return None if shape == (5, len(SLOTS)) else f"5 x {len(SLOTS)} goes in, {by(shape)} comes out"


@layer.must("Someone may still need what you were given: which line writes into it?")
def input_stays(answer: Callable) -> str | None:
    X, heads = _stream(), _heads()
    answer(X, heads)
    if differs(X, _stream()):
        return "layer changes the X that it is given"
    same = len(heads) == 2 and not any(
        differs(part, kept)
        for head, untouched in zip(heads, _heads(), strict=True)
        for part, kept in zip(head, untouched, strict=True)
    )
    return None if same else "layer changes the heads that it is given"


def _silent(head: Head) -> Head:
    Wq, Wk, Wv, Wo = head
    return Wq, Wk, Wv, 0 * Wo


@layer.hint("After layer 1, where does layer 2 find out which word is an action word?")
def stream_is_kept(answer: Callable) -> str | None:
    out = _layer(answer, _stream(), [_silent(_heads()[0])])
    zeros = out.abs().max() < TOLERANCE
    return "with a head that writes nothing, the stream comes out as zeros" if zeros else None


@layer.hint("How often does X itself stand in your sum, and what else does?")
def stream_is_kept_once(answer: Callable) -> str | None:
    X = _stream()
    for silent in ([_silent(_heads()[0])], [_silent(head) for head in _heads()]):
        if differs(_layer(answer, X, silent), X):
            many = "heads that write" if len(silent) > 1 else "a head that writes"
            return f"with {many} nothing, the stream does not stay as it was"
    return None


def _found(X: Tensor, head: Head, scale: bool = True, axis: int = -1, turn: bool = False) -> Tensor:
    """What a head writes, with one step done in another way."""
    Wq, Wk, Wv, Wo = head
    scores = X @ Wq @ (X @ Wk).T / (Wq.shape[1] ** 0.5 if scale else 1.0)
    return torch.softmax(scores.T if turn else scores, dim=axis) @ X @ Wv @ Wo


def _same_as(**step: Any) -> Callable[[Callable], str | None]:
    """A probe that finds an answer whose attention does one step in another way."""

    def probe(answer: Callable) -> str | None:
        X, (head, _) = _stream(), _heads()
        found = _layer(answer, X, [head]) - X
        if differs(found, _found(X, head)) and not differs(found, _found(X, head, **step)):
            return f"with one head, what is added {how_far(found, _found(X, head))}"
        return None

    return probe


@layer.hint("What does a head find, and where does your code add it?")
def something_is_added(answer: Callable) -> str | None:
    same = not differs(_layer(answer, _stream(), _heads()), _stream())
    return "with two heads, X comes out as it went in" if same else None


layer.hint(
    "Each asking word spends one unit of attention: what does one row of yours add up to, and "
    "what one column?"
)(_same_as(axis=0))
layer.hint("Scores grow with the width of queries and keys: what keeps β the same?")(
    _same_as(scale=False)
)
layer.hint("Row = the word that asks. In your scores, who asks: row or column?")(
    _same_as(turn=True)
)


@layer.hint(NOT_FINITE)
def results_are_finite(answer: Callable) -> str | None:
    bad = ~_layer(answer, _stream(), _heads()[:1]).isfinite()
    return (
        f"with one head, {int(bad.sum())} numbers of the result are not finite"
        if bad.any()
        else None
    )


def _share(found: Tensor, wanted: Tensor) -> float | None:
    """How many times `wanted` the found one is, or None if it is something else."""
    size = (found * wanted).sum() / (wanted * wanted).sum()
    return None if differs(found, size * wanted) else size.item()


@layer.hint(
    "What the head writes is as `attend` gives it: what does your code do with it on its way into "
    "the stream?"
)
def head_is_added_once(answer: Callable) -> str | None:
    X, (head, _) = _stream(), _heads()
    share = _share(_layer(answer, X, [head]) - X, _found(X, head))
    if share is None or abs(share - 1) < 0.01:
        return None
    return f"with one head, what it writes is in the result {rounded(share, 2)} times"


@layer.must(
    "One head alone: in a cell of your own, compare its attention and what it writes with "
    "attend's. Which differs?"
)
def one_head_is_added(answer: Callable) -> str | None:
    sparse = torch.cat([_stream(), 0 * _stream()[:1]])  # [6, d_model]
    for X, where in ((_stream(), ""), (sparse, " and six words, one of them zeros")):
        for head in _heads():
            out, wanted = _layer(answer, X, [head]), add(X, head)
            if differs(out, wanted):
                return f"with one head{where}, the result {how_far(out, wanted)}"
    return None


@layer.hint("Which of the heads have a part in what you return?")
def every_head_has_a_part(answer: Callable) -> str | None:
    X, two = _stream(), _heads()
    for heads in (two, [*two, *two, two[0]]):
        out = _layer(answer, X, heads)
        for k, head in enumerate(heads):
            if not differs(out, _layer(answer, X, [*heads[:k], _silent(head), *heads[k + 1 :]])):
                gap = how_far(out, add(X, *heads))
                return f"one head is right; with {len(heads)} heads the result {gap}"
    return None


@layer.hint("Does what one head adds change when another head comes in? Should it?")
def heads_add_what_they_add_alone(answer: Callable) -> str | None:
    X, heads = _stream(), _heads()
    share = _share(_layer(answer, X, heads) - X, add(X, *heads) - X)
    if share is None or abs(share - 1) < 0.01:
        return None
    times = rounded(share, 2)
    return f"one head is right; with 2 heads, what they write is in the result {times} times"


@layer.must("All heads read the same X: what does the second head read in yours, and who adds it?")
def all_heads_are_added(answer: Callable) -> str | None:
    X, heads = _stream(), _heads()
    for some in (heads, heads[::-1], [*heads, *heads, heads[0]]):
        out, wanted = _layer(answer, X, some), add(X, *some)
        if differs(out, wanted):
            return f"one head is right; with {len(some)} heads the result {how_far(out, wanted)}"
    return None


# --------------------------------------------------------------------------------------
# flight-head
# --------------------------------------------------------------------------------------
flight_head = Exercise(
    "Both bits come from one word and land in two slots of flight's own.",
    MATRICES,
    attempt=lambda answer: answer,
)
_demand_form(flight_head, SLOTS)

SWAP, DISOBEYED = SLOTS.index("is_swap_attr_fly"), SLOTS.index("is_attr_fly_disobeyed")


@functools.cache
def _questions() -> list[tuple[Sequence[str], Tensor, dict[str, int]]]:
    """Each text, its stream after layer 1, and the places of the words that matter."""
    found = []
    for words in _tried():
        places = {"question": words.index(QUESTION)}
        for kind, actions in (("flight", FLIGHT), ("speech", SPEECH)):
            places[kind] = next(i for i, word in enumerate(words) if word in actions)
        found.append((words, add(embed(words), OBJECT_HEAD, PREVIOUS_HEAD), places))
    return found


@once
def _asked(answer: Any) -> list[tuple[Sequence[str], Tensor, Tensor, dict[str, int]]]:
    """Each text, how he-is? attends `[words]`, what the head writes, and the places."""
    every = _questions()
    attended = _attended(_head(answer), [X1 for _, X1, _ in every])
    return [
        (words, weights[places["question"]], written, places)
        for (words, _, places), (weights, written) in zip(every, attended, strict=True)
    ]


@flight_head.hint("Which of the two matrices, Wq and Wk, holds the slot of the word that asks?")
def matrices_are_not_exchanged(answer: Any) -> str | None:
    Wq, Wk, Wv, Wo = _head(answer)
    _, X1, places = _questions()[0]
    row = attend(X1, (Wk, Wq, Wv, Wo))[0][places["question"]]
    return question_looks(answer) if row[places["flight"]] >= SHARP else None


@flight_head.hint("Which slot is 1 at he-is? and nowhere else, and which at the flight action?")
def question_looks(answer: Any) -> str | None:
    for words, row, _, _ in _asked(answer):
        if row.max() - row.min() < 0.05:
            return f"in {' '.join(words)!r}, he-is? spreads its attention evenly"
    return None


@flight_head.hint("Two words put their note into one number: can you tell afterwards whose it was?")
def one_action_only(answer: Any) -> str | None:
    for words, row, _, places in _asked(answer):
        shares = row[places["flight"]], row[places["speech"]]
        if min(shares) > 0.25:
            return (
                f"in {' '.join(words)!r}, he-is? gives the flight word {shares[0]:.2f} "
                f"and the speech word {shares[1]:.2f}"
            )
    return None


@flight_head.hint("Which kind of word acts on flight, and which slot marks it?")
def flight_word_is_found(answer: Any) -> str | None:
    for words, row, _, places in _asked(answer):
        others = torch.cat([row[: places["flight"]], row[places["flight"] + 1 :]])
        if row[places["flight"]] < others.max() + 0.05:
            return f"in {' '.join(words)!r}, he-is? {_most(row)}"
    return None


@flight_head.must(GAIN)
def flight_is_sharp(answer: Any) -> str | None:
    for words, row, _, places in _asked(answer):
        share = row[places["flight"]]
        if not share >= SHARP:
            return f"in {' '.join(words)!r}, the flight word gets {share:.2f} of the attention"
    return None


@flight_head.must("The last step reads flight's own slots: which slots did this head change?")
def flight_slots_only(answer: Any) -> str | None:
    own = (SLOTS[SWAP], SLOTS[DISOBEYED])
    return _other_slot((written for _, _, written, _ in _asked(answer)), SLOTS, own)


@flight_head.hint(
    "Column k of Wv takes a bit, row k of Wo says where it lands: which bit lands where?"
)
def bits_land_in_their_slots(answer: Any) -> str | None:
    gains = _gains(answer)
    for bit, other in ((0, 1), (1, 0)):
        if gains is not None and abs(gains[bit][other]) > CLOSE:
            slot = SLOTS[(SWAP, DISOBEYED)[other]]
            return (
                f"the {BITS[bit]} arrives in {slot}, {rounded(gains[bit][other], 2)} times as large"
            )
    return None


@flight_head.hint("Of the right bit, how much must arrive? Which of Wv and Wo changes its size?")
def bits_arrive_in_full(answer: Any) -> str | None:
    gains = _gains(answer)
    if gains is None:
        return None
    sizes = gains[0][0], gains[1][1]
    nothing = all(abs(size) < CLOSE for size in sizes)
    for name, size in zip(BITS, sizes, strict=True):
        if _is_off(size, 1.0) and (nothing or abs(size) > CLOSE):
            times = rounded(size, 2)
            return f"the {name} arrives {times} times as large as it is at the flight word"
    return None


BITS = "swap bit", "note"


def _gains(answer: Any) -> list[list[float]] | None:
    """How much of the swap bit and of the note (rows) arrives in flight's two slots (columns), or
    None when other slots have a part in what arrives."""
    found, bits = _two_bits(answer)
    gains = torch.linalg.lstsq(bits, found).solution  # [2, 2]
    return None if differs(bits @ gains, found, CLOSE) else gains.tolist()


@flight_head.must(
    "`disobey` is a bit of the word `disobeys` itself. Which slots of the action word say that "
    "it is a swap, and that it is disobeyed?"
)
def both_bits_arrive(answer: Any) -> str | None:
    found, held = (column.tolist() for column in _two_bits(answer))
    for (words, _, _), values, bits in zip(_questions(), found, held, strict=True):
        for slot, name, value, bit in zip((SWAP, DISOBEYED), BITS, values, bits, strict=True):
            if _is_off(value, bit):
                return (
                    f"in {' '.join(words)!r}, {SLOTS[slot]} is {value:.2f} at he-is?, "
                    f"and the {name} of the flight word is {bit:.2f}"
                )
    return None


def _two_bits(answer: Any) -> tuple[Tensor, Tensor]:
    """Swap and disobeyed in each text, `[texts, 2]`: what is written at the question, and what
    the flight word holds."""
    found = [
        written[places["question"], [SWAP, DISOBEYED]] for _, _, written, places in _asked(answer)
    ]
    held = [
        X1[places["flight"], [SLOTS.index("swap_fly"), SLOTS.index(NOTE)]]
        for _, X1, places in _questions()
    ]
    return torch.stack(found), torch.stack(held)


# --------------------------------------------------------------------------------------
# parity
# --------------------------------------------------------------------------------------
parity = Exercise(
    "Odd or even, for all 64 settings of six bits, and also where a bit is only nearly 1.",
    "(W1, b1, W2), plain tensors of numbers",
    attempt=lambda answer: answer,
)


_demand_numbers(parity, ("W1", "b1", "W2"))


@parity.must("X2 is [words, 22]: what sizes must W1, b1 and W2 have, so that [words, 2] comes out?")
def network_fits(answer: Any) -> str | None:
    try:
        W1, b1, W2 = _as_matrices(answer, ("W1", "b1", "W2"))
    except ValueError as error:
        return str(error)
    if W1.dim() != 2 or len(W1) != len(SLOTS):
        return f"W1 is {by(W1.shape)}, not {len(SLOTS)} x hidden units"
    if tuple(b1.shape) not in ((W1.shape[1],), (1, W1.shape[1])):
        return f"W1 has {W1.shape[1]} hidden units, b1 has shape {tuple(b1.shape)}"
    if tuple(W2.shape) != (W1.shape[1], 2):
        return f"W2 is {by(W2.shape)}, not {W1.shape[1]} x 2"
    return None


SIX = (*FLIGHT_INPUTS, *SPEECH_INPUTS)


def _at_question(bits: Sequence, place: int = 4, note: float = 0.0) -> Tensor:
    """The row of `he-is?` after layer 2, `[22]`, with the six bits in their slots.

    Of several settings of the six bits, `[settings, 22]`.
    """
    six = torch.tensor(bits, dtype=torch.float32)  # [..., 6]
    rows = torch.zeros(*six.shape[:-1], len(SLOTS))  # [..., d_model]
    rows[..., [SLOTS.index("question"), SLOTS.index(f"pos{place}")]] = 1.0
    rows[..., [SLOTS.index(slot) for slot in SIX]] = six
    rows[..., SLOTS.index(NOTE)] = note
    return rows


def _network(answer: Any, rows: Tensor) -> Tensor:
    W1, b1, W2 = _as_matrices(answer, ("W1", "b1", "W2"))
    return torch.relu(rows @ W1 + b1.flatten()) @ W2


def _alone(slot: str) -> list[int]:
    return [int(slot == other) for other in SIX]


@parity.hint("How large do numbers get on the way through your network?")
def outputs_are_finite(answer: Any) -> str | None:
    for slot in SIX:
        if not _network(answer, _at_question(_alone(slot))).isfinite().all():
            return f"with {slot} alone set, an output is not a finite number"
    return None


@parity.hint("Which column of W2 is flight's, and which slots does its sum read?")
def outputs_are_apart(answer: Any) -> str | None:
    nothing = _network(answer, _at_question([0] * 6))
    flight = (_network(answer, _at_question(_alone(SIX[0]))) - nothing).abs() > 0.5
    speech = (_network(answer, _at_question(_alone(SIX[3]))) - nothing).abs() > 0.5
    if flight.tolist() == [False, True] and speech.tolist() == [True, False]:
        return "a bit of flight turns the second output, a bit of speech the first"
    return None


@parity.hint("Each ability has three slots of its own: which slots does each output's sum read?")
def every_bit_counts_for_its_ability(answer: Any) -> str | None:
    nothing = _network(answer, _at_question([0] * 6))
    turned = [
        (_network(answer, _at_question(_alone(slot))) - nothing).abs() > CLOSE for slot in SIX
    ]
    if not any(output.any() for output in turned):
        return None  # nothing counts: the next demand's
    for slot, output in zip(SIX, turned, strict=True):
        flight, speech = output.tolist()
        if slot in FLIGHT_INPUTS and speech:
            return f"{slot} alone turns the speech output"
        if slot in SPEECH_INPUTS and flight:
            return f"{slot} alone turns the flight output"
        if not flight and not speech:
            return f"{slot} alone turns neither output"
    return None


@parity.hint("What should an output be at 0, 1, 2 and 3 ones, and what is yours there?")
def counts_are_right(answer: Any) -> str | None:
    for column, name in enumerate(("flight", "speech")):
        for ones in range(4):
            bits = [1] * ones + [0] * (3 - ones)
            row = _at_question([*bits, 0, 0, 0] if column == 0 else [0, 0, 0, *bits])
            value = _network(answer, row)[column]
            if not abs(value - ones % 2) <= CLOSE:
                return f"with {ones} of {name}'s three bits set, its output is {value:.2f}"
    return None


@parity.must("Each ability has three slots of its own: which ones does each output depend on?")
def all_settings_are_right(answer: Any) -> str | None:
    for place, note in product(range(6), (0.0, 1.0)):
        finding = _first_wrong(answer, (0.0, 1.0), CLOSE, place, note)
        if finding:
            return f"{finding}, with he-is? at place {place} and {NOTE} at {note:g}"
    return None


@parity.must("Heads leak: a bit arrives as 0.98 or 0.02. How steep is your network between kinks?")
def leaks_are_survived(answer: Any) -> str | None:
    return _first_wrong(answer, (0.02, 0.98), 0.49)


def _first_wrong(
    answer: Any, bits: tuple[float, float], room: float, place: int = 4, note: float = 0.0
) -> str | None:
    """The first setting of the six bits for which an output is off by more than `room`."""
    settings = list(product(bits, repeat=6))
    Y = _network(answer, _at_question(settings, place, note))  # [settings, 2]
    for six, outputs in zip(settings, Y.tolist(), strict=True):
        for value, three, name in zip(
            outputs, (six[:3], six[3:]), ("flight", "speech"), strict=True
        ):
            if not abs(value - sum(map(round, three)) % 2) <= room:
                return f"flight {six[:3]}, speech {six[3:]}: the {name} output is {value:.2f}"
    return None


# --------------------------------------------------------------------------------------
# six-bits
# --------------------------------------------------------------------------------------
six_bits = Exercise(
    "You read the row of he-is? as the feed-forward network does: three bits, odd or even.",
    STUB,
    attempt=lambda answer: answer,
)
_SIX = "Flying superhero disobeys swap-speech keep-flight he-is?"


@six_bits.must(
    "Three bits for each ability, each 0 or 1, and an object: which is missing, or something else?"
)
def all_bits_are_there(answer: Any) -> str | None:
    if finding := no_dictionary(answer):
        return finding
    for ability in ("flight", "speech"):
        bits = _listed(answer.get(ability))
        if is_blank(answer.get(ability)):
            return f"there are no three bits for {ability!r} yet"
        if len(bits) != 3:
            return f"{told(answer[ability])} for {ability!r} is not three bits"
        for bit in bits:
            if no_truth_value(bit):
                return f"{told(bit)} for {ability!r} is not a bit"
    return "there is no answer yet" if is_blank(answer.get("answer")) else None


def _ask_bit(ability: str, place: int, question: str) -> None:
    @six_bits.must(question)
    def bit(answer: dict) -> str | None:
        words = read(_SIX)
        flight = ability == "flight"
        action = next(word for word in words if word in (FLIGHT if flight else SPEECH))
        right = (
            OBJECTS[words[0]][0 if flight else 1],
            {**FLIGHT, **SPEECH}[action],
            int(words[words.index(action) - 1] == DISOBEYS),
        )
        given = _listed(answer[ability])[place]
        return None if given == right[place] else f"bit {place} of {ability} is not {given!r}"


for _ability in ("flight", "speech"):
    _ask_bit(_ability, 0, "What can the object do before anything acts on it?")
    _ask_bit(_ability, 1, "Is the action on this ability a swap or a keep?")
    _ask_bit(_ability, 2, "Which word stands right before the action on this ability?")


@six_bits.must("Is each of the two sums odd or even, and which object has these abilities?")
def answer_fits(answer: dict) -> str | None:
    given = " ".join(str(answer["answer"]).split()).capitalize()
    if given not in OBJECTS:
        known = ", ".join(OBJECTS)
        return f"{told(answer['answer'])} is no object of the puzzle; its objects are {known}"
    return None if given == rule(read(_SIX)) else f"these bits do not make a {given}"


def _listed(value: Any) -> list:
    """A tuple, list, tensor or array as a list of plain numbers; anything else is empty."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, tuple | list) else []


# --------------------------------------------------------------------------------------
# eight-places
# --------------------------------------------------------------------------------------
eight_places = Exercise(
    "A wider head divides by a larger root, so its gain must grow to keep the leak small.",
    MATRICES,
    attempt=lambda answer: answer,
)
_previous_word(eight_places, 8, _eight_words, leak=0.0005)

# --------------------------------------------------------------------------------------
# patch
# --------------------------------------------------------------------------------------
patch = Exercise(
    "One number carried that belief, and changing it changed the answer as foretold.",
    STUB,
    attempt=lambda answer: answer,
)
_PATCHED = "Crow keep-flight disobeys swap-speech he-is?"


@patch.must("A place, a slot's name and a number: which is missing, or unknown?")
def a_cell_of_the_stream(answer: Any) -> str | None:
    if finding := no_dictionary(answer):
        return finding
    for key in ("word", "slot", "value"):
        if is_blank(answer.get(key)):
            return f"there is no {key!r} yet"
    words = read(_PATCHED)
    if _place(answer["word"], words) is None:
        return f"there is no word {answer['word']!r}; the places are 0 to {len(words) - 1}"
    if _place(answer["slot"], SLOTS) is None:
        near = difflib.get_close_matches(str(answer["slot"]), SLOTS, n=1)
        return f"there is no slot {answer['slot']!r}" + (f"; {near[0]!r} is near" if near else "")
    value = _number(answer["value"])
    if value is None or not abs(value) <= 100:
        return f"{answer['value']!r} is no number of the size that a stream holds"
    return None


def _place(given: Any, names: Sequence[str]) -> int | None:
    """A place given by its number or its name, or `None` when there is none such."""
    if isinstance(given, str):
        return names.index(given) if given in names else None
    number = _number(given)
    if isinstance(given, bool) or number not in range(len(names)):
        return None
    return int(number)


def _number(value: Any) -> float | None:
    """The value as a number, or `None` when it is none."""
    try:
        return float(value)
    except Exception:
        return None


def _patched(answer: dict, value: float | None = None) -> str:
    """What the model answers with a number of the stream replaced, by the answer's or a `value`."""
    words = read(_PATCHED)
    X1 = add(embed(words), OBJECT_HEAD, PREVIOUS_HEAD)  # [words, d_model]
    number = float(answer["value"]) if value is None else value
    X1[_place(answer["word"], words), _place(answer["slot"], SLOTS)] = number
    abilities = read_out(X1, words)
    return next((name for name, own in OBJECTS.items() if own == abilities), "nothing known")


def _other_number(answer: dict) -> bool:
    """Whether 0 or 1 in the answer's cell would do, though its own number does not."""
    return _patched(answer) != "Rock" and "Rock" in (_patched(answer, 0.0), _patched(answer, 1.0))


@patch.hint("Which number stands in that cell before you write yours?")
def number_is_another_one(answer: dict) -> str | None:
    words = read(_PATCHED)
    X1 = add(embed(words), OBJECT_HEAD, PREVIOUS_HEAD)  # [words, d_model]
    before = X1[_place(answer["word"], words), _place(answer["slot"], SLOTS)]
    same = abs(float(before) - float(answer["value"])) < CHANGED
    return flight_turns_over(answer) if same and _other_number(answer) else None


@patch.hint(
    "What do the three bits of flight add up to with your number, and what does rounding make of "
    "the output?"
)
def number_is_large_enough(answer: dict) -> str | None:
    return flight_turns_over(answer) if _other_number(answer) else None


@patch.must("Whom does layer 2 ask for flight, and which of that word's slots does it carry home?")
def flight_turns_over(answer: dict) -> str | None:
    found = _patched(answer)
    return None if found == "Rock" else f"with your number the model answers {found}, not Rock"
