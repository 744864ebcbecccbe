"""What the lessons' checkers share: words for gaps, for values, and for tests of models."""

import numpy as np
import pytest
import torch

from helpers.checks.common import differs, how_far, no_truth_value, too_few_runs


@pytest.mark.parametrize(
    ("gap", "told"),
    [
        (1.006, "is off by up to 1.01"),
        (0.014, "is off by up to 0.01"),
        (0.0061, "is off by up to 0.006"),
        (0.0004, "is off by up to 0.0004"),
        (torch.nan, "is not finite"),
        (torch.inf, "is not finite"),
    ],
)
def test_a_gap_is_never_told_as_nothing(gap, told):
    assert how_far(torch.tensor([0.0, -gap]), torch.zeros(2)) == told


def test_dtypes_may_differ_where_numbers_and_shapes_may_not():
    ones = torch.ones(2)
    assert not differs(ones.double(), ones)
    assert not differs(ones.int(), ones)
    assert differs(ones.double() + 0.01, ones)
    assert differs(ones.double()[None], ones)


@pytest.mark.parametrize("value", [True, False, 0, 1.0, np.bool_(True), torch.tensor([0])])
def test_what_equals_true_or_false_is_one_of_them(value):
    assert no_truth_value(value) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "None, not True or False"),
        ("1", "'1', not True or False"),
        (2, "2, not True or False"),
        (torch.nan, "nan, not True or False"),
        ([True], "[True], not True or False"),
        (torch.ones(99), "a tensor (shape (99,), torch.float32, cpu), not True or False"),
    ],
)
def test_what_is_neither_is_told_as_what_it_is(value, told):
    assert no_truth_value(value) == told


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        (0, "your test says so without running the model"),
        (1, "your test runs the model once"),
        (2, None),
    ],
)
def test_the_runs_of_a_lent_model_are_counted(runs, told):
    model = torch.nn.Identity()
    assert (
        too_few_runs(lambda lent, x: [lent(x) for _ in range(runs)], model, torch.ones(1)) == told
    )
