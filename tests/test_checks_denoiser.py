"""Lesson 4's checker against right answers in many forms and wrong answers of many kinds."""

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
from torch import nn

from helpers import judge
from helpers.checks import denoiser

RECORD = Record(
    before_solutions=("tools", "words", "encode", "padding", "attention", "parts"),
    given={"weight-text": {"0.15": "a fixed level, as an example of one that is not used"}},
    not_run_for_shapes={"compare": COMPUTES_LONG},
)

NAMES = run_cells(4, *RECORD.before_solutions)
BlockParts, PAD, MASK, INF = NAMES["BlockParts"], 0, 1, float("inf")


# ------------------------------------------------------------------ padding-mask
def mask(x_t):
    return (x_t == PAD)[:, None, None, :]


def mask_by_loops(x_t):
    rows = [[[[bool(i == PAD) for i in text]]] for text in x_t.tolist()]
    return torch.tensor(rows)


def mask_spread(x_t):
    texts, length = x_t.shape
    return x_t.eq(PAD).unsqueeze(1).expand(texts, length, length).unsqueeze(1)


MASKS = [
    mask,
    mask_by_loops,
    mask_spread,
    lambda x_t: ~(x_t != 0).unsqueeze(1).unsqueeze(1),
    lambda x_t: (x_t == PAD).reshape(len(x_t), 1, 1, -1),
    lambda x_t: torch.einsum("bk->bk", (x_t < 1).float()).bool()[:, None, None],
    lambda x_t: torch.isin(x_t, torch.tensor([PAD]))[:, None, None, :],
]


def counted_from_the_end(x_t):
    width = x_t.shape[1]
    return (torch.arange(width) >= width - 1).expand(len(x_t), 1, 1, width)


def written_into(x_t):
    x_t[:] = x_t == PAD
    return x_t.bool()[:, None, None, :]


def then_cleared(x_t):
    blocked = mask(x_t).clone()
    x_t.zero_()
    return blocked


def causal(x_t):
    n = x_t.shape[1]
    return torch.ones(n, n).triu(1).bool()


WRONG_MASKS = {
    "nothing returned": (lambda x_t: print(mask(x_t)), "Can anybody compute"),
    "a list": (lambda x_t: mask(x_t).tolist(), "gives you one"),
    "whole numbers": (lambda x_t: mask(x_t).int(), "which dtype says that"),
    "minus infinity to add": (
        lambda x_t: torch.where(mask(x_t), -INF, 0.0),
        "which dtype says that",
    ),
    "no axes added": (lambda x_t: x_t == PAD, "Line the shapes up"),
    "one axis added": (lambda x_t: (x_t == PAD)[:, None, :], "Line the shapes up"),
    "one axis added at the end": (lambda x_t: (x_t == PAD)[:, :, None], "Line the shapes up"),
    "batch behind": (lambda x_t: (x_t == PAD)[None, None], "Line the shapes up"),
    "batch on the heads": (lambda x_t: (x_t == PAD)[None, :, None, :], "Line the shapes up"),
    "turned": (lambda x_t: (x_t == PAD).T[None, None], "Line the shapes up"),
    "what may be seen": (lambda x_t: ~mask(x_t), "what is blocked?"),
    "hidden letters, too": (
        lambda x_t: (x_t <= MASK)[:, None, None, :],
        "which of them must not be asked",
    ),
    "hidden letters instead": (
        lambda x_t: (x_t == MASK)[:, None, None, :],
        "which of them must not be asked",
    ),
    "rows instead of columns": (lambda x_t: (x_t == PAD)[:, None, :, None], "who asks"),
    "rows and columns": (
        lambda x_t: mask(x_t) | mask(x_t).transpose(2, 3),
        "a row in which everything is blocked",
    ),
    "everything": (lambda x_t: mask(x_t) | True, "which of them must not be asked"),
    "the future, too": (lambda x_t: mask(x_t) | causal(x_t), "another one's future"),
    "the future only": (
        lambda x_t: causal(x_t).expand(len(x_t), 1, -1, -1),
        "another one's future",
    ),
    "nothing": (lambda x_t: mask(x_t) & False, "Does your mask say so"),
    "the last place": (counted_from_the_end, "Does your mask say so"),
    "padding of any text": (
        lambda x_t: (x_t == PAD).any(0).expand(len(x_t), 1, 1, -1),
        "Does your mask say so",
    ),
    "the first text's for all": (
        lambda x_t: mask(x_t)[1:2].expand(len(x_t), 1, 1, -1),
        "Does your mask say so",
    ),
    "a letter for padding": (
        lambda x_t: (x_t == 2)[:, None, None, :],
        "Does your mask say so",
    ),
    "written into the IDs": (then_cleared, "or write into them"),
    "name of another cell": (lambda x_t: (x_t == PADDING)[:, None, None], "Read the error"),  # noqa: F821
}


