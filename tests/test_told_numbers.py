"""The numbers that a finding tells are those of the answer.

For each known wrong answer of the exercises in `RULES` they are computed once more, from the answer
and by plain code; only what is put into the answer may be the checker's. A finding with a number
that nothing in `RULES` computes needs a line in `NOT_COMPUTED`, with the reason. What is told of an
answer with a name is read from `findings.json`, against which the tests of what checks the answers
hold it.
"""

import contextlib
import math
import re

import pytest
import test_checks_attention
import test_checks_disobeys
import test_checks_inputs
import torch
from lessons import FINDINGS, load
from torch import nn

from helpers import judge
from helpers.checks import attention, disobeys, inputs
from helpers.checks.hand_built import OBJECT_HEAD, PREVIOUS_HEAD, SLOTS, add, embed, layout
from helpers.puzzle import FLIGHT, QUESTION, SPEECH, read

OWN_TABLES = {
    "denoiser-inputs": test_checks_inputs.WRONG,
    "causal-attention": test_checks_attention.WRONG,
    "previous-word-head": test_checks_disobeys.WRONG_PREVIOUS,
    "eight-places": test_checks_disobeys.WRONG_EIGHT,
    "flight-head": test_checks_disobeys.WRONG_FLIGHT,
    "parity": test_checks_disobeys.WRONG_PARITY,
}
SMALL = {**test_checks_inputs.SMALL_WRONG, **test_checks_attention.SMALL_WRONG}
SHAPE, NUMBER = r"(\d+(?: x \d+)*)", r"(-?\d+(?:\.\d+)?(?:e-\d+)?)"


def shape(told):
    return tuple(map(int, str(told).split(" x ")))


def near(value, told, room=0.6):
    """Whether a value is told rightly: no further off than rounding to the last digit told."""
    _, _, decimals = str(told).partition(".")
    return f"{value:.1g}" == told or abs(value - float(told)) <= room * 10 ** -len(decimals)


def gap(found, wanted):
    return float((found - wanted).abs().max())


# ------------------------------------------------------------------ lesson 1
class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embed, self.position_embed = nn.Embedding(11, 8), nn.Embedding(7, 8)
        self.noise_embed = nn.Linear(1, 8)


def term(answer, batch, length, name):
    terms = answer(Layers(), inputs._ids(length, batch), torch.rand(batch))
    return dict(zip(("token", "position", "noise"), terms, strict=True))[name]


def output(answer, batch, length, max_length=7):
    return answer(11, max_length, 8, 0)(inputs._ids(length, batch), torch.rand(batch))


def in_dtype(answer, model, t):
    model, t = getattr(torch, model), getattr(torch, t)
    return answer(11, 7, 8, 0).to(model)(inputs._ids(), torch.rand(3).to(t))


def first_given(layer, run):
    seen = []
    layer.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    with contextlib.suppress(RuntimeError, IndexError):
        run(inputs._ids(), inputs._levels())
    return seen[0]


def given_to(answer, layer):
    model = answer(11, 7, 8, 0)
    return first_given(getattr(model, layer), model)


def term_given(answer):
    layers = Layers()
    return first_given(layers.noise_embed, lambda ids, levels: answer(layers, ids, levels))


def level_told(given, text, level, told):
    own, found = inputs._levels()[text].item(), given.flatten()[text].item()
    return f"{own:.4g}" == str(level) and f"{found:.4g}" == str(told) and level != told


def other_level(answer, *told):
    return level_told(given_to(answer, "noise_embed"), *told)


def counted(answer, sizes, way, told):
    vocab_size, max_length, d_model = sizes = eval(sizes)
    layers = nn.Embedding(vocab_size, d_model), nn.Embedding(max_length, d_model)
    parameters = [w.numel() for part in (*layers, nn.Linear(1, d_model)) for w in part.parameters()]
    more = sum(parameters) > answer(*sizes)
    return str(answer(*sizes)) == str(told) and way == ("more" if more else "fewer")


