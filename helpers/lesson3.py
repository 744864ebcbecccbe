"""Lesson 3's exercises: what each answer must do, from the weakest demand to the strongest.

A head is judged by its attention, row by row, and by every slot that it changes: heads with
exchanged slots can still give the puzzle's right answers.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor

from helpers.exercises import Exercise, is_blank
from helpers.hand_built import (
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
from helpers.probes import TOLERANCE, differs
from helpers.puzzle import (
    DISOBEYS,
    FLIGHT,
    OBJECTS,
    QUESTION,
    SPEECH,
    WORDS,
    orderings,
    read,
    rule,
    sentences,
)
from helpers.shapes import by

SHARP = 0.8  # the least share of attention that counts as "looks at"
CLOSE = 0.25  # how far a written bit may be from 0 or 1: room for a leak
CHANGED = 1e-3

# --------------------------------------------------------------------------------------
# 3.1 same-words
# --------------------------------------------------------------------------------------
SHOWN = {
    "Crow disobeys keep-flight swap-speech he-is?",
    "Crow keep-flight disobeys swap-speech he-is?",
}

same_words = Exercise(
    "3.1",
    "same-words",
    "One bag of words, two right answers: no model that is blind to order can have both.",
    attempt=lambda pair: pair,
)


@same_words.demand("Two sentences in quotes, separated by a comma: what have you handed in?")
def a_pair_of_texts(pair: Any) -> str | None:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        return "the answer is not a pair"
    wrong = [text for text in pair if not isinstance(text, str)]
    return f"{wrong[0]!r} is not a sentence" if wrong else None


@same_words.demand("Which rule of the language does this sentence break?")
def both_are_sentences(pair: Sequence[str]) -> str | None:
    for text in pair:
        try:
            words = read(text)
        except ValueError as error:
            return str(error)
        if words[-1] != QUESTION:
            return f"{text!r} does not end with {QUESTION!r}"
    return None


@same_words.demand("Which word does one of them have and the other not?")
def same_bag(pair: Sequence[str]) -> str | None:
    bags = [sorted(read(text)) for text in pair]
    return None if bags[0] == bags[1] else "the two do not hold the same words"


@same_words.demand("Which action does `disobeys` touch in the first, and which in the second?")
def other_answers(pair: Sequence[str]) -> str | None:
    answers = [rule(read(text)) for text in pair]
    return f"both are answered {answers[0]}" if answers[0] == answers[1] else None


@same_words.demand("That pair is in the lesson: can you change the object, or an action?")
def a_pair_of_ones_own(pair: Sequence[str]) -> str | None:
    known = {" ".join(read(text)) for text in pair} == SHOWN
    return "these are the lesson's two sentences" if known else None


# --------------------------------------------------------------------------------------
# Heads, handed in as (Wq, Wk, Wv, Wo)
# --------------------------------------------------------------------------------------
def _as_matrices(answer: Any, names: Sequence[str]) -> list[Tensor]:
    """The answer's parts as float tensors. Raises `ValueError` with what is wrong."""
    if not isinstance(answer, tuple | list) or len(answer) != len(names):
        raise ValueError(f"the answer does not consist of {', '.join(names)}")
    parts = []
    for name, part in zip(names, answer, strict=True):
        if is_blank(part):
            raise ValueError(f"{name} is still missing")
        try:
            part = torch.as_tensor(part).detach().to("cpu", torch.float32)
        except Exception:
            raise ValueError(f"{name} is a {type(part).__name__}, not a tensor") from None
        if not part.isfinite().all():
            raise ValueError(f"{name} holds a number that is not finite")
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
            return f"{name} is {by(tuple(matrix.shape))}, not {d_model} x its width"
    if Wq.shape != Wk.shape:
        return f"Wq is {by(tuple(Wq.shape))} and Wk is {by(tuple(Wk.shape))}"
    if tuple(Wo.shape) != (Wv.shape[1], d_model):
        return f"Wv is {by(tuple(Wv.shape))} and Wo is {by(tuple(Wo.shape))}"
    return None