# ------------------------------------------------------------------ encoder-block
def block(forward):
    return type("Answer", (BlockParts,), {"forward": forward})


def plain(self, h, blocked):
    h = h + self.attention(self.norm_1(h), blocked)
    return h + self.feed_forward(self.norm_2(h))


def by_names(self, h, blocked):
    looked = self.attention(self.norm_1(h), blocked=blocked)
    stream = torch.add(h, looked)
    thought = self.feed_forward(self.norm_2(stream))
    return thought.add(stream)


def in_place_on_a_copy(self, h, blocked):
    h = h.clone()
    h += self.attention(self.norm_1(h), blocked)
    h += self.feed_forward(self.norm_2(h))
    return h


def in_one_line(self, h, blocked):
    return (h := h + self.attention(self.norm_1(h), blocked)) + self.feed_forward(self.norm_2(h))


def layer_by_layer(self, h, blocked):
    for norm, part in (
        (self.norm_1, lambda z: self.attention(z, blocked)),
        (self.norm_2, self.feed_forward),
    ):
        h = h + part(norm(h))
    return h


def feed_forward_by_hand(self, h, blocked):
    h = h + self.attention(self.norm_1(h), blocked)
    up, _, down = self.feed_forward
    return h + down(torch.relu(up(self.norm_2(h))))


class WithItsOwnParts(BlockParts):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.norms = nn.ModuleList([self.norm_1, self.norm_2])

    def forward(self, h, blocked):
        return plain(self, h, blocked)


BLOCKS = [
    *map(block, (plain, by_names, in_place_on_a_copy, in_one_line, layer_by_layer)),
    block(feed_forward_by_hand),
    WithItsOwnParts,
]


def steps(look, think):
    """A block whose two halves are `look(self, h, blocked)` and `think(self, h)`."""
    return block(lambda self, h, blocked: think(self, look(self, h, blocked)))


def looks(self, h, blocked):
    return h + self.attention(self.norm_1(h), blocked)


def thinks(self, h):
    return h + self.feed_forward(self.norm_2(h))


def norms_behind(self, h, blocked):
    h = self.norm_1(h + self.attention(h, blocked))
    return self.norm_2(h + self.feed_forward(h))


def in_place(self, h, blocked):
    h += self.attention(self.norm_1(h), blocked)
    return h + self.feed_forward(self.norm_2(h))


def old_stream_read(self, h, blocked):
    return looks(self, h, blocked) + self.feed_forward(self.norm_2(h))


def old_stream_kept(self, h, blocked):
    return h + self.feed_forward(self.norm_2(looks(self, h, blocked)))


def stream_normalized(self, h, blocked):
    h = self.norm_1(h)
    return thinks(self, h + self.attention(h, blocked))


def stream_normalized_later(self, h):
    h = self.norm_2(h)
    return h + self.feed_forward(h)


def stream_normalized_twice(self, h, blocked):
    h = self.norm_1(h)
    return stream_normalized_later(self, h + self.attention(h, blocked))


def returns_nothing(self, h, blocked):
    h = looks(self, h, blocked)
    thinks(self, h)