def leak(to, source):
    """A model in which one place of a text has the noise of another text."""
    table, line = nn.Embedding(11, 8), nn.Linear(1, 8)

    def model(x_t, t):
        noise = line(t[:, None])[:, None].repeat(1, x_t.shape[1], 1)
        noise[to, source] = noise[source, source]
        return table(x_t) + noise

    return model


def off_the_line(answer, level, slope, bias):
    found = answer(0.25 * slope + bias, 0.75 * slope + bias)[("0.5", "1.0").index(level)]
    return gap(found, float(level) * slope + bias)


SLOPE, BIAS = inputs._two_lines()[0]
LENGTHS = {8: 5, 4: 7, 6: 60}  # of the tables that are asked for, by width

RULES = {
    "three-terms": {
        rf"for (\d) texts of (\d) places, the (\w+) term is {SHAPE}": (
            lambda a, batch, length, name, told: term(a, batch, length, name).shape == shape(told)
        ),
        r"noise_embed is given a t of shape (.*)": (
            lambda a, told: str(tuple(term_given(a).shape)) == told
        ),
        rf"text (\d) has the level {NUMBER}, and noise_embed gets {NUMBER}": (
            lambda a, *told: level_told(term_given(a), *told)
        ),
    },
    "denoiser-inputs": {
        rf"for (\d) texts? of (\d) places? and d_model=8, {SHAPE} comes out": (
            lambda a, batch, length, told: output(a, batch, length).shape == shape(told)
        ),
        r"(\w+) is asked for rows \[(.*)\], \.\.\.": (
            lambda a, table, told: told in str(given_to(a, table).tolist())
        ),
        rf"text (\d) has the level {NUMBER}, and noise_embed gets {NUMBER}": other_level,
        r"the 5 places get the rows \[(.*)\] of": (
            lambda a, told: told in str(given_to(a, "position_embed").tolist())
        ),
        r"noise_embed is given a t of shape (.*)": (
            lambda a, told: str(tuple(given_to(a, "noise_embed").shape)) == told
        ),
        r"length (\d) passes silently, though max_length is (\d)": (
            lambda a, length, most: length > most and output(a, 2, length, most) is not None
        ),
        r"a torch.(\w+) model and a torch.(\w+) t give (.*)": (
            lambda a, model, t, told: str(in_dtype(a, model, t).dtype) == told
        ),
    },
    "count-parameters": {r"for .* = (\(.*\)), there are (\w+) than (\S+)": counted},
    "noise-axis": {
        r"you miss a model in which one place of text (\d) gets the noise of text (\d)": (
            lambda a, to, source: not a(leak(to, source), inputs._ids(4, 4), torch.rand(4))
        )
    },
    "midpoint": {
        rf"the first of your two vectors is off by up to {NUMBER}": (
            lambda a, told: near(off_the_line(a, "0.5", SLOPE, BIAS), told)
        ),
        rf"your g\((\S+)\) is off by up to {NUMBER}": (
            lambda a, level, told: near(off_the_line(a, level, SLOPE, BIAS), told)
        ),
        rf"with low and high the same vector, your g\((\S+)\) is off by up to {NUMBER}": (
            lambda a, level, told: near(off_the_line(a, level, 0 * SLOPE, BIAS), told)
        ),
    },
    "sinusoidal": {
        rf"position (\d+), column (\d) \(d_model (\d)\) is {NUMBER}": (
            lambda a, place, column, d, told: near(a(LENGTHS[d], d)[place, column], told)
        ),
        rf"row 0 has {NUMBER} in column (\d)": lambda a, told, k: near(a(5, 8)[0, k], told),
        rf"position (\d) has {NUMBER} and {NUMBER} in columns (\d) and (\d)": (
            lambda a, i, sine, cosine, j, k: (
                near(a(5, 8)[i, j], sine) and near(a(5, 8)[i, k], cosine)
            )
        ),
        rf"for length (\d+) and d_model (\d), the table is {SHAPE}": (
            lambda a, length, d, told: a(length, d).shape == shape(told)
        ),
    },
}


# ------------------------------------------------------------------ lesson 2
def context(answer, batch, tokens, d_in, d_out):
    return answer(d_in, d_out, 8, 0.0)(torch.rand(batch, tokens, d_in))


