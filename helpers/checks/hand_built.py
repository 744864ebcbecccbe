"""The hand-built transformer as lesson 3's checker knows it: the streams that answers are tried on.

The slots, gains and weights are those of TechAarvam's puzzle (source in `helpers/puzzle.py`). The
lesson builds the same model in its own cells. The two share no code, and a test holds
their layout, embedding and weights equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers.puzzle import MAX_WORDS, QUESTION

WORD_BITS = {
    "Rock": ("object",),
    "Human": ("speak", "object"),
    "Crow": ("fly", "object"),
    "Flying superhero": ("fly", "speak", "object"),
    "swap-flight": ("swap_fly", "action_fly"),
    "swap-speech": ("swap_speak", "action_speak"),
    "keep-flight": ("action_fly",),
    "keep-speech": ("action_speak",),
    "disobeys": ("disobey",),
    "he-is?": ("question",),
}
FLIGHT_INPUTS = ("object_attribute_fly", "is_swap_attr_fly", "is_attr_fly_disobeyed")
SPEECH_INPUTS = ("object_attribute_speak", "is_swap_attr_speak", "is_attr_speak_disobeyed")
NOTE = "previous_word_is_disobey"
Head = tuple[Tensor, Tensor, Tensor, Tensor]


def layout(places: int = MAX_WORDS) -> list[str]:
    """The names of the slots, in order, of a stream for sentences of up to `places` words."""
    return [
        *("fly", "speak", "swap_fly", "swap_speak", "object"),
        *("action_fly", "action_speak", "question", "disobey"),
        *(f"pos{place}" for place in range(places)),
        *(NOTE, "object_attribute_fly", "object_attribute_speak"),
        *("is_swap_attr_fly", "is_attr_fly_disobeyed"),
        *("is_swap_attr_speak", "is_attr_speak_disobeyed"),
    ]


SLOTS = layout()


def embed(words: Sequence[str], slots: Sequence[str] = SLOTS) -> Tensor:
    """A sentence's stream `[words, slots]`: what each word is, and where it stands."""
    X = torch.zeros(len(words), len(slots))  # [words, d_model]
    for place, word in enumerate(words):
        for slot in (*WORD_BITS[word], f"pos{place}"):
            X[place, slots.index(slot)] = 1.0
    return X


def attend(X: Tensor, head: Head) -> tuple[Tensor, Tensor]:
    """A head's attention `[..., words, words]` and what it writes `[..., words, slots]`."""
    Wq, Wk, Wv, Wo = head
    scores = X @ Wq @ (X @ Wk).mT / Wq.shape[1] ** 0.5  # [..., words, words]
    weights = torch.softmax(scores, dim=-1)  # [..., words, words]
    return weights, weights @ X @ Wv @ Wo


def _matrix(width: int, entries: dict[str, tuple[int, float]]) -> Tensor:
    # The heads are made when this is imported, whatever the learner's defaults are by then.
    matrix = torch.zeros(len(SLOTS), width, dtype=torch.float32, device="cpu")  # [d_model, width]
    for slot, (dimension, value) in entries.items():
        matrix[SLOTS.index(slot), dimension] = value
    return matrix


def _fetch(width: int, looked_for: str, moves: dict[str, str]) -> Head:
    """A head with which the question looks for one kind of word and copies slots from it."""
    carried = {source: (k, 1.0) for k, source in enumerate(moves)}
    written = {target: (k, 1.0) for k, target in enumerate(moves.values())}
    return (
        _matrix(width, {"question": (0, 8.0)}),
        _matrix(width, {looked_for: (0, 1.0)}),
        _matrix(len(moves), carried),
        _matrix(len(moves), written).T,
    )


OBJECT_HEAD = _fetch(
    2, "object", {"fly": "object_attribute_fly", "speak": "object_attribute_speak"}
)
PREVIOUS_HEAD = (
    _matrix(MAX_WORDS, {f"pos{p}": (p - 1, 24.0) for p in range(1, MAX_WORDS)}),
    _matrix(MAX_WORDS, {f"pos{p}": (p, 1.0) for p in range(MAX_WORDS)}),
    _matrix(1, {"disobey": (0, 1.0)}),
    _matrix(1, {NOTE: (0, 1.0)}).T,
)
FLIGHT_HEAD = _fetch(
    1, "action_fly", {"swap_fly": "is_swap_attr_fly", NOTE: "is_attr_fly_disobeyed"}
)
SPEECH_HEAD = _fetch(
    1, "action_speak", {"swap_speak": "is_swap_attr_speak", NOTE: "is_attr_speak_disobeyed"}
)


def add(X: Tensor, *heads: Head) -> Tensor:
    """The stream after a layer: every head reads `X`, and what each finds is added to it."""
    return X + sum(attend(X, head)[1] for head in heads)


def read_out(X1: Tensor, words: Sequence[str]) -> tuple[int, int]:
    """Flies and speaks, as 0 and 1, from the stream after layer 1."""
    row = add(X1, FLIGHT_HEAD, SPEECH_HEAD)[list(words).index(QUESTION)]  # [d_model]
    six = row[[SLOTS.index(slot) for slot in (*FLIGHT_INPUTS, *SPEECH_INPUTS)]]
    sums = six.reshape(2, 3).sum(1)  # [2]
    hidden = torch.relu(sums.unsqueeze(1) - torch.arange(4.0))  # [2, 4]
    flies, speaks = (hidden @ torch.tensor([1.0, -2.0, 2.0, -2.0])).round().int().tolist()
    return flies, speaks