WRONG_BLOCKS = {
    "no return": (block(returns_nothing), "Which line hands the result back"),
    "an instance": (block(plain)(8, 2), "have you handed in the class"),
    "a function": (plain, "have you handed in the class"),
    "a part misspelled": (
        block(lambda self, h, b: h + self.attn(self.norm_1(h), b)),
        "Which name, attribute or argument",
    ),
    "mask not handed on": (
        steps(lambda self, h, b: h + self.attention(self.norm_1(h)), thinks),
        "Which name, attribute or argument",
    ),
    "a pair": (block(lambda self, h, b: (plain(self, h, b), h)), "which of your results"),
    "mean over places": (block(lambda self, h, b: plain(self, h, b).mean(1)), "keeps its shape"),
    "nothing blocked": (
        steps(lambda self, h, b: looks(self, h, b & False), thinks),
        "hand it on as it is",
    ),
    "mask turned around": (steps(lambda self, h, b: looks(self, h, ~b), thinks), "turn the mask"),
    "attention only": (block(looks), "which one is missing"),
    "feed-forward only": (block(lambda self, h, b: thinks(self, h)), "which one is missing"),
    "old stream read": (block(old_stream_read), "before or after attention"),
    "old stream kept": (block(old_stream_kept), "before or after attention"),
    "feed-forward first": (
        block(lambda self, h, b: looks(self, thinks(self, h), b)),
        "Which part comes first",
    ),
    "norms exchanged": (
        steps(
            lambda self, h, b: h + self.attention(self.norm_2(h), b),
            lambda self, h: h + self.feed_forward(self.norm_1(h)),
        ),
        "a norm of its own",
    ),
    "first norm twice": (
        steps(looks, lambda self, h: h + self.feed_forward(self.norm_1(h))),
        "a norm of its own",
    ),
    "norms behind the sums": (block(norms_behind), "does the stream pass through"),
    "stream normalized first": (block(stream_normalized), "does the stream pass through"),
    "stream normalized twice": (block(stream_normalized_twice), "does the stream pass through"),
    "stream normalized later": (
        steps(looks, stream_normalized_later),
        "does the stream pass through",
    ),
    "one more norm at the end": (
        block(lambda self, h, b: self.norm_2(plain(self, h, b))),
        "does the stream pass through",
    ),
    "no norms": (
        steps(
            lambda self, h, b: h + self.attention(h, b),
            lambda self, h: h + self.feed_forward(h),
        ),
        "no LayerNorm has seen",
    ),
    "attention without its norm": (
        steps(lambda self, h, b: h + self.attention(h, b), thinks),
        "no LayerNorm has seen",
    ),
    "no residuals": (
        steps(
            lambda self, h, b: self.attention(self.norm_1(h), b),
            lambda self, h: self.feed_forward(self.norm_2(h)),
        ),
        "If both parts had nothing to say",
    ),
    "first residual forgotten": (
        steps(lambda self, h, b: self.attention(self.norm_1(h), b), thinks),
        "If both parts had nothing to say",
    ),
    "second residual forgotten": (
        steps(looks, lambda self, h: self.feed_forward(self.norm_2(h))),
        "If both parts had nothing to say",
    ),
    "stream added twice": (
        block(lambda self, h, b: h + plain(self, h, b)),
        "If both parts had nothing to say",
    ),
    "relu at the end": (
        block(lambda self, h, b: plain(self, h, b).relu()),
        "If both parts had nothing to say",
    ),
    "attention subtracted": (
        steps(lambda self, h, b: h - self.attention(self.norm_1(h), b), thinks),
        "what is added to what",
    ),
    "attention halved": (
        steps(lambda self, h, b: h + self.attention(self.norm_1(h), b) / 2, thinks),
        "what is added to what",
    ),
    "feed-forward twice": (
        steps(looks, lambda self, h: thinks(self, thinks(self, h))),
        "to which stream is its result added",
    ),
    "half a feed-forward": (
        steps(looks, lambda self, h: h + self.feed_forward(self.norm_2(h)) / 2),
        "to which stream is its result added",
    ),
    "relu between the parts": (
        steps(looks, lambda self, h: h + self.feed_forward(self.norm_2(h).relu())),
        "to which stream is its result added",
    ),
    "first text's mask for all": (
        steps(lambda self, h, b: looks(self, h, b[-1:]), thinks),
        "what is added to what",
    ),
    "nothing for a single text": (
        block(lambda self, h, b: plain(self, h, b) if len(h) > 1 else h),
        "do your lines differ from",
    ),
    "in place": (block(in_place), "whose tensor is that"),
}


