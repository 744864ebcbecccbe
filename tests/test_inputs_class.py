"""Lesson 1's `DenoiserInputs`, beyond what the lesson itself shows."""

import pytest
import torch
from lessons import assert_close, run_cells

from helpers.checks.common import seed
from helpers.spies import devices_that_met

DenoiserInputs = run_cells(1, "tools", "vocabulary", "batch", "guards", "parts", "class")[
    "DenoiserInputs"
]


def module(vocab_size=11, max_length=7, d_model=5):
    seed(3)
    return DenoiserInputs(vocab_size, max_length, d_model, pad_id=0)


IDS = torch.tensor([[2, 1, 3, 0], [10, 1, 1, 4], [5, 6, 0, 0]])
LEVELS = torch.tensor([0.25, 1.0, 0.5])


def test_it_is_the_sum_of_three_lookups_written_out():
    model = module()
    h = model(IDS, LEVELS)
    for b in range(3):
        for j in range(4):
            token = model.token_embed.weight[IDS[b, j]]
            level = model.noise_embed.weight[:, 0] * LEVELS[b] + model.noise_embed.bias
            assert_close(h[b, j], token + model.position_embed.weight[j] + level)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("given", [torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("column", [False, True])
def test_levels_in_any_dtype_and_as_a_column_are_converted(dtype, given, column):
    model = module().to(dtype)
    levels = torch.tensor([0, 1, 1]).to(given)
    h = model(IDS, levels.reshape(3, 1) if column else levels)
    assert h.dtype == dtype
    assert torch.equal(h, model(IDS, levels.to(dtype)))


@pytest.mark.parametrize(
    ("ids", "levels", "told"),
    [
        (IDS.float(), LEVELS, r"torch.float32.*use x_t.long\(\)"),
        (IDS + 1, LEVELS, r"the ID 11.*0 to 10.*check the vocabulary"),
        (IDS - 1, LEVELS, r"the ID -1.*0 to 10.*check the vocabulary"),
        (IDS[0], LEVELS, r"shape \(4,\).*unsqueeze"),
        (IDS[None], LEVELS, r"shape \(1, 3, 4\)"),
        (IDS.repeat(1, 2), LEVELS, r"length 8.*max_length is 7.*cut"),
        (IDS, LEVELS[:2], r"shape \(2,\).*3 texts.*shape \(3,\)"),
        (IDS, LEVELS[:1], r"shape \(1,\).*3 texts"),
        (IDS, torch.tensor(0.5), r"shape \(\).*3 texts"),
        (IDS, LEVELS.expand(3, 3), r"shape \(3, 3\).*3 texts"),
        (IDS.short(), LEVELS, r"torch.int16.*int64 or int32: use x_t.long\(\)"),
        (IDS, LEVELS / 0, "t holds inf, .*a chance from 0 to 1"),
        (IDS, LEVELS * float("nan"), "t holds nan, .*a chance from 0 to 1"),
        (IDS, LEVELS + 1, r"t holds 1\.\d\d, .*a chance from 0 to 1"),
        (IDS, -LEVELS, r"t holds -0\.\d\d, .*a chance from 0 to 1"),
        (IDS, [0, 2, 0], r"t holds 2\.00, .*a chance from 0 to 1"),
        (IDS, LEVELS + 0j, r"t holds torch.complex64, .*use t\.real"),
    ],
)
def test_bad_input_names_the_value_and_the_fix(ids, levels, told):
    with pytest.raises(ValueError, match=told):
        module()(ids, levels)


def test_everything_made_inside_follows_the_input():
    model = module()
    expected = model(IDS, LEVELS)
    with torch.device("meta"):
        assert torch.equal(model(IDS, LEVELS), expected)
        assert devices_that_met(model, IDS, LEVELS) is None


def test_the_guards_let_tensors_without_data_pass():
    model = module().to("meta")
    model.guard(IDS.to("meta"))
    column = model.level_column(LEVELS.to("meta"), 3, model.token_embed.weight.double())
    assert (column.shape, column.dtype, column.device.type) == ((3, 1), torch.float64, "meta")


def test_padding_keeps_its_zero_row_and_gets_no_gradient():
    model = module()
    assert not model.token_embed.weight[0].any()
    model(IDS, LEVELS).sum().backward()
    assert not model.token_embed.weight.grad[0].any()
    assert model.position_embed.weight.grad[:4].all()


def test_parts_are_those_of_the_promise():
    shapes = {name: tuple(p.shape) for name, p in module().named_parameters()}
    assert shapes == {
        "token_embed.weight": (11, 5),
        "position_embed.weight": (7, 5),
        "noise_embed.weight": (5, 1),
        "noise_embed.bias": (5,),
    }
    assert module().token_embed.padding_idx == 0
    assert module().max_length == 7