def shares(answer):
    """The weights, which are what comes out of the checker's probe."""
    model, x = attention._reveal(answer)
    return model(x)[..., :5]


def divisor(answer):
    """What the scores are divided by, from the shares that two tokens get of the last one."""
    model, x = attention._reveal(answer)
    last, scores = model(x)[0, -1], model.W_key(x[0]) @ model.W_query(x[0, -1])
    return (scores[0] - scores[1]) / (last[0] / last[1]).log()


def beside_its_own(answer, told):
    """How much more of a later token than of itself token 0 gets, against no mask at all."""
    model, x = attention._reveal(answer)
    scores = model.W_query(x[:, 0]) @ model.W_key(x).mT / model.W_key(x).shape[-1] ** 0.5
    weights, without_mask = model(x)[0, 0, :5], scores[0, 0].softmax(-1)
    ratios = (weights / weights[0]) / (without_mask / without_mask[0])
    return all(near(ratio, told) for ratio in ratios[1:])


def hole(query, length, key):
    """A model that adds up earlier tokens, and in which one token also has a later one."""
    model = nn.Linear(length, length, bias=False)
    model.weight.data = torch.ones(length, length).tril()
    model.weight.data[query, key] = 1.0
    return nn.Sequential(Turned(), model, Turned())


class Turned(nn.Module):
    def forward(self, x):
        return x.mT


def future(length=5, dtype="bool"):
    return torch.ones(length, length).triu(1).to(getattr(torch, dtype))


def without_one(length, blocked):
    """The mask in which nobody sees token 1 either, if so many places are blocked."""
    mask = future(length) | (torch.arange(length) == 1)
    return mask if mask.sum() == blocked else future(length)


def sdpa_gap(answer, mask, token):
    """How far a token's output is from attention that is blocked where the lent mask says so."""
    q, k, v = torch.randn(3, 3, len(mask), 2, generator=torch.Generator().manual_seed(9))
    found = answer(mask.clone())
    if found.dtype == torch.bool:
        found = torch.zeros(mask.shape).masked_fill(~found, -math.inf)
    wanted = torch.zeros(mask.shape).masked_fill(mask.bool(), -math.inf)
    scores = q @ k.mT / 2**0.5
    outputs = [(scores + added).softmax(-1).nan_to_num(0.0) @ v for added in (found, wanted)]
    return gap(*(out[:, token] for out in outputs))


