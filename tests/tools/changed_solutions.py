"""What the checkers say of each printed solution with one small change in it.

`mutate.py --helpers` runs this last, on changes of the helpers that no test has noticed. One that
alters no verdict here, to the letter, is not told apart from none by any answer of this kind.
"""

import contextlib
import json
import os
from pathlib import Path

import pytest
import torch
from lessons import answers, record, run_cells, solutions
from mutate import changes

from helpers import LESSONS, judge
from helpers.checks.hand_built import SLOTS


def verdicts(number):
    """What is told of each changed solution of a lesson, in order."""
    names, handed_in = run_cells(number, *record(number).before_solutions), answers(number)
    told = []
    for exercise, solution in solutions(number).items():
        for code in changes(solution, SLOTS if number == 3 else []):
            given = dict(names)
            torch.manual_seed(0)
            with contextlib.suppress(Exception):
                exec(code, given)
            verdict = judge(exercise, given.get(handed_in[exercise]))
            told.append(f"{exercise}, {verdict.state}: {verdict.message}")
    return told


@pytest.mark.parametrize("number", LESSONS)
def test_they_are_judged_as_before(number):
    """The first run, on helpers that are not changed, stores what the others are held against."""
    before, now = Path(os.environ["VERDICTS"], f"{number}.json"), verdicts(number)
    if not before.exists():
        before.write_text(json.dumps(now), encoding="utf-8")
    assert now == json.loads(before.read_text(encoding="utf-8"))
