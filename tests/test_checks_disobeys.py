"""Lesson 3's checker against right answers in many forms and wrong answers of many kinds."""

import math

import pytest
import torch
from lessons import (
    COMPUTES_LONG,
    Record,
    answers,
    assert_right,
    assert_wrong,
    run_cells,
    solutions,
)

from helpers import judge
from helpers.checks import disobeys
from helpers.checks.hand_built import SLOTS, layout

RECORD = Record(
    before_solutions=(
        *("tools", "guess", "bits", "slots", "by-slot", "tables", "embed"),
        *("object-head", "attend"),
    ),
    given={
        "object-text": {
            "90": "a question's percentage",
            "2.7": "the number e, roughly",
            "3000": "e to the 8th, roughly",
        },
        "head-text": {"2.7": "the number e, roughly"},
        "orders-text": {
            "120": "orders of five words, in a product",
            "360": "orders of six words with a pair, in a product",
        },
        "hard-text": {"1000": "a gain that the cell sets"},
        "eight-places-text": {
            "0.0005": "what the exercise demands",
            "9.8": "a step of the hint",
            "0.0004": "what follows from it",
        },
        "first-heading": {"3000": "e to the 8th, roughly"},
        "missing-after": {"1.25": "a step of a sum, done in words"},
        "admitted-after": {"2.4": "a step of a sum, done in words"},
    },
    not_drawn={("layer-two", "2")},
    not_run_for_shapes={
        "smallest": COMPUTES_LONG,
        "orders": COMPUTES_LONG,
        "gains-plot": COMPUTES_LONG,
        "table": "computes for long, on what `orders` has made",
    },
)

NAMES = run_cells(3, *RECORD.before_solutions)
by_slot = NAMES["by_slot"]
attend = NAMES["attend"]
D = len(SLOTS)


def pos(entries):
    """Entries for position slots, by place."""
    return {f"pos{place}": entry for place, entry in entries.items()}


# ------------------------------------------------------------------ previous-word-head
def previous(Wq=None, Wk=None, Wv=None, Wo=None):
    """The lesson's previous-word head with parts replaced."""
    back = {place: (place - 1, 24.0) for place in range(1, 6)}
    return (
        by_slot(6, **pos(back)) if Wq is None else Wq,
        by_slot(6, **pos({p: (p, 1.0) for p in range(6)})) if Wk is None else Wk,
        by_slot(1, disobey=(0, 1.0)) if Wv is None else Wv,
        by_slot(1, previous_word_is_disobey=(0, 1.0)).T if Wo is None else Wo,
    )


def turned():
    """Queries and keys in a rotated basis: no entry of the two is left as it was."""
    spin, _ = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(0)))
    Wq, Wk, Wv, Wo = previous()
    return Wq @ spin, Wk @ spin, 4 * Wv, Wo / 4


def angles():
    """Places on a circle: two dimensions and a large gain are enough."""
    Wq, Wk = torch.zeros(D, 2), torch.zeros(D, 2)
    for place in range(6):
        angle = torch.tensor(place * 2 * torch.pi / 6)
        Wk[SLOTS.index(f"pos{place}")] = torch.stack([angle.cos(), angle.sin()])
        if place:
            back = angle - 2 * torch.pi / 6
            Wq[SLOTS.index(f"pos{place}")] = 40 * torch.stack([back.cos(), back.sin()])
    return previous(Wq, Wk)


def first_looks_at_itself():
    Wq, *rest = previous()
    Wq = torch.cat([Wq, torch.zeros(D, 1)], dim=1)
    Wq[SLOTS.index("pos0"), 6] = 24.0
    Wk = torch.cat([rest[0], by_slot(1, pos0=(0, 1.0))], dim=1)
    return previous(Wq, Wk)


RIGHT_PREVIOUS = {
    "the lesson's": previous(),
    "scale in Wk": (previous()[0] / 24, 24 * previous()[1], *previous()[2:]),
    "both signs turned": (-previous()[0], -previous()[1], *previous()[2:]),
    "a gain of eight": (previous()[0] / 3, *previous()[1:]),
    "a huge gain": (previous()[0] * 1e4, *previous()[1:]),
    "a rotated basis": turned(),
    "two dimensions": angles(),
    "first word looks at itself": first_looks_at_itself(),
    "tiny queries, huge keys": (previous()[0] / 1e30, previous()[1] * 1e30, *previous()[2:]),
    "huge keys alone": previous(Wk=previous()[1] * 1e30),
    "double": tuple(part.double() for part in previous()),
    "parameters": tuple(torch.nn.Parameter(part.contiguous()) for part in previous()),
    "whole numbers": tuple(part.int() for part in previous()),
    "lists": [part.tolist() for part in previous()],
    "an idle dimension": (
        *(torch.cat([part, torch.zeros(D, 1)], dim=1) for part in previous()[:2]),
        *previous()[2:],
    ),
}


@pytest.mark.parametrize("form", RIGHT_PREVIOUS)
def test_previous_word_heads_in_every_form_are_right(form):
    verdict = judge("previous-word-head", RIGHT_PREVIOUS[form])
    assert verdict.state == "right", verdict.message


EARLIER = by_slot(6)
for _place in range(1, 6):
    EARLIER[SLOTS.index(f"pos{_place}"), :_place] = 24.0
