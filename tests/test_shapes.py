"""Tensors in print, the executed shape comments, and the spy."""

import re
import sys
from unittest import mock

import numpy as np
import pytest
import torch

from helpers.checks.devices import MakesOnMeta
from helpers.shapes import Trace, agree, show, show_entries
from helpers.spies import devices_that_met, largest_tensor


def printed(capsys):
    return capsys.readouterr().out.splitlines()


def test_a_kept_promise_and_a_broken_one(capsys):
    trace = Trace(batch=3, tokens=5, d_out=2)
    tensor = torch.zeros(3, 5, 2)
    assert trace("queries", tensor, "batch tokens d_out") is tensor
    trace("turned", tensor, "batch d_out tokens")
    assert printed(capsys) == [
        "name     shape        promised axes",
        "queries  3 x 5 x 2    batch, tokens, d_out",
        "turned   3 x 5 x 2    batch, d_out, tokens  <-- should be 3 x 2 x 5",
    ]


def test_an_unknown_axis_names_the_known_ones():
    with pytest.raises(ValueError, match=r"'width'.*batch, tokens"):
        Trace(batch=3, tokens=5)("x", torch.zeros(3, 5), "batch width")


def test_axes_may_be_written_as_they_are_printed(capsys):
    Trace(batch=0, tokens=5)("x", torch.zeros(0, 5), "batch, tokens")
    assert printed(capsys)[1] == "x        0 x 5        batch, tokens"


@pytest.mark.parametrize("axes", [["batch", "tokens"], ("batch",), None, 2])
def test_axes_that_are_no_text_are_told(axes):
    told = re.escape(f'axes={axes!r} is no text: name them as in "batch tokens d_out"')
    with pytest.raises(ValueError, match=told):
        Trace(batch=3, tokens=5)("x", torch.zeros(3, 5), axes)


@pytest.mark.parametrize("size", ["2", -1, 2.0])
def test_what_is_no_size_is_told(size):
    with pytest.raises(ValueError, match=f"batch={size!r} is no size"):
        Trace(batch=size)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: Trace(tokens=2)("x", x, "tokens"),
        lambda x: show(x=x),
        lambda x: show_entries("x", x),
        lambda x: agree(x, torch.ones(2)),
        lambda x: agree(torch.ones(2), x),
    ],
)
@pytest.mark.parametrize("value", [[1.0, 2.0], np.ones(2), None, "ab"])
def test_what_is_no_tensor_is_told(call, value):
    kind = type(value).__name__
    with pytest.raises(ValueError, match=rf"'(x|the first|the second)' is of type {kind}, not a"):
        call(value)


def test_show_tells_what_it_needs():
    with pytest.raises(ValueError, match=r"show\(weights=weights\)"):
        show(torch.ones(2))
    for decimals in (-1, "2"):
        with pytest.raises(ValueError, match=f"decimals={decimals!r}"):
            show(x=torch.ones(2), decimals=decimals)


def test_show_aligns_rounds_and_never_prints_minus_zero(capsys):
    show(x=torch.tensor([[1.25, -0.00001], [float("-inf"), float("nan")]]), decimals=1)
    assert printed(capsys) == ["x (2 x 2)", "   1.2   0.0", "  -inf   nan"]