# ------------------------------------------------------------------ masked-loss
def costs(log_probs, x):
    return -log_probs.gather(-1, x.unsqueeze(-1)).squeeze(-1)


def paid(log_probs, x, hidden):
    return torch.where(hidden, costs(log_probs, x), 0.0)


def loss(log_probs, x, hidden, t):
    return (paid(log_probs, x, hidden).sum(1) / t).mean()


def loss_by_loops(log_probs, x, hidden, t):
    total = log_probs.new_zeros(())
    for text in range(len(x)):
        for place in range(x.shape[1]):
            if hidden[text, place]:
                total = total - log_probs[text, place, x[text, place]] / t[text]
    return total / len(x)


def loss_by_cross_entropy(log_probs, x, hidden, t):
    cost = nn.functional.nll_loss(log_probs.transpose(1, 2), x, reduction="none", ignore_index=PAD)
    return (torch.where(hidden, cost, 0).sum(-1) / t).mean()


def loss_by_index(log_probs, x, hidden, t):
    text, place = hidden.nonzero(as_tuple=True)
    return -(log_probs[text, place, x[text, place]] / t[text]).sum() / x.shape[0]


def loss_with_a_filled_cost(log_probs, x, hidden, t):
    cost = costs(log_probs, x).masked_fill(~hidden, 0.0)
    return (cost / t[:, None]).sum() / len(t)


def loss_with_a_target(log_probs, x, hidden, t):
    target = torch.where(hidden, x, -100)
    cost = nn.functional.cross_entropy(log_probs.mT, target, reduction="none")
    return (cost.sum(1) * t.reciprocal()).mean(0)


def loss_with_nan_repaired(log_probs, x, hidden, t):
    cost = (costs(log_probs, x) * hidden).nan_to_num(0.0)
    return (cost.sum(1) / t).mean()


LOSSES = [
    loss,
    loss_by_loops,
    loss_by_cross_entropy,
    loss_by_index,
    loss_with_a_filled_cost,
    loss_with_a_target,
    loss_with_nan_repaired,
]


def changes_hidden(log_probs, x, hidden, t):
    value = loss(log_probs, x, hidden.clone(), t)
    hidden |= x == PAD
    return value


def per_word(reduce):
    return lambda p, x, hidden, t: (reduce(paid(p, x, hidden), x, hidden) / t).mean()