AHEAD = by_slot(6, **pos({p: (p + 1, 24.0) for p in range(5)}))
ITSELF = by_slot(6, **pos({p: (p, 24.0) for p in range(6)}))
SHORT = by_slot(6, **pos({p: (p - 1, 24.0) for p in range(1, 5)}))
WRAPS = by_slot(6, **pos({p: ((p - 1) % 6, 24.0) for p in range(6)}))
ONWARD = by_slot(6, **pos({0: (1, 24.0), **{p: (p - 1, 24.0) for p in range(1, 6)}}))
TWO_BACK = by_slot(6, **pos({p: (p - 2, 24.0) for p in range(2, 6)}))
LAST = previous()[0] + by_slot(6, pos0=(5, 24.0))
TURNED = by_slot(1, disobey=(0, 1.0), pos5=(0, -10.0))
NOTE = previous()[3]
WRONG_PREVIOUS = {
    "not a tuple": (torch.zeros(D, 6), "which sizes must be equal"),
    "three parts": (previous()[:3], "which sizes must be equal"),
    "one part missing": ((*previous()[:3], None), "which sizes must be equal"),
    "text": (("Wq", "Wk", "Wv", "Wo"), "which sizes must be equal"),
    "turned matrices": (tuple(part.T for part in previous()), "which sizes must be equal"),
    "unequal widths": (previous(Wk=torch.zeros(D, 5)), "which sizes must be equal"),
    "Wo of another width": (previous(Wo=torch.zeros(2, D)), "which sizes must be equal"),
    "not a number": (previous(Wv=torch.full((D, 1), torch.nan)), "a division, a log"),
    "overflow": (previous(Wq=previous()[0] * 1e30, Wk=previous()[1] * 1e30), "How large do"),
    "a trace in an input slot": (
        previous(Wo=NOTE + by_slot(1, object=(0, 0.005)).T),
        "which slots",
    ),
    "less of a position": (previous(Wo=NOTE + by_slot(1, pos0=(0, -0.05)).T), "which slots did"),
    "its words and itself": (previous(Wq=EARLIER + ITSELF), "when four words lie before it"),
    "two back as well": (previous(Wq=previous()[0] + TWO_BACK), "which slot answers it"),
    "first looks at the last, turned": (previous(Wq=LAST, Wv=TURNED), "no predecessor"),
    "no positions": (previous(Wq=by_slot(6, action_fly=(0, 24.0))), "Without position slots"),
    "next word, softly": (previous(Wq=AHEAD / 5), "in row 2 of the attention, which column"),
    "itself, softly": (previous(Wq=ITSELF / 5), "on the diagonal or one below"),
    "next word": (previous(Wq=AHEAD), "in row 2 of the attention, which column"),
    "itself": (previous(Wq=ITSELF), "on the diagonal or one below"),
    "all earlier words": (previous(Wq=EARLIER), "when four words lie before it"),
    "the last place forgotten": (previous(Wq=SHORT), "which slot answers it"),
    "too soft": (previous(Wq=previous()[0] / 8), "how large must the gain be"),
    "no gain at all": (previous(Wq=previous()[0] / 24), "how large must the gain be"),
    "one column for all": (
        previous(
            Wq=by_slot(1, **pos(dict.fromkeys(range(1, 6), (0, 24.0)))),
            Wk=by_slot(1, **pos(dict.fromkeys(range(6), (0, 1.0)))),
        ),
        "which slot answers it",
    ),
    "one place only": (previous(Wq=by_slot(6, pos1=(0, 24.0))), "which slot answers it"),
    "queries and keys exchanged": (
        (previous()[1], previous()[0], *previous()[2:]),
        "in row 2 of the attention, which column",
    ),
    "Wo not turned": (previous(Wo=previous()[3].T), "which sizes must be equal"),
    "the note carried": (
        previous(Wv=by_slot(1, previous_word_is_disobey=(0, 1.0))),
        "Which bit of the word",
    ),
    "over an input slot": (
        previous(Wo=by_slot(1, disobey=(0, 1.0)).T),
        "which slots did this head change",
    ),
    "into both": (
        previous(Wo=by_slot(1, disobey=(0, 1.0), previous_word_is_disobey=(0, 1.0)).T),
        "which slots did this head change",
    ),
    "carries another bit": (previous(Wv=by_slot(1, action_fly=(0, 1.0))), "Which bit of the word"),
    "carries nothing": (previous(Wv=by_slot(1)), "Which bit of the word"),
    "carries it twice": (previous(Wv=by_slot(1, disobey=(0, 2.0))), "how large must it arrive"),
    "an eighth too large": (previous(Wv=by_slot(1, disobey=(0, 1.125))), "how large must it"),
    "wrong sign": (previous(Wv=by_slot(1, disobey=(0, -1.0))), "how large must it arrive"),
    "a fifth too large": (previous(Wv=by_slot(1, disobey=(0, 1.2))), "how large must it arrive"),
    "first looks onward": (previous(Wq=ONWARD), "The first word has no predecessor"),
    "looks at itself or by kind of word": (
        previous(Wq=previous()[1] + by_slot(6, action_speak=(0, 99.0))),
        "with which slot does the word ask",
    ),
    "looks by kind of word": (
        previous(Wq=previous()[0] + by_slot(6, action_speak=(0, 99.0))),
        "with which slot does the word ask",
    ),
}


@pytest.mark.parametrize("kind", WRONG_PREVIOUS)
def test_wrong_previous_word_heads_get_a_fitting_question(kind):
    assert_wrong("previous-word-head", *WRONG_PREVIOUS[kind])


# ------------------------------------------------------------------ flight-head
def flight(Wq=None, Wk=None, Wv=None, Wo=None):
    """The lesson's flight head with parts replaced."""
    both = {"is_swap_attr_fly": (0, 1.0), "is_attr_fly_disobeyed": (1, 1.0)}
    return (
        by_slot(1, question=(0, 8.0)) if Wq is None else Wq,
        by_slot(1, action_fly=(0, 1.0)) if Wk is None else Wk,
        by_slot(2, swap_fly=(0, 1.0), previous_word_is_disobey=(1, 1.0)) if Wv is None else Wv,
        by_slot(2, **both).T if Wo is None else Wo,
    )


