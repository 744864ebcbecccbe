"""The "disobeys" puzzle: its words, its sentences, and its rule in plain Python.

Nothing here knows the transformer of lesson 3: the rule is what the model is measured against.

Source: TechAarvam, "Puzzle Solution Revealed - Transformer: Need for Position Embedding",
https://dev.to/techaarvam/puzzle-solution-revealed-transformer-need-for-position-embedding-3k50
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator, Sequence

OBJECTS = {  # name: (flies, speaks)
    "Rock": (0, 0),
    "Human": (0, 1),
    "Crow": (1, 0),
    "Flying superhero": (1, 1),
}
FLIGHT = {"swap-flight": 1, "keep-flight": 0}  # word: flips the ability
SPEECH = {"swap-speech": 1, "keep-speech": 0}
DISOBEYS = "disobeys"
QUESTION = "he-is?"
WORDS = (*OBJECTS, *FLIGHT, *SPEECH, DISOBEYS, QUESTION)
MAX_WORDS = 6
LIKELY = 0.7  # how alike a word must be to be suggested, from 0 to 1


def rule(words: Sequence[str]) -> str:
    """The right answer: the object that has the abilities the sentence ends with.

    Each action flips its ability if it is a swap, or else if the word right before it is
    `disobeys`, but not if both hold. `words` is a sentence as `read` returns it. Raises
    `ValueError` for text, and unless exactly one word is an object.
    """
    if isinstance(words, str):
        raise ValueError(f"rule takes the words: rule(read({words!r}))")
    words = list(words)
    named = [word for word in words if word in OBJECTS]
    if len(named) != 1:
        raise ValueError(f"{len(named)} objects in {words!r}: the rule needs exactly one")
    flies, speaks = OBJECTS[named[0]]
    for before, word in zip([None, *words], words, strict=False):
        disobeyed = before == DISOBEYS
        if word in FLIGHT:
            flies ^= FLIGHT[word] ^ disobeyed
        if word in SPEECH:
            speaks ^= SPEECH[word] ^ disobeyed
    return next(name for name, abilities in OBJECTS.items() if abilities == (flies, speaks))


def sentences() -> list[tuple[str, ...]]:
    """All 128 sentences: an object, two actions in either order, each disobeyed or not."""
    found = []
    for named, flight, speech in itertools.product(OBJECTS, FLIGHT, SPEECH):
        for first, second in ((flight, speech), (speech, flight)):
            for one, two in itertools.product((0, 1), repeat=2):
                actions = [DISOBEYS] * one + [first] + [DISOBEYS] * two + [second]
                found.append((named, *actions, QUESTION))
    return found


def orderings() -> list[tuple[str, ...]]:
    """Every different order of the words of every sentence: 8,064, most of them odd to read."""
    bags = {tuple(sorted(words)) for words in sentences()}
    return [order for bag in sorted(bags) for order in sorted(set(itertools.permutations(bag)))]


def read(sentence: str) -> list[str]:
    """The words of a sentence, checked against what the model understands.

    Any order is fine, and so is a missing action. Raises `ValueError`, with what to do, for
    an unknown word, for anything but one object and one `he-is?`, for two actions on one
    ability, for more `disobeys` than the model can bear, and for more than six words.
    """
    if not isinstance(sentence, str):
        raise ValueError(f"a sentence is text in quotes, not {sentence!r}")
    words = re.findall(r"flying\s+superhero\S*|\S+", sentence, re.IGNORECASE)
    words = [" ".join(word.split()) for word in words]
    for problem in _problems(words):
        raise ValueError(f"{problem} (in {sentence!r})")
    return words


def _problems(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word not in WORDS:
            yield f"unknown word {word!r}: {_advice(word)}"
    if QUESTION not in words:
        yield f"no question: end with {QUESTION!r}"
    if words.count(QUESTION) > 1:
        yield f"{words.count(QUESTION)} questions: keep one {QUESTION!r}"
    named = [word for word in words if word in OBJECTS]
    if not named:
        yield f"no object: name one of {', '.join(OBJECTS)}"
    if len(named) > 1:
        yield f"{len(named)} objects, {' and '.join(named)}: keep one of them"
    for kind, actions in (("flight", FLIGHT), ("speech", SPEECH)):
        given = [word for word in words if word in actions]
        if len(given) > 1:
            yield f"two {kind} actions, {' and '.join(given)}: keep one of them"
    actions = [word for word in words if word in FLIGHT or word in SPEECH]
    if words.count(DISOBEYS) > len(actions) + 1:
        yield (
            f"{words.count(DISOBEYS)} {DISOBEYS!r} for {len(actions)} actions: leave out all but "
            f"{len(actions) + 1}; with more, the model takes a missing action for a disobeyed one"
        )
    if len(words) > MAX_WORDS:
        yield f"{len(words)} words: there are places for {MAX_WORDS}, leave some out"


def _advice(word: str) -> str:
    def likeness(known: str) -> float:
        return difflib.SequenceMatcher(None, word.lower(), known.lower()).ratio()

    nearest = max(WORDS, key=likeness)
    # "obeys" is much like "disobeys", and is its opposite: a slip seldom hits the first letter.
    if likeness(nearest) > LIKELY and word[0].lower() == nearest[0].lower():
        return f"did you mean {nearest!r}?"
    return f"the words are {', '.join(WORDS)}"