def _demand_form(exercise: Exercise, d_model: int) -> None:
    @exercise.demand(
        "Wq and Wk turn a stream [words, slots] into [words, width], Wv into [words, width of "
        "its own], and Wo turns that back into [words, slots]: which sizes must be equal?"
    )
    def matrices_fit(answer: Any) -> str | None:
        return _no_head(answer, d_model)


def _written(head: Head, X: Tensor) -> Tensor:
    return attend(X, head)[1]


def _other_slots(written: Tensor, slots: Sequence[str], own: Sequence[str]) -> str | None:
    """The name of a slot that a head changes though it is none of its `own`."""
    for slot, column in zip(slots, written.T, strict=True):
        if slot not in own and column.abs().max() > CHANGED:
            return slot
    return None


@functools.cache
def _tried() -> list[tuple[str, ...]]:
    """All sentences, and some of their orders that no sentence has."""
    return sentences() + orderings()[::80]


# --------------------------------------------------------------------------------------
# 3.2 previous-word-head, and 3.9 eight-places, which differs in its sizes
# --------------------------------------------------------------------------------------
def _previous_word(exercise: Exercise, places: int, texts: Callable, leak: float) -> None:
    """Demand that a head looks one word back, in a layout with so many places.

    `texts` gives the sentences to try, the longest first; `leak` is how much attention may
    go elsewhere.
    """
    slots = layout(places)
    demand = exercise.demand
    _demand_form(exercise, len(slots))

    @functools.cache
    def streams() -> list[tuple[Sequence[str], Tensor]]:
        return [(words, embed(words, slots)) for words in texts()]

    def longest(answer: Any) -> Tensor:
        """The attention in the first text, `[words, words]`."""
        return attend(streams()[0][1], _head(answer))[0]

    @demand("Without position slots, what can the previous-word head compare?")
    def positions_are_read(answer: Any) -> str | None:
        Wq, Wk, _, _ = _head(answer)
        rows = [k for k, slot in enumerate(slots) if slot.startswith("pos")]
        for name, matrix in (("Wq", Wq), ("Wk", Wk)):
            if not matrix[rows].any():
                return f"{name} holds nothing in the position slots"
        return None

    @demand("Row = the word that asks: in row 2 of the pattern, which column should be 1?")
    def looks_not_ahead(answer: Any) -> str | None:
        weights = longest(answer)
        if weights[1:-1].diagonal(2).min() <= 0.5:
            return None
        return f"row 2 of the pattern has {weights[2, 3]:.2f} in column 3, the word that follows"

    @demand("Print the pattern: are the ones on the diagonal or one below it?")
    def looks_not_at_itself(answer: Any) -> str | None:
        weights = longest(answer)
        if weights.diagonal()[1:].min() <= 0.5:
            return None
        return f"row 2 of the pattern has {weights[2, 2]:.2f} in column 2, the word itself"

    @demand("How much weight does the word right before get when four words lie before it?")
    def looks_not_at_all_earlier(answer: Any) -> str | None:
        row = longest(answer)[4]
        if row[:4].sum() < SHARP or row[:4].max() - row[:4].min() > 0.1:
            return None
        return f"row 4 of the pattern gives words 0 to 3 the same share, {row[3]:.2f} each"

    @demand("Take that row: with which slot does the word ask, and which slot answers it?")
    def looks_one_back(answer: Any) -> str | None:
        head = _head(answer)
        for words, X in streams():
            weights = attend(X, head)[0]
            for i in range(1, len(words)):
                seen = int(weights[i].argmax())
                if weights[i].max() - weights[i].min() < 0.05:
                    return f"in {' '.join(words)!r}, word {i} spreads its attention evenly"
                if seen != i - 1:
                    return f"in {' '.join(words)!r}, word {i} looks most at word {seen}"
        return None

    @demand(
        "Scores are divided by the root of Wq's width before softmax: how large must the gain "
        "be, so that almost nothing is left for the other words?"
    )
    def is_sharp(answer: Any) -> str | None:
        head = _head(answer)
        least = min(float(attend(X, head)[0].diagonal(-1).min()) for _, X in streams())
        if least > 1 - leak:
            return None
        digits = 2 if leak > 0.01 else 4
        return f"a word gives the one before it no more than {least:.{digits}f} of its attention"

    @demand("Layer 2 reads previous_word_is_disobey: which slots did this head change?")
    def writes_to_its_slot(answer: Any) -> str | None:
        head = _head(answer)
        for _, X in streams():
            slot = _other_slots(_written(head, X), slots, (NOTE,))
            if slot:
                return f"the head changes the slot {slot!r}"
        return None

    @demand("Which bit of the word before is carried, and how large must it arrive?")
    def note_arrives(answer: Any) -> str | None:
        head = _head(answer)
        for words, X in streams():
            notes = _written(head, X)[:, slots.index(NOTE)]
            for i in range(1, len(words)):
                expected = float(words[i - 1] == DISOBEYS)
                if abs(notes[i] - expected) > CLOSE:
                    return (
                        f"in {' '.join(words)!r}, the note at word {i} is {notes[i]:.2f}, "
                        f"and the word before it is {words[i - 1]!r}"
                    )
        return None

    @demand("The first word has no predecessor: whom does yours look at?")
    def first_word_has_no_note(answer: Any) -> str | None:
        head = _head(answer)
        for words, X in streams():
            note = _written(head, X)[0, slots.index(NOTE)]
            if words[0] in (*FLIGHT, *SPEECH) and note > 0.5:
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
    "3.2",
    "previous-word-head",
    "Every word looks one back, whatever the words are: that is what positions are for.",
    attempt=lambda answer: answer,
)
_previous_word(previous_word_head, 6, _longest_first, leak=1 - SHARP)