OFF = rf"the output of token (\d) is off by up to {NUMBER}"
FORECAST = {
    rf"'(.*)' does not come out as {SHAPE}": lambda a, k, told: tuple(a[k]) == shape(told),
    r"'(.*)' has (\d) axes in yours": lambda a, k, told: len(a[k]) == told,
}
RULES |= {
    "three-shapes": FORECAST,
    "shape-forecast": FORECAST,
    "causal-attention": {
        rf"(\d) x (\d) x (\d) goes in with d_out=(\d), {SHAPE} comes out": (
            lambda a, *given: context(a, *given[:4]).shape == shape(given[4])
        ),
        rf"with d_in=9 and keys of 6 entries, your scores come out divided by {NUMBER}": (
            lambda a, told: near(divisor(a), told)
        ),
        rf"token (\d) gives the later token (\d) the weight {NUMBER}": (
            lambda a, query, key, told: near(shares(a)[0, query, key], told)
        ),
        rf"row (\d) of your weights \(text (\d)\) sums to {NUMBER}": (
            lambda a, row, item, told: near(shares(a)[item, row].sum(), told)
        ),
        rf"in your output, the values count {NUMBER} times in all": (
            lambda a, told: all(near(row, told) for row in shares(a).sum(-1).flatten())
        ),
        rf"beside its own weight, token 0 gives the future {NUMBER} times": beside_its_own,
        rf"token 0 gives each blocked token the same weight, {NUMBER}": (
            lambda a, told: all(near(share, told) for share in shares(a)[0, 0, 1:])
        ),
        rf"token 0 gives all 5 tokens the same weight, {NUMBER}": (
            lambda a, told: all(near(share, told) for share in shares(a)[0, 0])
        ),
        rf"the past gets no weight, and the future up to {NUMBER}": (
            lambda a, told: near((shares(a)[:, :-1] * future()[:-1]).max(), told)
        ),
        rf"a token gives another the weight {NUMBER}": lambda a, told: near(shares(a).min(), told),
        rf"one token hands out {NUMBER}": lambda a, told: near(shares(a).sum(-1).max(), told),
    },
    "future-mask": {
        r"(\d) of 5 tokens are hidden": lambda a, told: int((a(5).diagonal() != 0).sum()) == told,
        rf"for (\d) tokens the mask is {SHAPE}": lambda a, n, told: a(n).shape == shape(told),
        r"(\d+) entries for 5 tokens are nan": lambda a, told: told == a(5).isnan().sum(),
        r"for query (\d), key (\d) is (\w+), though it lies in the (\w+)": (
            lambda a, i, j, state, when: (
                bool(a(5)[i, j]) == (state == "blocked") and (j > i) == (when == "future")
            )
        ),
    },
    "peek-test": {
        r"you miss a model in which only token (\d) of (\d) peeks, at token (\d)": (
            lambda a, query, length, key: not a(hole(query, length, key), torch.rand(3, length, 4))
        )
    },
    "sdpa-mask": {
        rf"given a mask of (\d) x \d, you return {SHAPE}": (
            lambda a, length, told: a(future(length)).shape == shape(told)
        ),
        r"given a mask of torch.(\w+), you return one of (.*)": (
            lambda a, given, told: str(a(future(dtype=given)).dtype) == told
        ),
        r"(\d+) of your mask's entries are nan": lambda a, told: told == a(future()).isnan().sum(),
        rf"given a mask of torch.(\w+), you return numbers, and {OFF}": (
            lambda a, given, token, told: near(sdpa_gap(a, future(dtype=given), token), told)
        ),
        rf"with (\d+) places of (\d) x \d blocked, {OFF}": (
            lambda a, n, size, token, told: near(sdpa_gap(a, without_one(size, n), token), told)
        ),
        OFF: lambda a, token, told: near(sdpa_gap(a, future(), token), told),
    },
}


# ------------------------------------------------------------------ lesson 3
def attend(X, head):
    """A head's attention and what it writes."""
    Wq, Wk, Wv, Wo = (torch.as_tensor(part).float() for part in head)
    weights = torch.softmax((X @ Wq) @ (X @ Wk).T / Wq.shape[1] ** 0.5, dim=-1)
    return weights, weights @ (X @ Wv) @ Wo


def words_of(text):
    return re.findall(r"Flying superhero|\S+", text)  # the checker's need not be a sentence


def pattern(head, text):
    """Attention and what is written, in the layout that the head's size tells."""
    return attend(embed(words_of(text), layout(len(head[0]) - 16)), head)


def note(head, text, word):
    return pattern(head, text)[1][word, layout(len(head[0]) - 16).index(disobeys.NOTE)]


def leaks(head):
    every = disobeys._tried() if len(head[0]) == len(SLOTS) else disobeys._eight_words()
    return max(1 - pattern(head, " ".join(words))[0].diagonal(-1).min() for words in every)


def looks(row, told):
    """Whether a row of attention is told rightly."""
    if told == "spreads its attention evenly":
        return row.max() - row.min() < 0.005
    if told.startswith("looks most at word"):
        return row.argmax() == int(told.split()[-1])
    places, share = re.match(r"gives words (.*) the same share, (\S+) each", told).groups()
    return all(near(row[int(place)], share) for place in places.split(" and "))


def asked(head, text):
    """The attention of he-is?, what is written there, and the places of the two actions."""
    words = read(text)
    weights, written = attend(add(embed(words), OBJECT_HEAD, PREVIOUS_HEAD), head)
    places = [next(i for i, w in enumerate(words) if w in kind) for kind in (FLIGHT, SPEECH)]
    return weights[words.index(QUESTION)], written[words.index(QUESTION)], *places