RIGHT_FLIGHT = {
    "the lesson's": flight(),
    "scale in Wk": (flight()[0] / 8, 8 * flight()[1], *flight()[2:]),
    "signs turned": (-flight()[0], -flight()[1], *flight()[2:]),
    "a gain of 100": (flight()[0] * 12.5, *flight()[1:]),
    "four wide": (by_slot(4, question=(2, 16.0)), by_slot(4, action_fly=(2, 1.0)), *flight()[2:]),
    "values exchanged in both": (*flight()[:2], flight()[2].flip(1), flight()[3].flip(0)),
    "values scaled there and back": (*flight()[:2], flight()[2] * 3, flight()[3] / 3),
    "a value dimension that is never written": (
        *flight()[:2],
        by_slot(3, swap_fly=(0, 1.0), previous_word_is_disobey=(1, 1.0), object=(2, 5.0)),
        by_slot(3, is_swap_attr_fly=(0, 1.0), is_attr_fly_disobeyed=(1, 1.0)).T,
    ),
    "speech pushed away": (
        by_slot(1, question=(0, 8.0)),
        by_slot(1, action_fly=(0, 1.0), action_speak=(0, -1.0)),
        *flight()[2:],
    ),
}


@pytest.mark.parametrize("form", RIGHT_FLIGHT)
def test_flight_heads_in_every_form_are_right(form):
    verdict = judge("flight-head", RIGHT_FLIGHT[form])
    assert verdict.state == "right", verdict.message


SPEECH_SLOTS = {"is_swap_attr_speak": (0, 1.0), "is_attr_speak_disobeyed": (1, 1.0)}
WRONG_FLIGHT = {
    "a class": (torch.nn.Linear, "which sizes must be equal"),
    "nobody asks": (flight(Wq=by_slot(1, object=(0, 8.0))), "Which slot is 1 at he-is?"),
    "nothing is looked for": (flight(Wk=by_slot(1)), "Which slot is 1 at he-is?"),
    "one head for both": (
        flight(Wk=by_slot(1, action_fly=(0, 1.0), action_speak=(0, 1.0))),
        "can you tell afterwards whose it was",
    ),
    "a little of the speech word": (
        flight(Wk=by_slot(1, action_fly=(0, 1.0), action_speak=(0, 0.9))),
        "can you tell afterwards whose it was",
    ),
    "the speech word": (flight(Wk=by_slot(1, action_speak=(0, 1.0))), "Which kind of word acts"),
    "swaps only": (flight(Wk=by_slot(1, swap_fly=(0, 1.0))), "Which slot is 1 at he-is?"),
    "itself": (flight(Wk=by_slot(1, question=(0, 1.0))), "Which kind of word acts on flight"),
    "too soft": (flight(Wq=by_slot(1, question=(0, 2.0))), "how large must the gain be"),
    "speech's slots": (flight(Wo=by_slot(2, **SPEECH_SLOTS).T), "which slots did this head change"),
    "over an input slot": (
        flight(Wo=by_slot(2, swap_fly=(0, 1.0), is_attr_fly_disobeyed=(1, 1.0)).T),
        "which slots did this head change",
    ),
    "rows of Wo exchanged": (flight(Wo=flight()[3].flip(0)), "which bit lands where"),
    "one column for both bits": (
        flight(
            Wv=by_slot(1, swap_fly=(0, 1.0), previous_word_is_disobey=(0, 1.0)),
            Wo=by_slot(1, is_swap_attr_fly=(0, 1.0), is_attr_fly_disobeyed=(0, 1.0)).T,
        ),
        "which bit lands where",
    ),
    "the swap bit with its sign turned": (
        flight(Wv=by_slot(2, swap_fly=(0, -1.0), previous_word_is_disobey=(1, 1.0))),
        "how much must arrive",
    ),
    "fly in place of swap_fly": (
        flight(Wv=by_slot(2, fly=(0, 1.0), previous_word_is_disobey=(1, 1.0))),
        "Which slots of the action word",
    ),
    "no gain": (flight(Wq=by_slot(1, question=(0, 1.0))), "how large must the gain be"),
    "queries and keys exchanged": (
        (flight()[1], flight()[0], *flight()[2:]),
        "Which of the two matrices",
    ),
    "disobey instead of the note": (
        flight(Wv=by_slot(2, swap_fly=(0, 1.0), disobey=(1, 1.0))),
        "`disobey` is a bit of the word",
    ),
    "swap of speech": (
        flight(Wv=by_slot(2, swap_speak=(0, 1.0), previous_word_is_disobey=(1, 1.0))),
        "Which slots of the action word",
    ),
    "halved": (flight(Wv=flight()[2] / 2), "how much must arrive"),
    "doubled": (flight(Wv=flight()[2] * 2), "how much must arrive"),
    "nothing written": (flight(Wo=by_slot(2).T), "how much must arrive"),
    "disobeys as well": (
        flight(Wk=by_slot(1, action_fly=(0, 1.0), disobey=(0, 1.0))),
        "Which kind of word acts on flight",
    ),
    "the object as well": (
        flight(Wk=by_slot(1, action_fly=(0, 1.0), object=(0, 1.0))),
        "Which kind of word acts on flight",
    ),
    "no note": (flight(Wv=by_slot(2, swap_fly=(0, 1.0))), "Which slots of the action word"),
    "both into one slot": (
        flight(Wo=by_slot(2, is_swap_attr_fly=(0, 1.0)).T + flight()[3].flip(0)),
        "which bit lands where",
    ),
}


@pytest.mark.parametrize("kind", WRONG_FLIGHT)
def test_wrong_flight_heads_get_a_fitting_question(kind):
    assert_wrong("flight-head", *WRONG_FLIGHT[kind])


# ------------------------------------------------------------------ parity
FLY = by_slot(
    1, object_attribute_fly=(0, 1.0), is_swap_attr_fly=(0, 1.0), is_attr_fly_disobeyed=(0, 1.0)
)
SPEAK = by_slot(
    1,
    object_attribute_speak=(0, 1.0),
    is_swap_attr_speak=(0, 1.0),
    is_attr_speak_disobeyed=(0, 1.0),
)


def network(kinks, slopes, fly=FLY, speak=SPEAK):
    """Kinks at the given sums, and how much the slope changes at each, for both abilities."""
    kinks, slopes = torch.tensor(kinks), torch.tensor(slopes)
    n = len(kinks)
    W1 = torch.cat([fly.expand(-1, n), speak.expand(-1, n)], dim=1)
    return W1, -kinks.repeat(2), torch.block_diag(slopes[:, None], slopes[:, None])


