"""Each must earns its place: it refuses an answer that no other must of its exercise refuses."""

import importlib

import pytest

import helpers
from helpers import exercises

EVERY = [(checks, name) for checks, names in helpers.LESSONS.values() for name in names]


def known_answer(tests, exercise, answer):
    """An answer that is given by its name in one of the tables of wrong answers."""
    if not isinstance(answer, str):
        return answer
    tables = [table for name, table in vars(tests).items() if "WRONG" in name and answer in table]
    rows = [
        row for table in tables for row in [table[answer]] if len(row) == 2 or row[0] == exercise
    ]
    return rows[0][-2]


@pytest.mark.parametrize(("checks", "name"), EVERY, ids=[name for _, name in EVERY])
def test_each_must_refuses_an_answer_that_no_other_does(checks, name):
    exercise, tests = helpers._exercise(name), importlib.import_module(f"test_checks_{checks}")
    assert name in tests.REFUSED, f"no line for it in REFUSED in {tests.__name__}.py"
    musts = [demand for demand in exercise.demands if demand.decides]
    answers = tests.REFUSED[name]
    assert len(answers) == len(musts), "REFUSED has one answer for each must, in their order"
    for due, answer in zip(musts, answers, strict=True):
        given = known_answer(tests, name, answer)
        exercise.judge(given)  # sets aside what was computed for the answer before
        with exercises._quiet():
            refusing = [demand for demand in musts if exercise._found(demand, given, [])]
        told = [demand.question for demand in refusing]
        assert told == [due.question], f"its answer is for the must that asks: {due.question}"
