"""Lesson 3's transformer, beyond what the lesson itself shows."""

import re
from itertools import permutations, product

import pytest
import torch
from lessons import assert_close, transformer

from helpers.checks import hand_built
from helpers.puzzle import FLIGHT, OBJECTS, SPEECH, orderings, read, rule, sentences


@pytest.fixture(scope="module")
def names():
    return transformer()


def heads(names):
    return [names[f"{which}_head"] for which in ("object", "previous", "flight", "speech")]


def test_the_checker_tries_answers_on_the_lessons_own_model(names):
    assert names["SLOTS"] == hand_built.SLOTS
    assert {w: tuple(on.split()) for w, on in names["BITS"].items()} == hand_built.WORD_BITS
    for words in sentences():
        assert torch.equal(names["embed"](names["numbers"](words)), hand_built.embed(words))
    ours = ("OBJECT_HEAD", "PREVIOUS_HEAD", "FLIGHT_HEAD", "SPEECH_HEAD")
    for head, name in zip(heads(names), ours, strict=True):
        for one, other in zip(head, getattr(hand_built, name), strict=True):
            assert torch.equal(one, other), name


def test_the_checkers_model_answers_every_sentence():
    for words in sentences():
        X = hand_built.embed(words)
        X1 = hand_built.add(X, hand_built.OBJECT_HEAD, hand_built.PREVIOUS_HEAD)
        assert hand_built.read_out(X1, words) == OBJECTS[rule(words)], words


@pytest.mark.parametrize(
    "entry",
    [{"pos1": 24.0}, {"pos1": (6, 24.0)}, {"pos1": (0, "x")}, {"pos1": (0,)}, {"pos6": (0, 24.0)}],
)
def test_an_entry_that_does_not_fit_is_told_with_what_does(names, entry):
    ((slot, value),) = entry.items()
    told = r": write slot=\(column, value\), column below 6, slot one of .* pos5, "
    with pytest.raises(ValueError, match=f"{slot}={re.escape(repr(value))}{told}"):
        names["by_slot"](6, **entry)


def test_a_batch_gives_each_sentence_what_it_gets_alone(names):
    some = sentences()[::5] + orderings()[::400]
    together = names["solve"](some)
    for words, found in zip(some, together, strict=True):
        alone = names["transformer"](names["embed"](names["numbers"](words)))
        assert_close(found, alone[words.index("he-is?")], atol=1e-6, rtol=0)


def test_what_stands_in_the_padding_changes_nothing(names):
    ids = names["batch"](sentences())
    padding = ids == names["PAD"]
    X = names["embed"](ids)
    noise = X + padding.unsqueeze(-1) * torch.randn(X.shape, generator=torch.Generator()) * 9
    blocked = padding.unsqueeze(-2)
    before, after = (names["transformer"](stream, blocked) for stream in (X, noise))
    assert torch.equal(before[~padding], after[~padding])
    open_to_all = names["transformer"](noise)
    assert not torch.allclose(before[~padding], open_to_all[~padding], atol=0.1)


def test_sentences_stand_still_when_another_one_in_the_batch_changes(names):
    every = sentences()
    before, after = names["solve"](every[:9]), names["solve"]([*every[:8], every[100]])
    assert torch.equal(before[:8], after[:8])
    assert not torch.equal(before[8], after[8])


@pytest.mark.parametrize(
    "text",
    [
        "Flying superhero disobeys swap-speech keep-flight he-is?",
        "he-is? Rock",
        "disobeys disobeys swap-speech he-is? Human",
    ],
)
def test_explain_names_the_answer_and_the_rules(names, text, capsys):
    names["explain"](text)
    words = names["read"](text)
    assert capsys.readouterr().out.endswith(f"answer: {rule(words)}; by the rule: {rule(words)}\n")


def test_explain_refuses_in_words(names):
    with pytest.raises(ValueError, match="did you mean 'Crow'"):
        names["explain"]("Craw he-is?")


def test_an_output_that_names_nothing_says_so(names):
    assert names["name_things"](torch.tensor([[2.0, 0.0], [-1.0, 1.0], [0.6, 0.4]])) == [
        "nothing known",
        "nothing known",
        "Crow",
    ]


def test_what_read_lets_in_is_answered_rightly(names):
    """Any order of any set of words; what `read` refuses is refused in every order."""
    passed = []
    for bag in bags():
        try:
            read(" ".join(bag))
        except ValueError:
            with pytest.raises(ValueError, match=r"disobeys|words"):
                read(" ".join(reversed(bag)))
        else:
            passed += sorted(set(permutations(bag)))
    right, worst, _ = names["score"](passed, names["solve"](passed))
    assert right == len(passed) > 9000
    assert worst < 0.49


def bags():
    """Every set of words with one object, one question and at most one action of a kind."""
    for thing, flight, speech, count in product(
        OBJECTS, ([], *([word] for word in FLIGHT)), ([], *([word] for word in SPEECH)), range(5)
    ):
        yield [thing, *flight, *speech, *["disobeys"] * count, "he-is?"]