def arrives(head, bit, slot=None):
    """What is written where a bit is 1, less what is written where it is 0."""
    own, one, none = {
        "swap bit": ("is_swap_attr_fly", "swap-flight keep-speech", "keep-flight keep-speech"),
        "note": ("is_attr_fly_disobeyed", "disobeys keep-flight", "keep-flight disobeys"),
    }[bit]
    texts = (f"Rock {acts} {'swap-speech ' * (bit == 'note')}he-is?" for acts in (one, none))
    with_bit, without = (asked(head, text)[1][SLOTS.index(slot or own)] for text in texts)
    return with_bit - without


def network(answer, name, flight, speech, place=None, note=None):
    """One output of a network at he-is?, with six bits and a note."""
    row = torch.zeros(len(SLOTS))
    slots = (*disobeys.FLIGHT_INPUTS, *disobeys.SPEECH_INPUTS, disobeys.NOTE)
    for slot, bit in zip(slots, (*flight, *speech, note or 0), strict=True):
        row[SLOTS.index(slot)] = bit
    row[SLOTS.index("question")] = row[SLOTS.index(f"pos{4 if place is None else place}")] = 1.0
    W1, b1, W2 = answer
    return (torch.relu(row @ W1 + b1) @ W2)[("flight", "speech").index(name)]


def ones(answer, count, name, told):
    some, none = [1] * count + [0] * (3 - count), [0, 0, 0]
    six = (some, none) if name == "flight" else (none, some)
    return near(network(answer, name, *six), told)


SIX_WORDS = "Rock disobeys swap-flight disobeys swap-speech he-is?"
NAMES = "Wq", "Wk", "Wv", "Wo"
HEAD = {
    r"(W\w) has shape (.*), not": lambda a, n, told: str(tuple(a[NAMES.index(n)].shape)) == told,
    rf"Wv is {SHAPE} and Wo has shape (.*)": (
        lambda a, v, o: a[2].shape == shape(v) and str(tuple(a[3].shape)) == o
    ),
    rf"Wq is {SHAPE} and Wk is {SHAPE}": (
        lambda a, q, k: a[0].shape == shape(q) and a[1].shape == shape(k)
    ),
    rf"row 2 of the attention has {NUMBER} in column (\d)": (
        lambda a, told, column: near(pattern(a, SIX_WORDS)[0][2, column], told, room=10)
    ),
    rf"row 4 of the attention gives words 0 to (\d) the same share, {NUMBER}": (
        lambda a, last, told: all(near(w, told) for w in pattern(a, SIX_WORDS)[0][4, : last + 1])
    ),
    r"in '(.*)', word (\d) (.*)": (
        lambda a, text, word, told: looks(pattern(a, text)[0][word], told)
    ),
    rf"in '(.*)', the note at word (\d) is {NUMBER}, and the word before it is '(.*)'": (
        lambda a, text, word, told, before: (
            near(note(a, text, word), told) and words_of(text)[word - 1] == before
        )
    ),
    rf"in '(.*)', the note at word (\d) is {NUMBER}": (
        lambda a, text, word, told: near(note(a, text, word), told)
    ),
    rf"one word leaks {NUMBER}": lambda a, told: near(leaks(a), told),
}
RULES |= {
    "previous-word-head": HEAD,
    "eight-places": HEAD,
    "flight-head": {
        rf"in '(.*)', he-is\? gives the flight word {NUMBER} and the speech word {NUMBER}": (
            lambda a, text, *told: all(
                near(asked(a, text)[0][place], share)
                for place, share in zip(asked(a, text)[2:], told, strict=True)
            )
        ),
        r"in '(.*)', he-is\? (.*)": lambda a, text, told: looks(asked(a, text)[0], told),
        rf"in '(.*)', the flight word gets {NUMBER}": (
            lambda a, text, told: near(asked(a, text)[0][asked(a, text)[2]], told)
        ),
        rf"in '(.*)', (\w+) is {NUMBER} at he-is\?, and the [a-z ]+ is": (
            lambda a, text, slot, told: near(asked(a, text)[1][SLOTS.index(slot)], told)
        ),
        rf"the (.*) arrives in (\w+), {NUMBER} times as large": (
            lambda a, bit, slot, told: near(arrives(a, bit, slot), told, room=5)
        ),
        rf"the (.*) arrives {NUMBER} times as large": (
            lambda a, bit, told: near(arrives(a, bit), told, room=5)
        ),
        **HEAD,
    },
    "parity": {
        rf"with (\d) of (\w+)'s three bits set, its output is {NUMBER}": ones,
        (
            r"flight (\(.*\)), speech (\(.*\)): the (\w+) output is "
            + NUMBER
            + r"(?:, with he-is\? at place (\d) and previous_word_is_disobey at (\d))?"
        ): (
            lambda a, flight, speech, name, told, *where: near(
                network(a, name, eval(flight), eval(speech), *where), told
            )
        ),
        rf"(W\d) is {SHAPE}, not": lambda a, n, told: a[n == "W2" and 2].shape == shape(told),
        r"W1 has (\d) hidden units, b1 has shape (.*)": (
            lambda a, units, told: a[0].shape[1] == units and str(tuple(a[1].shape)) == told
        ),
    },
    "six-bits": {r"bit (\d) of (\w+) is not (.*)": lambda a, k, name, told: a[name][k] == told},
}