WRONG_LOSSES = {
    "nothing returned": (lambda *given: print(loss(*given)), "Can anybody compute"),
    "a number": (lambda *given: loss(*given).item(), "which step turned it into a number"),
    "a loss for each word": (
        lambda p, x, hidden, t: paid(p, x, hidden).sum(1) / t,
        "what joins them",
    ),
    "times the mask": (
        lambda p, x, hidden, t: ((costs(p, x) * hidden).sum(1) / t).mean(),
        "infinity times 0",
    ),
    "all places": (
        lambda p, x, hidden, t: (costs(p, x).sum(1) / t).mean(),
        "infinity times 0",
    ),
    "mean over hidden places": (
        per_word(lambda cost, x, hidden: cost.sum(1) / hidden.sum(1)),
        "what do you divide by",
    ),
    "one added": (lambda *given: loss(*given) + 1, "what is there to pay"),
    "mean over hidden places, guarded": (
        per_word(lambda cost, x, hidden: cost.sum(1) / hidden.sum(1).clamp(min=1)),
        "as much as one of them, or as both",
    ),
    "mean over all places": (
        per_word(lambda cost, x, hidden: cost.mean(1)),
        "as much as one of them, or as both",
    ),
    "mean over letters": (
        per_word(lambda cost, x, hidden: cost.sum(1) / (x != PAD).sum(1)),
        "as much as one of them, or as both",
    ),
    "mean over all hidden": (
        lambda p, x, hidden, t: (paid(p, x, hidden).sum(1) / t).sum() / hidden.sum(),
        "as much as one of them, or as both",
    ),
    "sign forgotten": (lambda *given: -loss(*given), "which should a cost have"),
    "weight forgotten": (
        lambda p, x, hidden, t: paid(p, x, hidden).sum(1).mean(),
        "at level 0.2, how often at 0.8",
    ),
    "usual cross-entropy": (
        lambda p, x, hidden, t: costs(p, x)[hidden].mean(),
        "at level 0.2, how often at 0.8",
    ),
    "times the level": (
        lambda p, x, hidden, t: (paid(p, x, hidden).sum(1) * t).mean(),
        "count more, or less",
    ),
    "sum over words": (
        lambda p, x, hidden, t: (paid(p, x, hidden).sum(1) / t).sum(),
        "over how many words",
    ),
    "damaged words only": (
        lambda p, x, hidden, t: (paid(p, x, hidden).sum(1) / t)[hidden.any(1)].mean(),
        "How many words has the batch",
    ),
    "visible letters, too": (
        lambda p, x, hidden, t: (paid(p, x, x != PAD).sum(1) / t).mean(),
        "Which places need no repair",
    ),
    "visible letters instead": (
        lambda p, x, hidden, t: (paid(p, x, (x != PAD) & ~hidden).sum(1) / t).mean(),
        "Which places need no repair",
    ),
    "mean level": (
        lambda p, x, hidden, t: paid(p, x, hidden).sum(1).mean() / t.mean(),
        "before or after you take the mean",
    ),
    "mean weight": (
        lambda p, x, hidden, t: paid(p, x, hidden).sum(1).mean() * (1 / t).mean(),
        "before or after you take the mean",
    ),
    "levels on the places": (
        lambda p, x, hidden, t: (paid(p, x, hidden) / t).sum(1).mean(),
        "What if it were a column",
    ),
    "levels on the places where they fit": (
        lambda p, x, hidden, t: (
            (paid(p, x, hidden) / t).sum(1).mean()
            if len(t) == x.shape[1]
            else loss(p, x, hidden, t)
        ),
        "What if it were a column",
    ),
    "chances": (
        lambda p, x, hidden, t: loss(p.exp(), x, hidden, t),
        "logarithms already",
    ),
    "missing chance": (
        lambda p, x, hidden, t: (
            torch.where(hidden, 1 - p.exp().gather(-1, x[..., None])[..., 0], 0.0).sum(1) / t
        ).mean(),
        "logarithms already",
    ),
    "bits": (
        lambda *given: loss(*given) / torch.tensor(2.0).log(),
        "who divides",
    ),
    "its own guess": (
        lambda p, x, hidden, t: loss(p, p.argmax(-1), hidden, t),
        "that of the guess",
    ),
    "one more level": (
        lambda p, x, hidden, t: (paid(p, x, hidden).sum(1) / (t + 0.01)).mean(),
        "which step gives another number",
    ),
    "three words at most": (
        lambda p, x, hidden, t: (paid(p, x, hidden).sum(1) / t).sum() / 3,
        "which step gives another number",
    ),
    "cut off": (
        lambda *given: loss(*given).detach(),
        "cuts the way back",
    ),
    "hidden changed": (changes_hidden, "belongs to someone else"),
}


# ------------------------------------------------------------------ unmask-step
def draw(model, x_t, t, uniform):
    return (model(x_t, t).exp().cumsum(-1) <= uniform.unsqueeze(-1)).sum(-1)