def three_kinks(fly=FLY, speak=SPEAK):
    return network([0.0, 1.0, 2.0], [1.0, -2.0, 2.0], fly, speak)


FOUR = network([0.0, 1.0, 2.0, 3.0], [1.0, -2.0, 2.0, -2.0])
THREE = three_kinks()


def shuffled():
    W1, b1, W2 = FOUR
    order = torch.tensor([5, 0, 3, 7, 1, 6, 2, 4])
    return W1[:, order], b1[order], W2[order]


def question_as_bias():
    W1, b1, W2 = THREE
    return W1 + by_slot(1, question=(0, 1.0)) @ b1[None], 0 * b1, W2


RIGHT_PARITY = {
    "the lesson's": FOUR,
    "three kinks": THREE,
    "kinks elsewhere": network([0.1, 0.9, 1.1, 1.9, 2.1], [1.25, -1.25, -1.25, 1.25, 1.25]),
    "units in another order": shuffled(),
    "scaled units": (2 * THREE[0], 2 * THREE[1], THREE[2] / 2),
    "an idle unit": (
        torch.cat([THREE[0], torch.zeros(D, 1)], 1),
        torch.cat([THREE[1], torch.ones(1)]),
        torch.cat([THREE[2], torch.zeros(1, 2)]),
    ),
    "b1 as a row": (THREE[0], THREE[1][None], THREE[2]),
    "double": tuple(part.double() for part in THREE),
    "a bias taken from the question": question_as_bias(),
}


@pytest.mark.parametrize("form", RIGHT_PARITY)
def test_parity_networks_in_every_form_are_right(form):
    verdict = judge("parity", RIGHT_PARITY[form])
    assert verdict.state == "right", verdict.message


TAKEN_OFF = {
    **{
        slot: (FLY - by_slot(1, **{slot: (0, 1.0)}), SPEAK)
        for slot in ("object_attribute_speak", "is_swap_attr_speak")
    },
    **{
        slot: (FLY, SPEAK - by_slot(1, **{slot: (0, 1.0)}))
        for slot in ("object_attribute_fly", "is_swap_attr_fly", "is_attr_fly_disobeyed")
    },
}
WRONG_PARITY = {
    "two parts": (THREE[:2], "what sizes must"),
    "W1 turned": ((THREE[0].T, *THREE[1:]), "what sizes must"),
    "flight alone": ((*(part[..., :3] for part in THREE[:2]), THREE[2][:3]), "three slots"),
    "units for both": (
        (THREE[0][:, :3] + THREE[0][:, 3:], THREE[1][:3], THREE[2][:3, :1].expand(-1, 2)),
        "three slots of its own",
    ),
    "the sum itself": (network([0.0], [1.0]), "at 0, 1, 2 and 3 ones, and"),
    "slopes of one": (network([0.0, 1.0, 2.0], [1.0, -1.0, 1.0]), "at 0, 1, 2 and 3 ones, and"),
    "kinks one too late": (
        network([1.0, 2.0, 3.0], [1.0, -2.0, 2.0]),
        "at 0, 1, 2 and 3 ones, and",
    ),
    "Python's own parity": (lambda bits: sum(bits) % 2, "what sizes must"),
    "b1 too short": ((THREE[0], THREE[1][:3], THREE[2]), "what sizes must"),
    "one output": ((*THREE[:2], THREE[2][:, :1]), "what sizes must"),
    "infinite": ((THREE[0], THREE[1] - torch.inf, THREE[2]), "an inf"),
    "XOR": (network([0.0, 1.0], [1.0, -2.0]), "at 0, 1, 2 and 3 ones, and"),
    "OR": (network([0.0, 1.0], [1.0, -1.0]), "at 0, 1, 2 and 3 ones, and"),
    "bias of the wrong sign": ((FOUR[0], -FOUR[1], FOUR[2]), "at 0, 1, 2 and 3 ones, and"),
    "no bias": ((FOUR[0], 0 * FOUR[1], FOUR[2]), "at 0, 1, 2 and 3 ones, and"),
    "one bias of the wrong sign": (
        (THREE[0], THREE[1] * torch.tensor([1.0, -1.0, 1.0, 1.0, 1.0, 1.0]), THREE[2]),
        "at 0, 1, 2 and 3 ones, and",
    ),
    "one slope of the wrong sign": (
        network([0.1, 0.9, 1.1, 1.9, 2.1], [1.25, 1.25, -1.25, 1.25, 1.25]),
        "at 0, 1, 2 and 3 ones, and",
    ),
    "reads the note, one kink too late": (
        network(
            [0.0, 1.5, 2.0],
            [1.0, -2.0, 2.0],
            fly=FLY + by_slot(1, previous_word_is_disobey=(0, 1.0)),
        ),
        "at 0, 1, 2 and 3 ones, and",
    ),
    **{
        f"{slot} taken off": (three_kinks(*sums), "slots of its own")
        for slot, sums in TAKEN_OFF.items()
    },
    "outputs exchanged": ((*THREE[:2], THREE[2].flip(1)), "Which column of W2 is flight's"),
    "b1 as a column": ((THREE[0], THREE[1][:, None], THREE[2]), "what sizes must"),
    "overflow": ((THREE[0] * 1e38, THREE[1], THREE[2] * 1e38), "How large do numbers get"),
    "slots in a row": (
        three_kinks(fly=FLY + by_slot(1, object_attribute_speak=(0, 1.0))),
        "three slots of its own",
    ),
    "one slot missing": (
        three_kinks(fly=by_slot(1, is_swap_attr_fly=(0, 1.0))),
        "which slots does each output's sum read",
    ),
    "reads the note": (
        three_kinks(fly=FLY + by_slot(1, previous_word_is_disobey=(0, 1.0))),
        "three slots of its own",
    ),
    "reads place 3": (three_kinks(fly=FLY + by_slot(1, pos3=(0, 1.0))), "three slots of its own"),
    "turned over": ((THREE[0], THREE[1], -THREE[2]), "at 0, 1, 2 and 3 ones, and"),
    "a ramp above zero": (
        network([0.0, 0.05, 1.4, 1.6, 2.4, 2.6], [20.0, -20.0, -5.0, 5.0, 5.0, -5.0]),
        "a bit arrives as 0.98 or 0.02",
    ),
    "reads speech's swap": (
        three_kinks(fly=FLY + by_slot(1, is_swap_attr_speak=(0, 1.0))),
        "three slots of its own",
    ),
    "reads flight's swap": (
        three_kinks(speak=SPEAK + by_slot(1, is_swap_attr_fly=(0, 1.0))),
        "three slots of its own",
    ),
    "W1 too short": ((THREE[0][:5], *THREE[1:]), "what sizes must"),
    "reads the place": (three_kinks(fly=FLY + by_slot(1, pos5=(0, 1.0))), "three slots of its own"),
    "steps too steep for a leak": (
        network([0.99, 1.0, 1.99, 2.0, 2.99, 3.0], [100.0, -100.0, -100.0, 100.0, 100.0, -100.0]),
        "a bit arrives as 0.98 or 0.02",
    ),
}