NOT_COMPUTED = {
    "your code stops|using it stops|the checker stops with|stop with|it stops: ": "torch's words",
    "(shape for|return|returns|is|says|answer has) .*, not": "what is handed in, quoted",
    "is not three bits|is not a bit|is not a sentence|keep one of them": "quoted",
    "no object of the puzzle": "quoted",
    r"places, place j|t = 0.25 and t = 0.75|belongs to t = 0|slot 'pos\d'": "what is put in",
    r"after another length|= max_length stops|tokens \d and later": "what is put in",
    r"\(text \d\) is not|text \d (changes|comes)": "what is put in",
    "a torch.float64 model turns|float32 tables and": "what is put in, and a dtype",
    r"at place \d( \(\[PAD\]\))? of text|what place \d": "weights that are drawn",
    "vector is in the output": "weights that are drawn",
    "holds other numbers than": "a shape that is right",
    "numbers of the output|not finite|not a finite number": "drawn, or the dtype's name",
    "too large for float32": "the dtype's name",
    r"your g\(\S+\) (has shape|is the same)": "what is handed in, or no result",
    "with dropout=|in training|in eval mode, a dropout": "drawn, in twenty passes",
    "sums to 1|where all scores": "the probe's own scores",
    "exactly 0|itself the weight 0.00|no weight at all": "zeros",
    "with biases|with zeros for token": "weights that are drawn",
    r"\d+ tokens? \(context_length|after a text of \d tokens": "what is put in, and a shape",
}


def findings(exercise):
    """Each known wrong answer of an exercise, with what is told of it."""
    stored = load(FINDINGS)[exercise]
    named = {name: row[0] for name, row in OWN_TABLES.get(exercise, {}).items()}
    named |= {name: given for name, (own, given, _) in SMALL.items() if own == exercise}
    for name, answer in named.items():
        yield answer, stored[name.encode("unicode_escape").decode()]
    for own, answer, _ in test_checks_disobeys.SMALL_WRONG:
        if own == exercise:
            yield answer, judge(exercise, answer).message


@pytest.mark.parametrize("exercise", RULES)
def test_the_numbers_of_a_finding_are_those_of_the_answer(exercise):
    for answer, message in findings(exercise):
        finding, _, _ = message.partition("\n")
        rule = next((rule for rule in RULES[exercise] if re.match(rf"{rule}(?!\w)", finding)), "")
        if not rule:
            known = any(re.search(other, finding) for other in NOT_COMPUTED)
            assert known or not re.search(r"\d", finding), finding
            continue
        found = re.match(rf"{rule}(?!\w)", finding).groups()
        told = [int(part) if str(part).isdigit() else part for part in found]
        torch.manual_seed(0)
        with torch.no_grad():
            assert RULES[exercise][rule](answer, *told), finding