def choose(x_t, how_many, order):
    hidden = x_t == MASK
    return hidden & (torch.where(hidden, order, 2.0).argsort(-1).argsort(-1) < how_many)


def step(model, x_t, t, how_many, order, uniform):
    return torch.where(choose(x_t, how_many, order), draw(model, x_t, t, uniform), x_t)


def step_by_loops(model, x_t, t, how_many, order, uniform):
    out, probs = x_t.clone(), model(x_t, t).exp()
    for text in range(len(x_t)):
        gaps = [k for k in range(x_t.shape[1]) if x_t[text, k] == MASK]
        for place in sorted(gaps, key=lambda k: order[text, k].item())[:how_many]:
            total = 0.0
            for letter, chance in enumerate(probs[text, place].tolist()):
                total += chance
                if total > uniform[text, place]:
                    out[text, place] = letter
                    break
    return out


def step_by_searching(model, x_t, t, how_many, order, uniform):
    sums = model(x_t, t).softmax(-1).cumsum(-1)
    drawn = torch.searchsorted(sums, uniform.unsqueeze(-1), right=True).squeeze(-1)
    return torch.where(choose(x_t, how_many, order), drawn, x_t)


def step_by_top(model, x_t, t, how_many, order, uniform):
    hidden = x_t == MASK
    first = torch.where(hidden, -order, -INF).topk(min(how_many, x_t.shape[1]), -1).indices
    chosen = torch.zeros_like(hidden).scatter(1, first, True) & hidden
    return x_t.masked_scatter(chosen, draw(model, x_t, t, uniform)[chosen])


def step_by_counting(model, x_t, t, how_many, order, uniform):
    hidden = x_t == MASK
    earlier = (order.unsqueeze(-1) > order.unsqueeze(-2)) & hidden.unsqueeze(-2)
    chosen = hidden & (earlier.sum(-1) < how_many)
    out = x_t.clone()
    out[chosen] = draw(model, x_t, t, uniform)[chosen]
    return out


def step_with_strict_sums(model, x_t, t, how_many, order, uniform):
    drawn = (model(x_t, t).exp().cumsum(-1) > uniform.unsqueeze(-1)).int().argmax(-1)
    return torch.where(choose(x_t, how_many, order), drawn, x_t)


STEPS = [
    step,
    step_by_loops,
    step_by_searching,
    step_by_top,
    step_by_counting,
    step_with_strict_sums,
]


def chosen_by(places):
    """A step whose places are `places(x_t, how_many, order)`."""
    return lambda model, x_t, t, how_many, order, uniform: torch.where(
        places(x_t, how_many, order), draw(model, x_t, t, uniform), x_t
    )


def drawn_by(letters):
    """A step whose letters are `letters(model, x_t, t, order, uniform)`."""
    return lambda model, x_t, t, how_many, order, uniform: torch.where(
        choose(x_t, how_many, order), letters(model, x_t, t, order, uniform), x_t
    )


def ranked(numbers, x_t, how_many):
    return (x_t == MASK) & (numbers.argsort(-1).argsort(-1) < how_many)


def step_in_place(model, x_t, t, how_many, order, uniform):
    chosen = choose(x_t, how_many, order)
    x_t[chosen] = draw(model, x_t, t, uniform)[chosen]
    return x_t


def one_after_the_other(model, x_t, t, how_many, order, uniform):
    out = x_t.clone()
    for place in range(x_t.shape[1]):
        now = choose(x_t, how_many, order)[:, place]
        out[now, place] = draw(model, out, t, uniform)[now, place]
    return out


def ranked_in_the_batch(x_t, how_many, order):
    hidden = x_t == MASK
    numbers = torch.where(hidden, order, 2.0).flatten()
    return hidden & (numbers.argsort().argsort().reshape(x_t.shape) < how_many)