@pytest.mark.parametrize("kind", WRONG_PARITY)
def test_wrong_parity_networks_get_a_fitting_question(kind):
    assert_wrong("parity", *WRONG_PARITY[kind])


# ------------------------------------------------------------------ layer
def with_einsum(X, heads):
    found = 0
    for Wq, Wk, Wv, Wo in heads:
        q, k, v = X @ Wq, X @ Wk, X @ Wv
        s = torch.einsum("qd,kd->qk", q, k) / Wq.shape[1] ** 0.5
        found = found + torch.einsum("qk,kd->qd", s.softmax(-1), v) @ Wo
    return X + found


def with_sdpa(X, heads):
    sdpa = torch.nn.functional.scaled_dot_product_attention
    for_each = [sdpa(X @ q, X @ k, X @ v) @ o for q, k, v, o in heads]
    return X + torch.stack(for_each).sum(dim=0)


def with_a_copy(X, heads):
    out = X.clone()
    for head in heads:
        out += attend(X, head)[1]
    return out


def one_way(scale=True, axis=-1, turn=False, hide_zeros=False):
    def layer(X, heads):
        out = X.clone()
        for Wq, Wk, Wv, Wo in heads:
            scores = X @ Wq @ (X @ Wk).T / (Wq.shape[1] ** 0.5 if scale else 1)
            if hide_zeros:
                scores = scores.masked_fill(scores == 0, -torch.inf)
            out += torch.softmax(scores.T if turn else scores, dim=axis) @ X @ Wv @ Wo
        return out

    return layer


def chained(X, heads):
    for head in heads:
        X = X + attend(X, head)[1]
    return X


def in_place(X, heads):
    X += sum(attend(X, head)[1] for head in heads)
    return X


def used_up(X, heads):
    heads, out = heads if isinstance(heads, list) else list(heads), X.clone()
    while heads:
        out = out + attend(X, heads.pop())[1]
    return out


def in_double(X, heads):
    return with_a_copy(X.double(), [tuple(part.double() for part in head) for head in heads])


def by_words(X, heads):
    """Each word asks each other word by itself."""
    out = X.clone()
    for Wq, Wk, Wv, Wo in heads:
        for i, asks in enumerate(X @ Wq):
            scores = torch.stack([asks @ key for key in X @ Wk]) / Wq.shape[1] ** 0.5
            out[i] += scores.softmax(0) @ X @ Wv @ Wo
    return out


def side_by_side(X, heads):
    found = torch.cat([attend(X, head)[0] @ X @ head[2] for head in heads], dim=1)
    return X + found @ torch.cat([head[3] for head in heads])


RIGHT_LAYER = [by_words, side_by_side, in_double, with_einsum, with_sdpa, with_a_copy, one_way()]
WRONG_LAYER = {
    "stream replaced": (
        lambda X, heads: sum(attend(X, head)[1] for head in heads),
        "where does layer 2 find out which word is an action word",
    ),
    "attention returned": (lambda X, heads: attend(X, heads[0])[0], "what does yours return"),
    "attention added": (lambda X, heads: X + attend(X, heads[0])[0], None),
    "scores of zero hidden": (one_way(hide_zeros=True), "with attend's. Which differs"),
    "five words only": (
        lambda X, heads: one_way()(X, heads) if len(X) == 5 else X,
        "with attend's. Which differs",
    ),
    "nothing added": (lambda X, heads: X, "What does a head find"),
    "the mean of the heads": (
        lambda X, heads: X + sum(attend(X, head)[1] for head in heads) / len(heads),
        "when another head comes in",
    ),
    "two heads always": (
        lambda X, heads: X + attend(X, heads[0])[1] + attend(X, heads[1])[1],
        "Read the error",
    ),
    "side by side": (
        lambda X, heads: torch.cat([X, *[attend(X, head)[1] for head in heads]], -1),
        "what does yours return",
    ),
    "returned in the loop": (
        lambda X, heads: next(X + attend(X, head)[1] for head in heads),
        "have a part in what you return",
    ),
    "both of attend's results": (
        lambda X, heads: X + sum(attend(X, head) for head in heads),
        "Read the error",
    ),
    "heads of one's own": (
        lambda X, heads: X + attend(X, flight())[1] + attend(X, previous())[1],
        "what else does",
    ),
    "taken off": (
        lambda X, heads: X - sum(attend(X, head)[1] for head in heads),
        "on its way into the stream",
    ),
    "three heads at most": (lambda X, heads: with_a_copy(X, heads[:3]), "have a part in"),
    "columns": (one_way(axis=0), "one row of yours add up to"),
    "no scale": (one_way(scale=False), "Scores grow with the width"),
    "keys ask": (one_way(turn=True), "who asks: row or column"),
    "first head only": (lambda X, heads: X + attend(X, heads[0])[1], "have a part in"),
    "last head only": (lambda X, heads: X + attend(X, heads[-1])[1], "have a part in"),
    "chained": (chained, "All heads read the same X"),
    "in place": (in_place, "which line writes into it"),
    "stream added for each head": (
        lambda X, heads: sum(X + attend(X, head)[1] for head in heads),
        "How often does X itself stand in your sum",
    ),
    "stream doubled": (
        lambda X, heads: 2 * X + attend(X, heads[0])[1],
        "How often does X itself stand in your sum",
    ),
    "heads used up": (used_up, "which line writes into it"),
    "not a number": (
        lambda X, heads: X + attend(X, heads[0])[1] * (torch.nan if heads[0][3].any() else 1),
        "a division, a log",
    ),
    "a pair": (lambda X, heads: (X, heads), "what does yours return"),
    "doubled": (lambda X, heads: X + 2 * attend(X, heads[0])[1], "on its way into the stream"),
    "doubled, in double": (
        lambda X, heads: X.double() + 2 * attend(X, heads[0])[1],
        "on its way into the stream",
    ),
    "not a function": (7, "The exercise wants a function"),
}


