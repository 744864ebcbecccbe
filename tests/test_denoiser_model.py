"""Lesson 4's denoiser, beyond what the lesson itself shows: facts that hold for every seed."""

import pytest
import torch
from lessons import assert_close, run_cells, torch_settings_kept

CELLS = (
    *("tools", "guess", "words", "encode", "fitting", "exact", "padding", "attention", "parts"),
    *("block", "inputs", "model", "corrupt", "own-loss", "questions", "writings", "judge", "train"),
    *("watch", "views", "limits", "score", "left-mask", "left", "unmask", "write", "without-level"),
)
SEEDS = (1, 2, 3)  # beside the lesson's own, 0
STEPS, COPIES = 80, 2  # a fifth of the lesson's: enough for what is asserted here


@pytest.fixture(scope="module")
def lesson():
    return run_cells(4, *CELLS)


@pytest.fixture(scope="module", autouse=True)
def settings():
    """The lesson's own settings while its functions run here."""
    with torch_settings_kept():
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(1)
        yield


def trained(lesson, seed, **options):
    torch.manual_seed(seed)
    words = lesson["clean"].repeat(COPIES, 1)
    model = lesson["Denoiser"](**options)
    return lesson["train"](model, words, steps=STEPS, loss_of=lesson["steady_loss"])


@pytest.fixture(scope="module", params=SEEDS)
def model(request, lesson):
    return trained(lesson, request.param)


def bits(lesson, model):
    with torch.no_grad():
        return lesson["bits"](model(lesson["asked"], lesson["gap_share"]))


def test_it_needs_both_sides_and_cannot_beat_the_perfect_denoiser(lesson, model):
    assert 4 < bits(lesson, model) < lesson["limits"]["all to the left"]
    assert lesson["singles_right"](model) > 110  # the best possible from the left


def test_letter_by_letter_makes_words_and_all_at_once_does_not(lesson, model):
    for length, most in ((3, 400), (4, 150), (5, 50)):
        gaps = length * "_"
        slow, fast = (
            sum(word in lesson["WORDS"] for word in lesson["write"](model, gaps, k, 1000)[-1])
            for k in (1, length)
        )
        assert slow > fast + 50
        assert fast < most


def test_the_box_does_not_matter(lesson, model):
    level = torch.tensor([0.25])
    narrow, wide = (
        model(torch.tensor([lesson["encode"]("c_t", width)]), level) for width in (3, 6)
    )
    finite = narrow.isfinite()
    assert_close(wide[:, :3][finite], narrow[finite], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_from_the_left_it_stays_at_its_limit(lesson, seed):
    reader = trained(lesson, seed, mask=lesson["left_only"])
    assert lesson["singles_right"](reader) <= 110


@pytest.mark.parametrize("seed", SEEDS)
def test_training_forgets_a_difference_in_the_last_digit(lesson, seed):
    """What makes the printed digits of a training portable: see the room on them."""
    torch.manual_seed(seed)
    models = [lesson["Denoiser"](), lesson["Denoiser"]()]
    models[1].load_state_dict(models[0].state_dict())
    for weights in models[1].parameters():
        weights.data *= 1 + torch.finfo(torch.float64).eps
    chances = []
    for one in models:
        torch.manual_seed(seed)
        lesson["train"](one, lesson["clean"], steps=20)
        with torch.no_grad():
            chances.append(one(lesson["asked"], lesson["gap_share"]).exp())
    assert (chances[0] - chances[1]).abs().max() < 1e-12


def test_perfect_chances_are_those_of_the_words_that_fit(lesson):
    """Once more, by another way: the share of the words at each hidden place."""
    clean, asked, gaps = lesson["clean"], lesson["asked"], lesson["gaps"]
    in_gaps = gaps[:, None] & (clean != lesson["PAD"])  # [questions, words, length]
    fits = ((asked[:, None] == clean) | in_gaps).all(-1).double()  # [questions, words]
    letters = torch.nn.functional.one_hot(clean, len(lesson["vocabulary"])).double()
    counted = torch.einsum("qw,wlv->qlv", fits / fits.sum(-1, keepdim=True), letters)
    assert_close(lesson["perfect"][gaps], counted[gaps])


def test_both_losses_expect_the_same(lesson):
    torch.manual_seed(0)
    words = lesson["clean"].repeat(1000, 1)
    x_t, t = lesson["corrupt"](words)
    one_nat_a_letter = -torch.ones(*words.shape, len(lesson["vocabulary"]))
    given = one_nat_a_letter, words, x_t == lesson["MASK"], t
    assert_close(lesson["steady_loss"](*given), lesson["masked_loss"](*given), rtol=0.02)