WRONG_STEPS = {
    "nothing returned": (lambda *given: print(step(*given)), "Can anybody compute"),
    "words": (lambda *given: step(*given).tolist(), "which of your results"),
    "chances returned": (
        lambda model, x_t, t, *rest: model(x_t, t).exp(),
        "which axis have you added or lost",
    ),
    "fractions": (lambda *given: step(*given).float(), "made fractions of them"),
    "draws of its own": (
        drawn_by(lambda model, x_t, t, order, u: draw(model, x_t, t, torch.rand(u.shape))),
        "still draw some of your own",
    ),
    "multinomial": (
        drawn_by(
            lambda model, x_t, t, order, u: (
                model(x_t, t).exp().flatten(0, 1).multinomial(1).reshape(x_t.shape)
            )
        ),
        "still draw some of your own",
    ),
    "order of its own": (
        chosen_by(lambda x_t, how_many, order: choose(x_t, how_many, torch.rand(order.shape))),
        "still draw some of your own",
    ),
    "all places written": (
        lambda model, x_t, t, how_many, order, uniform: draw(model, x_t, t, uniform),
        "which places are gaps",
    ),
    "visible places chosen, too": (
        chosen_by(lambda x_t, how_many, order: order.argsort(-1).argsort(-1) < how_many),
        "which places are gaps",
    ),
    "padding filled": (
        chosen_by(lambda x_t, how_many, order: choose(x_t, how_many, order) | (x_t == PAD)),
        "which places are gaps",
    ),
    "all gaps filled": (
        chosen_by(lambda x_t, how_many, order: x_t == MASK),
        "How many gaps may one call fill",
    ),
    "one too many": (
        chosen_by(lambda x_t, how_many, order: choose(x_t, how_many + 1, order)),
        "How many gaps may one call fill",
    ),
    "visible places take a turn": (
        chosen_by(lambda x_t, how_many, order: ranked(order, x_t, how_many)),
        "takes a gap's turn",
    ),
    "visible places first": (
        chosen_by(
            lambda x_t, how_many, order: ranked(
                torch.where(x_t == MASK, order, -1.0), x_t, how_many
            )
        ),
        "takes a gap's turn",
    ),
    "ranked in the whole batch": (chosen_by(ranked_in_the_batch), "along which axis do you sort"),
    "one gap only": (
        chosen_by(lambda x_t, how_many, order: choose(x_t, 1, order)),
        "reads `how_many`",
    ),
    "nothing filled": (
        chosen_by(lambda x_t, how_many, order: choose(x_t, 0, order)),
        "reads `how_many`",
    ),
    "largest first": (
        chosen_by(lambda x_t, how_many, order: choose(x_t, how_many, 1 - order)),
        "Which way does your sort go",
    ),
    "sorted once": (
        chosen_by(
            lambda x_t, how_many, order: (
                (x_t == MASK) & (torch.where(x_t == MASK, order, 2.0).argsort(-1) < how_many)
            )
        ),
        "Sort what again",
    ),
    "from the left": (
        chosen_by(
            lambda x_t, how_many, order: (x_t == MASK) & ((x_t == MASK).cumsum(-1) <= how_many)
        ),
        "in each text for itself",
    ),
    "places by the other numbers": (
        lambda model, x_t, t, how_many, order, uniform: torch.where(
            choose(x_t, how_many, uniform), draw(model, x_t, t, uniform), x_t
        ),
        "in each text for itself",
    ),
    "surest letter": (
        drawn_by(lambda model, x_t, t, order, u: model(x_t, t).argmax(-1)),
        "Where does your code read `uniform`",
    ),
    "numbers exchanged": (
        drawn_by(lambda model, x_t, t, order, u: draw(model, x_t, t, order)),
        "which is for places, which for letters",
    ),
    "level zero": (
        drawn_by(lambda model, x_t, t, order, u: draw(model, x_t, torch.zeros_like(t), u)),
        "do you hand on yours",
    ),
    "level turned around": (
        drawn_by(lambda model, x_t, t, order, u: draw(model, x_t, 1 - t, u)),
        "do you hand on yours",
    ),
    "from the end": (
        drawn_by(lambda model, x_t, t, order, u: draw(model, x_t, t, 1 - u)),
        "from its start",
    ),
    "letters counted from 0": (
        drawn_by(lambda model, x_t, t, order, u: draw(model, x_t, t, u) - 2),
        "How many sums are not above",
    ),
    "one too low": (
        drawn_by(lambda model, x_t, t, order, u: draw(model, x_t, t, u) - 1),
        "How many sums are not above",
    ),
    "one too high": (
        drawn_by(lambda model, x_t, t, order, u: draw(model, x_t, t, u) + 1),
        "How many sums are not above",
    ),
    "logarithms added": (
        drawn_by(
            lambda model, x_t, t, order, u: (model(x_t, t).cumsum(-1) <= u[..., None]).sum(-1)
        ),
        "returns logarithms",
    ),
    "not added up": (
        drawn_by(lambda model, x_t, t, order, u: (model(x_t, t).exp() <= u[..., None]).sum(-1)),
        "returns logarithms",
    ),
    "added along the places": (
        drawn_by(
            lambda model, x_t, t, order, u: (model(x_t, t).exp().cumsum(1) <= u[..., None]).sum(-1)
        ),
        "holds the chances of one gap",
    ),
    "one number for a text": (
        drawn_by(lambda model, x_t, t, order, u: draw(model, x_t, t, u[:, :1].expand_as(u))),
        "Which ID is it",
    ),
    "asks again after each": (one_after_the_other, "Which ID is it"),
    "four texts at least": (
        lambda model, x_t, *rest: step(model, x_t, *rest) if len(x_t) > 3 else x_t + 0,
        "how many texts there are",
    ),
    "filled in place": (step_in_place, "the one that you are given"),
}