@pytest.mark.parametrize("layer", RIGHT_LAYER)
def test_layers_in_every_form_are_right(layer):
    verdict = judge("layer", layer)
    assert verdict.state == "right", verdict.message


@pytest.mark.parametrize("kind", WRONG_LAYER)
def test_wrong_layers_get_a_fitting_question(kind):
    answer, question = WRONG_LAYER[kind]
    assert_wrong("layer", answer, question or "?")


# ------------------------------------------------------------------ the small ones
BITS = {"flight": (1, 0, 0), "speech": (1, 1, 1), "answer": "Flying superhero"}
PATCH = {"word": 1, "slot": "previous_word_is_disobey", "value": 1.0}
ROCKS = (
    "Rock disobeys swap-flight keep-speech he-is?",
    "Rock swap-flight disobeys keep-speech he-is?",
)
CROWS = (
    "Crow keep-flight disobeys swap-speech he-is?",
    "Crow disobeys keep-flight swap-speech he-is?",
)
SMALL_WRONG = [
    ("same-words", ROCKS[0], "Two sentences in quotes"),
    ("same-words", (ROCKS[0], 7), "Two sentences in quotes"),
    ("same-words", (ROCKS[0], "Rock he-is"), "Which rule of the language"),
    ("same-words", ("he-is? Rock", "Rock he-is?"), "Which rule of the language"),
    ("same-words", (ROCKS[0], CROWS[0]), "Which word does one of them have"),
    ("same-words", (ROCKS[0], ROCKS[0]), "what else of a sentence can you change"),
    ("same-words", CROWS, "That pair is in the lesson"),
    ("same-words", CROWS[::-1], "That pair is in the lesson"),
    ("same-words", (*ROCKS, ROCKS[0]), "Two sentences in quotes"),
    ("same-words", set(ROCKS), "Two sentences in quotes"),
    ("same-words", [text.split() for text in ROCKS], "Two sentences in quotes"),
    (
        "same-words",
        ("Rock swap-flight keep-speech he-is?", "Rock keep-speech swap-flight he-is?"),
        "Which word's own place",
    ),
    (
        "same-words",
        ("Rock disobeys swap-flight he-is?", "disobeys swap-flight Rock he-is?"),
        "Which action does `disobeys` touch",
    ),
    ("same-words", (ROCKS[0], ROCKS[1].replace("swap", "keep")), "Which word does one of them"),
    ("same-words", (ROCKS[0], ROCKS[1].replace("Rock", "Plane")), "Which rule of the language"),
    ("same-words", (ROCKS[0], ROCKS[1].replace("he-is?", "he-is")), "Which rule of the language"),
    ("same-words", (ROCKS[0], ROCKS[1].replace("-", " ")), "Which rule of the language"),
    ("same-words", (ROCKS[0], ROCKS[1].replace("Rock", "Rock Crow")), "Which rule of the"),
    ("six-bits", (1, 0, 0), "Three bits for each ability"),
    ("patch", ("keep-flight", 15, 1.0), "which is missing, or unknown"),
    ("six-bits", {**BITS, "speech": (1, 1)}, "Three bits for each ability"),
    ("six-bits", {**BITS, "answer": None}, "Three bits for each ability"),
    ("six-bits", {**BITS, "flight": (0, 0, 0)}, "What can the object do"),
    ("six-bits", {**BITS, "flight": (1, 1, 0)}, "a swap or a keep"),
    ("six-bits", {**BITS, "flight": (1, 0, 1)}, "Which word stands right before"),
    ("six-bits", {**BITS, "speech": (1, 1, 0)}, "Which word stands right before"),
    ("six-bits", {**BITS, "answer": "Crow"}, "odd or even"),
    ("six-bits", {**BITS, "answer": "Plane"}, "odd or even"),
    ("six-bits", {**BITS, "answer": "superhero"}, "odd or even"),
    ("six-bits", {**BITS, "answer": (1, 1)}, "odd or even"),
    ("six-bits", {**BITS, "speech": (1, 0, 1)}, "a swap or a keep"),
    ("six-bits", {**BITS, "speech": (0, 1, 1)}, "What can the object do"),
    ("six-bits", {**BITS, "flight": (1, 0, 0, 1)}, "Three bits for each ability"),
    ("six-bits", {**BITS, "flight": "100"}, "Three bits for each ability"),
    ("six-bits", {**BITS, "flight": ("1", "0", "0")}, "each 0 or 1"),
    ("six-bits", {**BITS, "flight": (0.986, 0.0, 0.0)}, "each 0 or 1"),
    ("six-bits", {**BITS, "speech": (1, 1, 2)}, "each 0 or 1"),
    ("six-bits", {**BITS, "flight": 1}, "Three bits for each ability"),
    ("six-bits", {**BITS, "flight": None}, "Three bits for each ability"),
    ("patch", {**PATCH, "slot": None}, "which is missing, or unknown"),
    ("patch", {**PATCH, "slot": "previous_word_disobey"}, "which is missing, or unknown"),
    ("patch", {**PATCH, "word": 5}, "which is missing, or unknown"),
    ("patch", {**PATCH, "word": "Rock"}, "which is missing, or unknown"),
    ("patch", {**PATCH, "word": True}, "which is missing, or unknown"),
    ("patch", {**PATCH, "slot": 22}, "which is missing, or unknown"),
    ("patch", {**PATCH, "value": "one"}, "which is missing, or unknown"),
    ("patch", {**PATCH, "value": float("nan")}, "which is missing, or unknown"),
    ("patch", {**PATCH, "word": 3}, "Whom does layer 2 ask"),
    ("patch", {**PATCH, "value": 0.5}, "what does rounding make"),
    ("patch", {"word": 0, "slot": "fly", "value": 0}, "Whom does layer 2 ask"),
    ("patch", {"word": 3, "slot": "swap_speak", "value": 0}, "Whom does layer 2 ask"),
    ("patch", {"word": 1, "slot": "action_fly", "value": 0}, "Whom does layer 2 ask"),
    ("patch", {"word": 1, "slot": PATCH["slot"]}, "which is missing, or unknown"),
    ("patch", {**PATCH, "word": "keep flight"}, "which is missing, or unknown"),
    ("patch", {**PATCH, "value": [1.0]}, "which is missing, or unknown"),
    ("patch", {**PATCH, "value": torch.inf}, "which is missing, or unknown"),
    ("patch", {**PATCH, "value": 0.0}, "before you write yours"),
    ("patch", {**PATCH, "slot": "disobey"}, "Whom does layer 2 ask"),
]


