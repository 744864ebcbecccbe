"""Each must earns its place: it refuses an answer that no other must of its exercise refuses."""

import pytest
import test_checks_attention as attention
import test_checks_disobeys as disobeys
import test_checks_inputs as inputs
import torch
from test_checks_disobeys import BITS, PATCH, by_slot, eight, flight, previous
from torch import nn

import helpers
from helpers import exercises
from helpers.checks.hand_built import layout


def right_then_changed(right):
    """A learner's test that says what is so, and then changes what it was lent."""

    def answer(model, *lent):
        verdict = right(model, *(tensor.clone() for tensor in lent))
        lent[-1].add_(1)
        return verdict

    return answer


class Scaled(inputs.DenoiserInputs):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x_t, t):
        return self.scale * super().forward(x_t, t)


def attending(finish, cut_for_good=False):
    """A right class but for what `finish` makes of its weights and values."""

    def forward(self, x):
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        future = self.mask[: x.shape[1], : x.shape[1]]
        if cut_for_good:
            self.mask = future
        scores = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
        weights = scores.masked_fill(future.bool(), float("-inf")).softmax(dim=-1)
        return finish(self, weights, values)

    return attention.answer(forward)


def dropped_the_old_way(self, weights, values):
    p = self.dropout.p
    kept = torch.rand_like(weights) >= p if self.training else 1 - p
    return weights * kept @ values


def eight_changed(part, row, column, value):
    head = [matrix.clone() for matrix in eight(28.0)]
    head[part][row, column] = value
    return head


POS0, OBJECT = layout(8).index("pos0"), layout(8).index("object")
# For each must of an exercise, in order, an answer: the name of a known one, or the answer itself.
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
        right_then_changed(inputs.run_solution("noise-axis")),
        *("always", "never"),
    ],
    "midpoint": ["ends for middles"],
    "sinusoidal": [
        lambda length, d_model: inputs.loop_table(length + 1, d_model),
        "cosine first",
    ],
    "shape-forecast": [
        *("input width kept", "all axes turned", "scores by width", "weights by width"),
        "a value for each word",
    ],
    "clinic": [
        *("A blamed on the transpose", "B blamed on a layer", "C blamed on a layer"),
        *("D found in order", "E blamed on the transpose"),
    ],
    "future-mask": [lambda n: torch.ones(n + 1, n + 1).triu(1), "diagonal blocked"],
    "causal-attention": [
        attending(lambda self, weights, values: self.dropout(weights) @ values, cut_for_good=True),
        *("mask in a parameter", "large inputs scaled down together"),
        attending(lambda self, weights, values: self.dropout(weights) @ values * len(values) / 3),
        attending(dropped_the_old_way),
        *("p is the chance to stay, divided by the other", "survivors divided by p"),
        *("dropout on the context", "no gradient at all", "scores cut off at one"),
        *("tokens of zeros skipped", "mask kept from the first call"),
    ],
    "peek-test": [
        right_then_changed(attention.by_prefixes),
        *("always yes", "last token only"),
    ],
    "sdpa-mask": ["mask as it is"],
    "same-words": [
        (
            "he-is? Rock disobeys swap-flight keep-speech",
            "he-is? Rock swap-flight disobeys keep-speech",
        ),
        (disobeys.ROCKS[0], disobeys.CROWS[0]),
        (disobeys.ROCKS[0], disobeys.ROCKS[0]),
        disobeys.CROWS,
    ],
    "previous-word-head": [
        "huge keys alone",
        previous(Wq=previous()[0] * 7 / 24),
        *("a trace in an input slot", "carries another bit", "first looks at the last, turned"),
    ],
    "first-row": [{"four words": 0.25, "six words": 0.2}],
    "layer": ["in place", "scores of zero hidden", "three heads at most"],
    "flight-head": [
        flight(Wk=flight()[1] * 1e30),
        flight(Wq=by_slot(1, question=(0, 2.9))),
        flight(
            Wv=torch.cat([flight()[2], by_slot(1, question=(0, 1.0))], dim=1),
            Wo=torch.cat([flight()[3], by_slot(1, object_attribute_speak=(0, 1.0)).T]),
        ),
        "rows of Wo exchanged",
    ],
    "parity": ["b1 as a column", "reads the note", "a ramp above zero"],
    "rounding": [lambda Y: Y.round().flatten(), lambda Y: Y.ceil()],
    "six-bits": [
        *({**BITS, "flight": bits} for bits in ((0, 0, 0), (1, 1, 0), (1, 0, 1))),
        *({**BITS, "speech": bits} for bits in ((0, 1, 1), (1, 0, 1), (1, 1, 0))),
        {**BITS, "answer": "Crow"},
    ],
    "eight-places": [
        [part * size for part, size in zip(eight(28.0), (1, 1e30, 1, 1), strict=True)],
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
TABLES = {
    "denoiser-inputs": inputs.WRONG,
    "causal-attention": attention.WRONG,
    "previous-word-head": disobeys.WRONG_PREVIOUS,
    "flight-head": disobeys.WRONG_FLIGHT,
    "parity": disobeys.WRONG_PARITY,
    "layer": disobeys.WRONG_LAYER,
}


def known_answer(name, answer):
    if not isinstance(answer, str):
        return answer
    if name in TABLES:
        return TABLES[name][answer][0]
    return (inputs.SMALL_WRONG | attention.SMALL_WRONG)[answer][1]


@pytest.mark.parametrize("name", [name for _, names in helpers.LESSONS.values() for name in names])
def test_each_must_refuses_an_answer_that_no_other_does(name):
    exercise = helpers._exercise(name)
    musts = [demand for demand in exercise.demands if demand.decides]
    for due, answer in zip(musts, REFUSED[name], strict=True):
        given = known_answer(name, answer)
        exercise.judge(given)  # sets aside what was computed for the answer before
        with exercises._quiet():
            refusing = [demand for demand in musts if exercise._found(demand, given, [])]
        assert [demand.question for demand in refusing] == [due.question]