RIGHT = {
    "padding-mask": MASKS,
    "encoder-block": BLOCKS,
    "masked-loss": LOSSES,
    "unmask-step": STEPS,
}
WRONG = {
    "padding-mask": WRONG_MASKS,
    "encoder-block": WRONG_BLOCKS,
    "masked-loss": WRONG_LOSSES,
    "unmask-step": WRONG_STEPS,
}


@pytest.mark.parametrize(
    ("exercise", "given"), [(name, given) for name, many in RIGHT.items() for given in many]
)
def test_right_answers_in_every_form_are_right(exercise, given):
    verdict = judge(exercise, given)
    assert verdict.state == "right", verdict.message


@pytest.mark.parametrize(
    ("exercise", "name"), [(exercise, name) for exercise, table in WRONG.items() for name in table]
)
def test_wrong_answers_get_a_fitting_question(exercise, name):
    assert_wrong(exercise, *WRONG[exercise][name])


@pytest.mark.parametrize("exercise", answers(4))
def test_the_printed_solution_is_right(exercise):
    names = dict(NAMES)
    exec(solutions(4)[exercise], names)
    assert_right(exercise, names[answers(4)[exercise]])


def test_the_lessons_own_parts_pass_its_checks():
    names = run_cells(
        4, *RECORD.before_solutions, "block", "inputs", "model", "corrupt", "own-loss"
    )
    for exercise, name in {
        "padding-mask": "padding_mask",
        "encoder-block": "EncoderBlock",
        "masked-loss": "masked_loss",
    }.items():
        verdict = judge(exercise, names[name])
        assert verdict.state == "right", verdict.message


def test_the_checker_and_the_lesson_name_padding_and_gaps_alike():
    assert (NAMES["PAD"], NAMES["MASK"]) == (denoiser.PAD, denoiser.MASK)


# ------------------------------------------------------------------ what each must refuses
# For each must of an exercise, in order, an answer that it alone refuses: the name of one of the
# known ones above, or the answer itself.
REFUSED = {
    "padding-mask": ["whole numbers", "nothing", "written into the IDs"],
    "encoder-block": ["attention halved", "in place"],
    "masked-loss": ["one more level", "cut off", "hidden changed"],
    "unmask-step": [
        "fractions",
        "one number for a text",
        "four texts at least",
        "filled in place",
    ],
}