@pytest.mark.parametrize(("exercise", "answer", "question"), SMALL_WRONG)
def test_wrong_small_answers_get_a_fitting_question(exercise, answer, question):
    assert_wrong(exercise, answer, question)


SMALL_RIGHT = [
    ("same-words", ROCKS),
    ("same-words", list(ROCKS[::-1])),
    ("same-words", tuple(text.replace("Rock", "Human") for text in ROCKS)),
    ("same-words", tuple(f"  {text}\n" for text in ROCKS)),
    ("six-bits", {**BITS, "flight": (True, False, False)}),
    ("six-bits", {**BITS, "speech": torch.ones(3).numpy()}),
    ("six-bits", {**BITS, "flight": [1, 0, 0]}),
    ("patch", PATCH),
    ("patch", {"word": 4, "slot": "object_attribute_fly", "value": 0}),
    ("patch", {"word": 1, "slot": "swap_fly", "value": 1}),
    ("patch", {"word": "keep-flight", "slot": 15, "value": torch.tensor(1.0)}),
    ("six-bits", {**BITS, "flight": torch.tensor([1, 0, 0]), "answer": "Flying Superhero"}),
]


@pytest.mark.parametrize(("exercise", "answer"), SMALL_RIGHT)
def test_right_small_answers_in_other_forms_are_right(exercise, answer):
    verdict = judge(exercise, answer)
    assert verdict.state == "right", verdict.message


# ------------------------------------------------------------------ eight-places
def eight(gain):
    names = layout(8)
    Wq, Wk = torch.zeros(24, 8), torch.zeros(24, 8)
    Wv, Wo = torch.zeros(24, 1), torch.zeros(1, 24)
    for place in range(8):
        Wk[names.index(f"pos{place}"), place] = 1.0
        if place:
            Wq[names.index(f"pos{place}"), place - 1] = gain
    Wv[names.index("disobey")] = Wo[0, names.index("previous_word_is_disobey")] = 1.0
    return Wq, Wk, Wv, Wo


def last_place_forgotten():
    Wq, *rest = eight(28.0)
    Wq[layout(8).index("pos7")] = 0.0
    return (Wq, *rest)


def eight_rolled(part, by):
    """A head with the slots of one matrix shifted."""
    head = list(eight(28.0))
    head[part] = head[part].roll(by, dims=0 if part < 3 else 1)
    return tuple(head)


WRONG_EIGHT = {
    "the gain of six places": (eight(24.0), "how large must the gain be"),
    "a gain of one": (eight((8 / 6) ** 0.5), "almost nothing is left"),
    "a leak of 0.00054": (eight(26.8), "how large must the gain"),
    "six places": (previous(), "which sizes must be equal"),
    "next word": (
        (eight(28.0)[1], eight(28.0)[0], *eight(28.0)[2:]),
        "in row 2 of the attention, which column",
    ),
    "itself": ((28 * eight(28.0)[1], *eight(28.0)[1:]), "on the diagonal or one below it"),
    "six columns": (
        (*(part[:, :6] for part in eight(28.0)[:2]), *eight(28.0)[2:]),
        "which slot answers it",
    ),
    "the gain times 8 / 6, not its root": (eight(24.0 * 6 / 8), "how large must the gain be"),
    "β for a gain": (eight(9.8), "how large must the gain be"),
    "two back": (eight_rolled(0, 1), "which slot answers it"),
    "the slot of the layout with six places": (eight_rolled(3, -2), "which slots did this head"),
    "the bit two slots on": (eight_rolled(2, 2), "Which bit of the word before is carried"),
    "nothing asks": ((torch.zeros(24, 8), *eight(28.0)[1:]), "Without position slots"),
    "turned matrices": (tuple(part.T for part in eight(28.0)), "which sizes must be equal"),
    "Wo for six places": ((*eight(28.0)[:3], torch.zeros(1, 22)), "which sizes must be equal"),
    "one part missing": ((*eight(28.0)[:3], None), "which sizes must be equal"),
    "the last place forgotten": (last_place_forgotten(), "which slot answers it"),
    "carries nothing": (
        (*eight(28.0)[:2], torch.zeros(24, 1), eight(28.0)[3]),
        "how large must it arrive",
    ),
}