# --------------------------------------------------------------------------------------
# 3.3 first-row
# --------------------------------------------------------------------------------------
first_row = Exercise(
    "3.3",
    "first-row",
    "A head with nothing to look for still hands out its whole unit, evenly.",
    attempt=lambda answer: answer,
)


@first_row.demand("A query of zeros: which word scores higher than another?")
def evenly(answer: Any) -> str | None:
    if not isinstance(answer, dict):
        return f"the answer is a {type(answer).__name__}, not the dictionary of the stub"
    for length in (4, 6):
        given = answer.get(length)
        if is_blank(given):
            return f"there is no weight for {length} words yet"
        if abs(float(given) - 1 / length) > 0.006:
            total = length * float(given)
            return f"for {length} words, {length} shares of {given} would add up to {total:.2f}"
    return None


# --------------------------------------------------------------------------------------
# 3.4 layer
# --------------------------------------------------------------------------------------
layer = Exercise(
    "3.4",
    "layer",
    "It adds what every head finds and overwrites nothing: that is a residual stream.",
    attempt=lambda answer: answer(_stream(), _heads()),
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
    return answer(X.clone(), [tuple(part.clone() for part in head) for head in heads])


@layer.demand("A layer gives a stream like the one it got: what does yours return?")
def a_stream_comes_out(answer: Callable) -> str | None:
    out = _layer(answer, _stream(), _heads())
    if not isinstance(out, Tensor):
        return f"layer returns a {type(out).__name__}"
    shape = tuple(out.shape)
    return None if shape == (5, len(SLOTS)) else f"5 x {len(SLOTS)} goes in, {by(shape)} comes out"


@layer.demand("Someone may still need the stream as it was: which line writes into X?")
def input_stays(answer: Callable) -> str | None:
    X = _stream()
    answer(X, _heads())
    return "layer changes the X that it is given" if differs(X, _stream()) else None


@layer.demand("After layer 1, where does layer 2 find out which word is an action word?")
def stream_is_kept(answer: Callable) -> str | None:
    X, ((Wq, Wk, Wv, Wo), _) = _stream(), _heads()
    out = _layer(answer, X, [(Wq, Wk, Wv, 0 * Wo)])
    if not differs(out, X):
        return None
    if out.abs().max() < TOLERANCE:
        return "with a head that writes nothing, the stream comes out as zeros"
    return "with a head that writes nothing, the stream does not stay as it was"


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
            off = (found - _found(X, head)).abs().max()
            return f"with one head, what is added is off by up to {off:.2f}"
        return None

    return probe


layer.demand("Each asking word spends one unit of attention: sum one row and one column.")(
    _same_as(axis=0)
)
layer.demand("Scores grow with the width of queries and keys: what keeps β the same?")(
    _same_as(scale=False)
)
layer.demand("Row = the word that asks. In your scores, who asks: row or column?")(
    _same_as(turn=True)
)


@layer.demand(
    "One head alone: print its attention and what it writes. Which differs from attend's?"
)
def one_head_is_added(answer: Callable) -> str | None:
    X = _stream()
    for head in _heads():
        off = (_layer(answer, X, [head]) - add(X, head)).abs().max()
        if off > TOLERANCE:
            return f"with one head, the result is off by up to {off:.2f}"
    return None


@layer.demand(
    "All heads read the same X: what does the second head read in yours, and who adds it?"
)
def all_heads_are_added(answer: Callable) -> str | None:
    X, heads = _stream(), _heads()
    for some in (heads, heads[::-1], [*heads, heads[0]]):
        out = _layer(answer, X, some)
        off = (out - add(X, *some)).abs().max()
        if off > TOLERANCE:
            return f"one head is right; with {len(some)} heads the result is off by up to {off:.2f}"
    return None


# --------------------------------------------------------------------------------------
# 3.5 flight-head
# --------------------------------------------------------------------------------------
flight_head = Exercise(
    "3.5",
    "flight-head",
    "Both bits come from one word and land in two slots of flight's own.",
    attempt=lambda answer: answer,
)
_demand_form(flight_head, len(SLOTS))

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


@flight_head.demand("Which slot is 1 at he-is? and nowhere else, and which at the flight action?")
def question_looks(answer: Any) -> str | None:
    head = _head(answer)
    for words, X1, places in _questions():
        row = attend(X1, head)[0][places["question"]]
        if row.max() - row.min() < 0.05:
            return f"in {' '.join(words)!r}, he-is? spreads its attention evenly"
    return None


@flight_head.demand(
    "Two words put their disobey bit into one number: can you tell afterwards whose it was?"
)
def one_action_only(answer: Any) -> str | None:
    head = _head(answer)
    for words, X1, places in _questions():
        row = attend(X1, head)[0][places["question"]]
        shares = row[places["flight"]], row[places["speech"]]
        if min(shares) > 0.25:
            return (
                f"in {' '.join(words)!r}, he-is? gives the flight word {shares[0]:.2f} "
                f"and the speech word {shares[1]:.2f}"
            )
    return None


@flight_head.demand("Which kind of word acts on flight, and which slot marks it?")
def flight_word_is_found(answer: Any) -> str | None:
    head = _head(answer)
    for words, X1, places in _questions():
        seen = int(attend(X1, head)[0][places["question"]].argmax())
        if seen != places["flight"]:
            return f"in {' '.join(words)!r}, he-is? looks most at {words[seen]!r}"
    return None


@flight_head.demand(
    "Scores are divided by the root of Wq's width before softmax: how large must the gain be, "
    "so that almost nothing is left for the other words?"
)
def flight_is_sharp(answer: Any) -> str | None:
    head = _head(answer)
    for words, X1, places in _questions():
        share = attend(X1, head)[0][places["question"], places["flight"]]
        if share < SHARP:
            return f"in {' '.join(words)!r}, the flight word gets {share:.2f} of the attention"
    return None


@flight_head.demand("The last step reads flight's own slots: which slots did this head change?")
def flight_slots_only(answer: Any) -> str | None:
    head = _head(answer)
    own = (SLOTS[SWAP], SLOTS[DISOBEYED])
    for _, X1, _ in _questions():
        slot = _other_slots(_written(head, X1), SLOTS, own)
        if slot:
            return f"the head changes the slot {slot!r}"
    return None


@flight_head.demand(
    "Column k of Wv takes a bit, row k of Wo says where it lands: which bit lands where?"
)
def bits_are_not_exchanged(answer: Any) -> str | None:
    head = _head(answer)
    exchanged = straight = True
    for _, X1, places in _questions():
        found, bits = _two_bits(head, X1, places)
        straight &= not differs(found, bits, CLOSE)
        exchanged &= not differs(found, bits.flip(0), CLOSE)
    if exchanged and not straight:
        return "the swap bit lands in is_attr_fly_disobeyed, and the note in is_swap_attr_fly"
    return None


@flight_head.demand(
    "`disobey` is a bit of the word `disobeys` itself. Which slots of the *action word* say that "
    "it is a swap, and that it is disobeyed?"
)
def both_bits_arrive(answer: Any) -> str | None:
    head = _head(answer)
    for words, X1, places in _questions():
        found, bits = _two_bits(head, X1, places)
        for slot, value, bit in zip((SWAP, DISOBEYED), found, bits, strict=True):
            if abs(value - bit) > CLOSE:
                return (
                    f"in {' '.join(words)!r}, {SLOTS[slot]} is {value:.2f} at he-is?, "
                    f"where the flight word has {bit:.2f}"
                )
    return None


def _two_bits(head: Head, X1: Tensor, places: dict[str, int]) -> tuple[Tensor, Tensor]:
    """Swap and disobeyed: what the head writes at the question, and what the word holds."""
    found = _written(head, X1)[places["question"], [SWAP, DISOBEYED]]
    held = X1[places["flight"], [SLOTS.index("swap_fly"), SLOTS.index(NOTE)]]
    return found, held


# --------------------------------------------------------------------------------------
# 3.6 parity
# --------------------------------------------------------------------------------------
parity = Exercise(
    "3.6",
    "parity",
    "Odd or even, for all 64 settings of six bits, and also where a bit is only nearly 1.",
    attempt=lambda answer: answer,
)


@parity.demand(
    "X2 is [words, 22]: what sizes must W1, b1 and W2 have, so that [words, 2] comes out?"
)
def network_fits(answer: Any) -> str | None:
    try:
        W1, b1, W2 = _as_matrices(answer, ("W1", "b1", "W2"))
    except ValueError as error:
        return str(error)
    if W1.dim() != 2 or len(W1) != len(SLOTS):
        return f"W1 is {by(tuple(W1.shape))}, not {len(SLOTS)} x hidden units"
    if b1.numel() != W1.shape[1]:
        return f"W1 has {W1.shape[1]} hidden units, b1 has {b1.numel()} numbers"
    if tuple(W2.shape) != (W1.shape[1], 2):
        return f"W2 is {by(tuple(W2.shape))}, not {W1.shape[1]} x 2"
    return None


def _at_question(flight: Sequence[float], speech: Sequence[float], place: int = 4) -> Tensor:
    """The row of `he-is?` after layer 2, `[22]`, with the given bits in its slots."""
    row = torch.zeros(len(SLOTS))  # [d_model]
    row[SLOTS.index("question")] = row[SLOTS.index(f"pos{place}")] = 1.0
    for slot, bit in zip((*FLIGHT_INPUTS, *SPEECH_INPUTS), (*flight, *speech), strict=True):
        row[SLOTS.index(slot)] = bit
    return row


def _network(answer: Any, row: Tensor) -> Tensor:
    W1, b1, W2 = _as_matrices(answer, ("W1", "b1", "W2"))
    return torch.relu(row @ W1 + b1.flatten()) @ W2


@parity.demand("Which column of W2 is flight's, and which slots does its sum read?")
def outputs_are_apart(answer: Any) -> str | None:
    flight = _network(answer, _at_question((1, 0, 0), (0, 0, 0)))
    speech = _network(answer, _at_question((0, 0, 0), (1, 0, 0)))
    if flight[1] > 0.5 > flight[0] and speech[0] > 0.5 > speech[1]:
        return "a bit of flight turns the second output, a bit of speech the first"
    return None


@parity.demand("Evaluate the little network at 0, 1, 2 and 3 ones.")
def counts_are_right(answer: Any) -> str | None:
    for column, name in enumerate(("flight", "speech")):
        for ones in range(4):
            bits = [1] * ones + [0] * (3 - ones)
            pair = [bits, (0, 0, 0)] if column == 0 else [(0, 0, 0), bits]
            value = _network(answer, _at_question(*pair))[column]
            if abs(value - ones % 2) > CLOSE:
                return f"with {ones} of {name}'s three bits set, its output is {value:.2f}"
    return None


@parity.demand("Each ability has three slots of its own: which ones does each output depend on?")
def all_settings_are_right(answer: Any) -> str | None:
    for bits in product((0, 1), repeat=6):
        for place in (5, 0):
            Y = _network(answer, _at_question(bits[:3], bits[3:], place))
            expected = (sum(bits[:3]) % 2, sum(bits[3:]) % 2)
            for value, bit, name in zip(Y, expected, ("flight", "speech"), strict=True):
                if abs(value - bit) > CLOSE:
                    return (
                        f"flight {bits[:3]}, speech {bits[3:]}, he-is? at place {place}: "
                        f"the {name} output is {value:.2f}"
                    )
    return None


@parity.demand("Heads leak: a bit may arrive as 0.98. How steep is your network between two kinks?")
def leaks_are_survived(answer: Any) -> str | None:
    for bits in product((0.0, 0.98), repeat=6):
        Y = _network(answer, _at_question(bits[:3], bits[3:]))
        expected = torch.tensor([sum(map(round, bits[:3])) % 2, sum(map(round, bits[3:])) % 2])
        if (Y - expected).abs().max() >= 0.5:
            return f"with 0.98 in place of 1, bits {bits} give {Y[0]:.2f} and {Y[1]:.2f}"
    return None


# --------------------------------------------------------------------------------------
# 3.7 rounding
# --------------------------------------------------------------------------------------
rounding = Exercise(
    "3.7",
    "rounding",
    "Softmax comes near and never arrives, so an answer is read at its nearest bit.",
    attempt=lambda answer: answer(torch.tensor([[0.9, 0.1]])),
)


@rounding.demand("Y has one row for each sentence and two columns: what do you return for it?")
def same_shape(answer: Callable) -> str | None:
    Y = torch.tensor([[0.9, 0.1], [0.2, 0.7], [1.0, 0.0]])
    bits = answer(Y)
    if not isinstance(bits, Tensor):
        return f"to_bits returns a {type(bits).__name__}, not a tensor"
    return None if bits.shape == Y.shape else f"3 x 2 goes in, {by(tuple(bits.shape))} comes out"


@rounding.demand("Softmax never reaches exactly 1: what does int(0.98) give?")
def nearest_bit(answer: Callable) -> str | None:
    Y = torch.tensor([[0.98, 0.02], [0.67, 0.33], [1.02, -0.02], [0.0, 1.0]])
    bits = answer(Y.clone())
    for value, bit in zip(Y.flatten().tolist(), bits.flatten().tolist(), strict=True):
        if float(bit) != round(value):
            return f"{value:.2f} becomes {float(bit):g}"
    return None


# --------------------------------------------------------------------------------------
# 3.8 six-bits
# --------------------------------------------------------------------------------------
six_bits = Exercise(
    "3.8",
    "six-bits",
    "You read the row of he-is? as the feed-forward network does: three bits, odd or even.",
    attempt=lambda answer: answer,
)
_SIX = "Flying superhero disobeys swap-speech keep-flight he-is?"


@six_bits.demand("Three bits for each ability: which is missing?")
def all_bits_are_there(answer: Any) -> str | None:
    if not isinstance(answer, dict):
        return f"the answer is a {type(answer).__name__}, not the dictionary of the stub"
    for ability in ("flight", "speech"):
        bits = answer.get(ability)
        if not isinstance(bits, tuple | list) or len(bits) != 3 or any(map(is_blank, bits)):
            return f"there are no three bits for {ability!r} yet"
    return "there is no answer yet" if is_blank(answer.get("answer")) else None


def _ask_bit(ability: str, place: int, question: str) -> None:
    @six_bits.demand(question)
    def bit(answer: dict) -> str | None:
        words = read(_SIX)
        flight = ability == "flight"
        action = next(word for word in words if word in (FLIGHT if flight else SPEECH))
        right = (
            OBJECTS[words[0]][0 if flight else 1],
            {**FLIGHT, **SPEECH}[action],
            int(words[words.index(action) - 1] == DISOBEYS),
        )
        given = answer[ability][place]
        return None if given == right[place] else f"bit {place} of {ability} is not {given}"


for _ability in ("flight", "speech"):
    _ask_bit(_ability, 0, "What can the object do before anything acts on it?")
    _ask_bit(_ability, 1, "Is the action on this ability a swap or a keep?")
    _ask_bit(_ability, 2, "Which word stands right before the action on this ability?")


@six_bits.demand("Which of the two sums is odd, and which object has that ability?")
def answer_fits(answer: dict) -> str | None:
    given = answer["answer"]
    return None if given == rule(read(_SIX)) else f"these bits do not make a {given}"


# --------------------------------------------------------------------------------------
# 3.9 eight-places
# --------------------------------------------------------------------------------------
eight_places = Exercise(
    "3.9",
    "eight-places",
    "A wider head divides by a larger root, so its gain must grow to keep the leak small.",
    attempt=lambda answer: answer,
)
_previous_word(eight_places, 8, _eight_words, leak=0.0005)

# --------------------------------------------------------------------------------------
# 3.10 patch
# --------------------------------------------------------------------------------------
patch = Exercise(
    "3.10",
    "patch",
    "One number carried that belief, and changing it changed the answer as foretold.",
    attempt=lambda answer: answer,
)
_PATCHED = "Crow keep-flight disobeys swap-speech he-is?"


@patch.demand("A place, a slot's name and a number: which is missing, or unknown?")
def a_cell_of_the_stream(answer: Any) -> str | None:
    if not isinstance(answer, dict):
        return f"the answer is a {type(answer).__name__}, not the dictionary of the stub"
    for key in ("word", "slot", "value"):
        if is_blank(answer.get(key)):
            return f"there is no {key!r} yet"
    word, slot, value = answer["word"], answer["slot"], answer["value"]
    if not isinstance(word, int) or not 0 <= word < len(read(_PATCHED)):
        return f"there is no word {word!r}; the places are 0 to {len(read(_PATCHED)) - 1}"
    if slot not in SLOTS:
        near = difflib.get_close_matches(str(slot), SLOTS, n=1, cutoff=0.0)[0]
        return f"there is no slot {slot!r}; the nearest is {near!r}"
    if not -100 <= float(value) <= 100:
        return f"{value!r} is far larger than any number in the stream"
    return None


@patch.demand(
    "Whom does layer 2 ask for flight, and which of that word's slots does it carry home?"
)
def flight_turns_over(answer: dict) -> str | None:
    words = read(_PATCHED)
    X1 = add(embed(words), OBJECT_HEAD, PREVIOUS_HEAD)  # [words, d_model]
    X1[answer["word"], SLOTS.index(answer["slot"])] = float(answer["value"])
    found = _answer_name(X1, words)
    return None if found == "Rock" else f"with your number the model answers {found}, not Rock"


def _answer_name(X1: Tensor, words: Sequence[str]) -> str:
    """The object that the model's two layers and read-out make of a stream after layer 1."""
    abilities = read_out(X1, words)
    names = [name for name in WORDS if OBJECTS.get(name) == abilities]
    return names[0] if names else "nothing known"


EXERCISES = [
    same_words,
    previous_word_head,
    first_row,
    layer,
    flight_head,
    parity,
    rounding,
    six_bits,
    eight_places,
    patch,
]