def test_a_row_wider_than_the_page_goes_on_indented_below(capsys):
    show(x=torch.arange(30.0), decimals=0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == [str(n) for n in range(19)]
    assert lines[2] == "    " + "  ".join(str(n) for n in range(19, 30))
    assert len(lines) == 3
    assert len(lines[1]) <= 80


def test_show_takes_one_to_three_axes(capsys):
    show(
        row_sums=torch.tensor([1.0, 2.0], requires_grad=True),
        y=torch.arange(4).reshape(2, 1, 2),
        decimals=0,
    )
    show(z=torch.zeros(0, 2))
    assert printed(capsys) == [
        "row sums (2 numbers)",
        "  1  2",
        "",
        "y (2 x 1 x 2)",
        "text 0",
        "  0  1",
        "text 1",
        "  2  3",
        "z (0 x 2)",
    ]
    for shape in ((), (1, 1, 1, 1)):
        with pytest.raises(ValueError, match=f"'t' has {len(shape)} axes"):
            show(t=torch.zeros(shape))


def test_entries_that_are_not_zero_are_named(capsys):
    matrix = torch.tensor([[0.0, 8.0], [0.0, 0.0], [-1.5, 0.0]])
    show_entries("Wq", matrix, ["a", "b", "c"])
    show_entries("Wo", matrix.T, None, ["a", "b", "c"])
    show_entries("nothing", torch.zeros(2, 2))
    assert printed(capsys) == [
        "Wq (3 x 2)",
        "  a [0] -> 1: 8",
        "  c [2] -> 0: -1.5",
        "Wo (2 x 3)",
        "  0 -> c [2]: -1.5",
        "  1 -> a [0]: 8",
        "nothing (2 x 2)",
    ]
    with pytest.raises(ValueError, match="'b1' has 1 axes, not the 2 of a matrix"):
        show_entries("b1", matrix[0])
    with pytest.raises(ValueError, match="2 names for an axis of 3 in 'Wq'"):
        show_entries("Wq", matrix, ["a", "b"])


def test_agree_allows_rounding_and_nothing_else():
    one = torch.tensor([1.0, 2.0])
    assert agree(one, one + 1e-5)
    assert not agree(one, one + torch.tensor([0.0, 3e-5]))
    assert not agree(one, one.expand(3, 2))
    assert agree(1e6 * one, 1e6 * one + 10)
    assert not agree(1e-6 * one, 1e-6 * one + 1e-10)


def test_agree_takes_any_two_tensors():
    one, infinite = torch.tensor([1.0, 2.0]), torch.tensor([float("inf"), 1.0])
    assert agree(one, one.double())
    assert agree(one, torch.tensor([1, 2]))
    assert not agree(one, torch.tensor([1, 3]))
    assert agree(one.bfloat16(), one.clone().requires_grad_())
    assert not agree(one + 1j, one + 0j)
    assert agree(infinite, infinite.clone())
    assert not agree(infinite, -infinite)
    assert not agree(one, infinite)
    assert not agree(one * float("nan"), one * float("nan"))
    assert agree(torch.ones(0, 3), torch.ones(0, 3))


def test_the_spy_sees_the_largest_tensor_and_only_that():
    x = torch.zeros(8, 4)
    assert largest_tensor(lambda: (x @ x.T).sum()) == 8 * 8 * 4
    assert largest_tensor(torch.mm, x.T, x) == 4 * 4 * 4
    assert largest_tensor(lambda: None) == 0
    assert largest_tensor(x.sort, dim=1) == 8 * 4 * 8  # the second of two results: int64
    assert largest_tensor(lambda: torch.sum(x, 1, dtype=torch.float64)) == 8 * 8


def test_the_spies_do_without_torchs_compiler():
    with mock.patch.dict(sys.modules, {"torch._dynamo": None}):  # to import it is an error now
        assert largest_tensor(torch.mm, torch.zeros(2, 2), torch.zeros(2, 2)) == 2 * 2 * 4
        assert devices_that_met(torch.mm, torch.zeros(2, 2), torch.zeros(2, 2)) is None


def test_the_spy_sees_devices_that_meet_where_meta_is_silent():
    table = torch.nn.Embedding(6, 4).to("meta")
    assert devices_that_met(table, torch.arange(4)) == "embedding: cpu meets meta"
    assert devices_that_met(table, torch.arange(4).to("meta")) is None
    assert devices_that_met(table, torch.arange(4, device="meta")) is None
    number = torch.tensor(2.0)  # without axes: moved
    assert devices_that_met(torch.lerp, table.weight, table.weight, number) is None
    parts = [torch.zeros(2), torch.zeros(2, device="meta")]
    assert devices_that_met(torch.cat, parts) == "cat: cpu meets meta"
    assert devices_that_met(torch.cat, tuple(parts)) == "cat: cpu meets meta"


def test_what_is_made_without_a_device_is_seen_where_it_meets():
    x = torch.ones(3)
    forms = {
        "left there": lambda: torch.cat([x, torch.arange(3)]),
        "left there after a move": lambda: torch.cat([torch.arange(3).to("cpu"), torch.arange(3)]),
        "left there after a number": lambda: torch.cat([torch.tensor(2.0) * x, torch.arange(3)]),
        "moved": lambda: torch.cat([x, torch.arange(3).to("cpu", non_blocking=True)]),
        "made with device=": lambda: torch.cat([x, torch.arange(3, device=x.device)]),
        "made like x": lambda: torch.cat([x, torch.zeros_like(x)]),
    }
    with MakesOnMeta():
        met = [form for form, run in forms.items() if devices_that_met(run)]
    assert met == ["left there", "left there after a move", "left there after a number"]


def test_only_what_is_taken_off_meta_arrives_as_zeros_and_in_the_dtype_that_was_asked_for():
    arrived, like = [], torch.ones(2)

    def run():
        arrived.append(torch.arange(3).to(like))
        arrived.append(like.double())
        arrived.append(torch.mm(torch.ones(4, 3), torch.ones(3, 2)))

    with MakesOnMeta():
        assert devices_that_met(run) is None
    taken_off, never_there, still_there = arrived
    assert torch.equal(taken_off, torch.zeros(3))
    assert taken_off.dtype == torch.float32
    assert torch.equal(never_there, torch.ones(2, dtype=torch.float64))
    assert (still_there.shape, still_there.device.type) == ((4, 2), "meta")