@pytest.mark.parametrize("kind", WRONG_EIGHT)
def test_wrong_heads_for_eight_places_get_a_fitting_question(kind):
    assert_wrong("eight-places", *WRONG_EIGHT[kind])


def test_eight_places_allow_a_leak_of_47_in_100_000():
    assert judge("eight-places", eight(27.2)).state == "right"


# ------------------------------------------------------------------ stubs, solutions, time
STUBS = {
    "same-words": (None, None),
    "previous-word-head": (None,) * 4,
    "layer": lambda X, heads: None,
    "flight-head": (None,) * 4,
    "parity": (None,) * 3,
    "six-bits": {"flight": (None,) * 3, "speech": (None,) * 3, "answer": None},
    "eight-places": [None] * 4,
    "patch": {"word": None, "slot": None, "value": None},
}


@pytest.mark.parametrize("name", STUBS)
def test_a_stub_is_not_attempted(name):
    assert judge(name, STUBS[name]).state == "not attempted"


@pytest.mark.parametrize("name", answers(3))
def test_each_printed_solution_is_right(name):
    names = dict(NAMES)
    exec(solutions(3)[name], names)
    assert_right(name, names[answers(3)[name]])


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ([0.25, 0.25, 0.25, 0.25], "spreads its attention evenly"),
        ([0.1, 0.7, 0.1, 0.1], "looks most at word 1"),
        ([0.44, 0.44, 0.11, 0.01], "gives words 0 and 1 the same share, 0.44 each"),
        ([0.44, 0.42, 0.13, 0.01], "gives words 0 and 1 nearly the same share, 0.42 to 0.44"),
        ([0.27, 0.25, 0.24, 0.24], "spreads its attention, 0.24 to 0.27"),
        ([0.44, 0.37, 0.18, 0.01], "looks most at word 0"),
    ],
)
def test_a_row_of_attention_is_told_in_words(row, told):
    assert disobeys._most(torch.tensor(row)) == told


TOLD = [
    (
        "previous-word-head",
        previous(Wq=previous()[0][:5]),
        "Wq has shape (5, 6), not (22, its width)",
    ),
    ("previous-word-head", previous(Wq=AHEAD), "row 2 of the attention has 1.00 in column 3"),
    ("previous-word-head", previous(Wq=ITSELF), "row 2 of the attention has 1.00 in column 2"),
    ("previous-word-head", previous(Wq=EARLIER), "words 0 to 3 the same share, 0.25 each"),
    ("previous-word-head", previous(Wq=SHORT), "word 5 spreads its attention evenly"),
    (
        "previous-word-head",
        previous(Wq=previous()[0] / 8),
        f"one word leaks {5 / (5 + math.exp(3 / 6**0.5)):.5f} of",
    ),
    ("six-bits", {**BITS, "answer": "Plane"}, "'Plane' is no object of the puzzle"),
    ("patch", {**PATCH, "slot": None}, "there is no 'slot' yet"),
    ("patch", {**PATCH, "slot": "note"}, "there is no slot 'note'"),
    (
        "patch",
        {**PATCH, "slot": "previous_word_disobey"},
        "there is no slot 'previous_word_disobey'; 'previous_word_is_disobey' is near",
    ),
    ("patch", {**PATCH, "word": 5}, "there is no word 5; the places are 0 to 4"),
    ("patch", {**PATCH, "value": 101.0}, "101.0 is no number of the size that a stream holds"),
]


@pytest.mark.parametrize(("exercise", "answer", "told"), TOLD)
def test_what_is_told_names_the_place_and_the_number(exercise, answer, told):
    assert told in judge(exercise, answer).message


# ------------------------------------------------------------------ what each must refuses
def eight_changed(part, row, column, value):
    head = [matrix.clone() for matrix in eight(28.0)]
    head[part][row, column] = value
    return head


POS0, OBJECT = layout(8).index("pos0"), layout(8).index("object")
# For each must of an exercise, in order, an answer that it alone refuses: the name of one of the
# known ones above, or the answer itself.
REFUSED = {
    "same-words": [
        (*ROCKS, ROCKS[0]),
        (
            "he-is? Rock disobeys swap-flight keep-speech",
            "he-is? Rock swap-flight disobeys keep-speech",
        ),
        (ROCKS[0], CROWS[0]),
        (ROCKS[0], ROCKS[0]),
        CROWS,
    ],
    "previous-word-head": [
        previous(Wq=previous()[0] * 7 / 24),
        *("a trace in an input slot", "carries another bit", "first looks at the last, turned"),
    ],
    "layer": ["in place", "scores of zero hidden", "three heads at most"],
    "flight-head": [
        flight(Wq=by_slot(1, question=(0, 2.9))),
        flight(
            Wv=torch.cat([flight()[2], by_slot(1, question=(0, 1.0))], dim=1),
            Wo=torch.cat([flight()[3], by_slot(1, object_attribute_speak=(0, 1.0)).T]),
        ),
        "rows of Wo exchanged",
    ],
    "parity": ["b1 as a column", "reads the note", "a ramp above zero"],
    "six-bits": [
        {**BITS, "flight": (1, 0, 0, 1)},
        *({**BITS, "flight": bits} for bits in ((0, 0, 0), (1, 1, 0), (1, 0, 1))),
        *({**BITS, "speech": bits} for bits in ((0, 1, 1), (1, 0, 1), (1, 1, 0))),
        {**BITS, "answer": "Crow"},
    ],
    "eight-places": [
        eight(26.8),
        eight_changed(3, 0, OBJECT, 0.005),
        [part * size for part, size in zip(eight(28.0), (1, 1, 1.2, 1), strict=True)],
        eight_changed(0, POS0, 1, 28.0),
    ],
    "patch": [
        {"word": 4, "slot": "object_attribute_fly", "value": -101},
        {**PATCH, "value": 0.0},
    ],
}
