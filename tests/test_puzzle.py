"""The puzzle's rule, its sentences, and what `read` says at the door."""

import re
from collections import Counter
from itertools import permutations

import pytest

from helpers.puzzle import WORDS, orderings, read, rule, sentences

OPPOSITE = {
    "swap-flight": "keep-flight",
    "keep-flight": "swap-flight",
    "swap-speech": "keep-speech",
    "keep-speech": "swap-speech",
}
PUBLISHED = {
    "Human disobeys keep-flight disobeys swap-speech he-is?": "Flying superhero",
    "Crow disobeys keep-flight swap-speech he-is?": "Human",
    "Crow keep-flight disobeys swap-speech he-is?": "Crow",
    "Crow disobeys keep-flight disobeys swap-speech he-is?": "Rock",
}


@pytest.mark.parametrize("text", PUBLISHED)
def test_the_published_sentences_get_the_published_answers(text):
    assert rule(read(text)) == PUBLISHED[text]


def test_a_disobeyed_action_is_its_opposite_and_nothing_else_changes():
    for words in sentences() + orderings()[::7]:
        for i, word in enumerate(words[:-1]):
            if word == "disobeys" and words[i - 1] != "disobeys":
                after = OPPOSITE.get(words[i + 1], words[i + 1])
                assert rule(words) == rule((*words[:i], after, *words[i + 2 :])), words


def test_keep_changes_nothing_and_swap_changes_one_ability():
    assert rule(["Crow", "keep-flight", "keep-speech", "he-is?"]) == "Crow"
    assert rule(["Crow", "swap-flight", "he-is?"]) == "Rock"
    assert rule(["Crow", "swap-speech", "he-is?"]) == "Flying superhero"
    assert rule(["Crow", "he-is?"]) == "Crow"
    assert rule(["Crow", "swap-flight", "swap-flight", "he-is?"]) == "Crow"


def test_every_sentence_is_there_once():
    every = sentences()
    assert len(set(every)) == len(every) == 128
    assert Counter(map(len, every)) == {4: 32, 5: 64, 6: 32}
    assert set(Counter(map(rule, every)).values()) == {32}
    assert {words[-1] for words in every} == {"he-is?"}


def test_every_order_of_every_bag_is_there_once():
    orders = orderings()
    assert len(set(orders)) == len(orders) == 8064
    bags = Counter(tuple(sorted(words)) for words in orders)
    assert bags.keys() == {tuple(sorted(words)) for words in sentences()}
    bag = ("Rock", "disobeys", "disobeys", "he-is?", "keep-flight", "keep-speech")
    assert bags[bag] == len(set(permutations(bag))) == 360


def test_what_is_read_is_what_was_written():
    for words in sentences() + orderings()[::50]:
        assert read(" ".join(words)) == list(words)
    assert read("  Flying   superhero\n he-is? ") == ["Flying superhero", "he-is?"]


def test_an_answer_can_be_fed_back_in():
    for words in sentences():
        answer = rule(words)
        assert read(f"{answer} he-is?") == [answer, "he-is?"]
        assert rule([answer, "he-is?"]) == answer


REFUSED = {
    "Crow swap-fligt he-is?": "unknown word 'swap-fligt': did you mean 'swap-flight'",
    "crow he-is?": "unknown word 'crow': did you mean 'Crow'",
    "Crow he-is": "unknown word 'he-is': did you mean 'he-is?'",
    "flying  Superhero he-is?": "unknown word 'flying Superhero': did you mean 'Flying superhero'",
    "Flying superheroes he-is?": "unknown word 'Flying superheroes': did you mean 'Flying supe",
    "keep he-is?": "unknown word 'keep': the words are Rock, Human, Crow, Flying superhero, swap",
    "Crow obeys he-is?": "unknown word 'obeys': the words are",
    "the Crow he-is?": "unknown word 'the': the words are",
    "1234 he-is?": "unknown word '1234': the words are Rock, Human, Crow, Flying superhero, swap",
    "": "no question: end with 'he-is?'",
    "Crow swap-flight": "no question: end with 'he-is?'",
    "Crow he-is? he-is?": "2 questions: keep one 'he-is?'",
    "he-is?": "no object: name one of Rock, Human, Crow, Flying superhero",
    "Rock Crow he-is?": "2 objects, Rock and Crow: keep one",
    "Crow keep-flight swap-flight he-is?": "two flight actions, keep-flight and swap-flight: keep",
    "Crow swap-speech swap-speech he-is?": "two speech actions, swap-speech and swap-speech",
    "Crow disobeys disobeys he-is?": "2 'disobeys' for 0 actions: leave out all but 1;",
    "disobeys disobeys disobeys Crow keep-flight he-is?": "3 'disobeys' for 1 actions: leave out "
    "all but 2;",
    "Crow disobeys disobeys disobeys swap-flight keep-speech he-is?": "7 words: there are",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_in_the_language_is_refused_with_what_to_do(text):
    with pytest.raises(ValueError, match=rf"{re.escape(REFUSED[text])}.*{re.escape(repr(text))}"):
        read(text)


def test_all_ten_words_are_used():
    assert {word for words in sentences() for word in words} == set(WORDS)
    assert len(WORDS) == 10


def test_what_is_no_sentence_is_told():
    with pytest.raises(ValueError, match="a sentence is text in quotes, not None"):
        read(None)
    with pytest.raises(ValueError, match=r"rule takes the words: rule\(read\('Crow he-is\?'\)\)"):
        rule("Crow he-is?")
    with pytest.raises(ValueError, match="2 objects in"):
        rule(["Rock", "Crow", "he-is?"])
    assert rule(iter(["Crow", "swap-flight", "he-is?"])) == "Rock"
