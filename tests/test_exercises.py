"""The exercise engine and the two doors to it, `check` and `judge`."""

import functools
import html
import importlib
import linecache
import random
import re
import sys
import warnings

import numpy as np
import pytest
import torch
from lessons import FINDINGS, lesson, load, solutions, source
from states import right_answers, wrong_answers
from test_figures import contrast

import helpers
from helpers import hints, verdict_look
from helpers.checks import attention, disobeys, inputs
from helpers.exercises import Exercise, Verdict, shorten
from helpers.puzzle import read, rule


def twice(answer):
    return None if answer(2) == 4 else f"2 becomes {answer(2)}"


@pytest.fixture
def exercise():
    made = Exercise("Doubling is understood.", "a function", attempt=lambda f: f(1))
    made.hint("What is twice 2?")(twice)
    made.must("What is twice 3?")(lambda f: None if f(3) == 6 else f"3 becomes {f(3)}")
    return made


def stub_raising(x):
    raise NotImplementedError


@pytest.mark.parametrize(
    "answer", [None, ..., lambda x: None, lambda x: ..., lambda x: NotImplemented, stub_raising]
)
def test_an_untouched_stub_is_not_attempted(exercise, answer):
    assert exercise.judge(answer).state == "not attempted"


def returns_nothing(x):
    y = x + x  # noqa: F841


def prints(x):
    print(x + x)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            returns_nothing,
            "returns_nothing returns None\nAsk yourself: Which line hands the result",
        ),
        (prints, "prints prints, and returns None\nAsk yourself: Can anybody compute with what"),
        (lambda x: (None, [None]) if x else 0, "<lambda> returns None"),
    ],
)
def test_work_without_a_result_is_told_as_such(exercise, answer, told):
    verdict = exercise.judge(answer)
    assert verdict.state == "wrong"
    assert verdict.message.startswith(told)


CELL = """def answer(x):
    if x < 2:
        return x
    return helper(x)


def helper(x):
    return 1 / (x - x)
"""


def test_the_line_of_the_cell_that_stops_is_told(monkeypatch):
    monkeypatch.setitem(linecache.cache, "cell", (len(CELL), None, CELL.splitlines(True), "cell"))
    names = {"__name__": "__main__"}
    exec(compile(CELL, "cell", "exec"), names)
    told = helpers.judge("future-mask", names["answer"]).message
    assert told.startswith(
        "your code stops in line 8, `return 1 / (x - x)`, with ZeroDivisionError"
    )
    exec(compile("def helper(x):\n    raise ValueError('elsewhere')", "another", "exec"), names)
    told = helpers.judge("future-mask", names["answer"]).message
    assert told.startswith("your code stops in line 4, `return helper(x)`, with ValueError")
    exec(compile("def answer(x):\n    return x[0]", "unknown", "exec"), names)
    told = helpers.judge("future-mask", names["answer"]).message
    assert told.startswith("your code stops in line 2 with TypeError")


def test_a_right_answer_is_told_why_it_matters(exercise):
    assert exercise.judge(lambda x: x + x) == Verdict("right", "Doubling is understood.")


def test_a_hint_that_finds_something_in_a_right_answer_costs_nothing(exercise):
    verdict = exercise.judge(lambda x: 6 if x == 3 else 0)
    assert verdict == Verdict("right", "Doubling is understood.")


def test_the_first_failing_demand_speaks(exercise):
    verdict = exercise.judge(lambda x: x * x + x)
    assert verdict.state == "wrong"
    assert verdict.message == "2 becomes 6\nAsk yourself: What is twice 2?"
    assert "3 becomes 9\n" in exercise.judge(lambda x: x * x).message


class Unprintable(Exception):
    def __str__(self):
        raise ValueError("first")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("first\nsecond"), "ValueError: first"),
        (SystemExit("first"), "SystemExit: first"),
        (KeyError("first"), "KeyError: 'first'"),
        (Unprintable(), "Unprintable"),
        (GeneratorExit(), "GeneratorExit"),
        (RecursionError(), "RecursionError"),
    ],
)
def test_an_answer_that_raises_is_wrong_and_the_error_is_told(exercise, error, told):
    def answer(x):
        raise error

    verdict = exercise.judge(answer)
    assert verdict.state == "wrong"
    assert f" with {told}\nAsk yourself: " in verdict.message


def test_an_answer_within_itself_is_wrong_and_long_findings_are_cut(exercise):
    endless = []
    endless.append(endless)
    assert exercise.judge(endless).state == "wrong"
    assert len(exercise.judge(lambda x: "y" * 10_000).message) < 400
    assert shorten("y" * 250) == "y" * 250
    assert shorten("y" * 251) == "y" * 248 + " …"


def test_an_answer_runs_under_the_same_conditions_everywhere(exercise):
    seen = []

    def answer(x):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        one = torch.ones(2, 2, requires_grad=True)
        product = one @ one
        seen.append((product.dtype, product.requires_grad, torch.get_num_threads()))
        return x + x

    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.inference_mode(), torch.autocast("cpu"):
            verdict = exercise.judge(answer)
        assert (torch.get_num_threads(), torch.get_default_dtype()) == (2, torch.float64)
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.float32)
    assert verdict.state == "right", verdict.message
    assert set(seen) == {(torch.float32, True, 1)}


def test_an_answer_cannot_print_nor_change_torch_or_what_is_drawn_next(exercise, capfd):
    def answer(x):
        print("debugging")
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.set_num_threads(2)
        for seed in (random.seed, np.random.seed, torch.manual_seed):
            seed(x)
        return x + x

    def drawn():
        return random.random(), np.random.rand(), torch.rand(1).item()

    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(9)
    threads, before = torch.get_num_threads(), drawn()
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(9)
    try:
        with torch.inference_mode():
            assert exercise.judge(answer).state == "right"
        assert (torch.get_default_dtype(), torch.get_num_threads()) == (torch.float32, threads)
        assert torch.empty(0).device.type == "cpu"
        assert drawn() == before
        assert capfd.readouterr() == ("", "")
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)


def test_the_learners_default_device_does_not_matter_and_stays(exercise):
    torch.set_default_device("meta")
    try:
        assert exercise.judge(lambda x: x + torch.full((), x)).state == "right"
        assert torch.empty(0).device.type == "meta"
        assert exercise.judge(lambda x: torch.set_default_device("cpu") or x + x).state == "right"
        assert torch.empty(0).device.type == "meta"
    finally:
        torch.set_default_device(None)


def test_what_is_set_before_the_first_check_changes_no_verdict(monkeypatch):
    right = {k: v for number in helpers.LESSONS for k, v in right_answers(number).items()}
    told = {k: (v, helpers.judge(k, v)) for k, v in wrong_answers(right).items()}
    for module in [name for name in sys.modules if name.split(".")[0] == "helpers"]:
        monkeypatch.delitem(sys.modules, module)
    for layer in (torch.nn.Linear, torch.nn.Embedding):
        zeros = functools.partialmethod(lambda layer: torch.nn.init.zeros_(layer.weight))
        monkeypatch.setattr(layer, "reset_parameters", zeros)
    torch.set_default_dtype(torch.float16)
    torch.set_default_device("meta")
    try:
        judge = importlib.import_module("helpers").judge
        verdicts = {k: judge(k, v) for k, v in right.items()}
        again = {k: judge(k, v).message for k, (v, _) in told.items()}
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
    assert {k: v.message for k, v in verdicts.items() if v.state != "right"} == {}
    assert again == {k: verdict.message for k, (_, verdict) in told.items()}


def test_a_missing_kernel_is_not_taken_for_a_stub(exercise):
    verdict = exercise.judge(lambda x: torch.tensor([x]).softmax(-1))
    assert verdict.state == "wrong"
    assert "not implemented for 'Long'" in verdict.message


UNREADABLE = [
    ("future-mask", [0, 1], "you hand in a list of 2 (int, int)"),
    ("future-mask", "triu", "you hand in a str"),
    ("count-parameters", 256, "you hand in an int"),
    ("layer", torch.nn.Linear, "you hand in the class Linear"),
    ("midpoint", lambda low: low, "takes 1 positional argument but 2 were given"),
    ("midpoint", lambda low, high: ["low", "high"], "you return a list of 2 (str, str)"),
    ("three-terms", lambda parts, x, t: (None, t, x), "return a tuple of 3 (NoneType, Tensor,"),
    ("sinusoidal", lambda length, d: (length, d), "you return a tuple of 2 (int, int)"),
    ("sinusoidal", functools.partial(max, key=str), "you return an int"),
    ("sinusoidal", lambda length, d: np.zeros((length, d)), "you return a ndarray"),
    ("sdpa-mask", lambda mask: (row for row in mask), "you return a generator"),
    ("peek-test", lambda model: True, "takes 1 positional argument but 2 were given"),
    ("layer", lambda X, heads: X.to_sparse(), "torch.sparse_coo, cpu)"),
    ("layer", lambda X, heads: torch.nested.nested_tensor([X[0], X[0, :1]]), "a tensor (nested,"),
    ("parity", (torch.eye(22).to_sparse(),) * 3, "you hand in a tuple of 3 (Tensor, Tensor,"),
    ("six-bits", dict.fromkeys(("flight", "speech"), torch.eye(3).to_sparse()), "in a dict"),
]


@pytest.mark.parametrize(("name", "answer", "told"), UNREADABLE)
def test_what_the_checker_cannot_read_is_not_told_as_an_error_in_the_answer(name, answer, told):
    verdict = helpers.judge(name, answer)
    finding, question = verdict.message.split("\nAsk yourself: ")
    assert verdict.state == "wrong"
    assert told in finding
    assert question.startswith("The exercise wants ")


def makes_rows_that_do_not_fit(n):
    return torch.ones(n) @ torch.ones(n + 1)


def test_an_error_within_torch_is_told_as_the_learners_when_their_line_called_it():
    message = helpers.judge("future-mask", makes_rows_that_do_not_fit).message
    line = "return torch.ones(n) @ torch.ones(n + 1)"
    assert re.match(
        rf"your code stops in line \d+, `{re.escape(line)}`, with RuntimeError: ", message
    )


class NoAttributes(torch.nn.Module):
    def __init__(self, *sizes):
        super().__init__()


@pytest.mark.parametrize("name", ["denoiser-inputs", "causal-attention"])
def test_a_class_that_the_checker_cannot_use_is_told_without_blaming_a_line(name):
    told = "using it stops with AttributeError: 'NoAttributes'"
    assert told in helpers.judge(name, NoAttributes).message


NONE_LEFT = "none left; the solution is folded under the exercise"


def test_hints_come_one_by_one_and_say_how_many_are_left(capsys, monkeypatch):
    monkeypatch.setattr(helpers, "_hints_told", {})
    titles = [title for title, _ in hints.hints_of(2, "2.4")]
    assert all(titles)
    for _ in range(3):
        helpers.hint("causal-attention")
    helpers.hint("patch")
    told = [line for line in capsys.readouterr().out.splitlines() if line[0] != " "]
    assert told == [
        f"2.4 causal-attention: hint 1 of 2 ({titles[0]}), 1 left",
        f"2.4 causal-attention: hint 2 of 2 ({titles[1]}), {NONE_LEFT}",
        f"2.4 causal-attention: hint 2 of 2 ({titles[1]}), {NONE_LEFT}",
        f"3.8 patch: hint 1 of 1, {NONE_LEFT}",
    ]


def test_a_hint_is_what_is_folded_under_its_own_exercise(capsys, monkeypatch):
    monkeypatch.setattr(helpers, "_hints_told", {})
    helpers.hint("causal-attention")
    told = " ".join(capsys.readouterr().out.split())
    assert told.endswith("5 corner, and `masked_fill` wants booleans.")


@pytest.mark.parametrize("number", helpers.LESSONS)
def test_no_hint_tells_its_solution(number):
    for name, exercise in helpers._numbers(number).items():
        told = " ".join(text for _, text in hints.hints_of(number, exercise))
        steps = [line.strip() for line in solutions(number)[name].splitlines()]
        assert not [step for step in steps if len(step) > 12 and step in told], name


def test_a_line_is_not_broken_within_a_word_of_the_puzzle():
    assert "keep-flight" in verdict_look.wrapped(70 * "x" + " keep-flight")


def test_a_hint_that_is_not_there_is_told(monkeypatch, tmp_path):
    with pytest.raises(KeyError, match=r"no exercise is called 'patches'; there are: .*patch"):
        helpers.hint("patches")
    monkeypatch.setattr(hints, "NOTEBOOKS", tmp_path)
    with pytest.raises(ValueError, match=r"no notebook of lesson 3 in .* has a hint for 3\.8"):
        helpers.hint("patch")


@pytest.fixture
def three_exercises(monkeypatch):
    """A lesson of three exercises, none of them checked so far."""
    lessons = {2: ("attention", ["clinic", "future-mask", "peek-test"])}
    monkeypatch.setattr(helpers, "LESSONS", lessons)
    monkeypatch.setattr(helpers, "_states", {})


def test_the_tally_counts_and_names_the_next(capsys, monkeypatch, three_exercises):
    def told(*right, wrong=()):
        monkeypatch.setattr(helpers, "_states", dict.fromkeys(right, "right"))
        helpers._states.update(dict.fromkeys(wrong, "wrong"))
        helpers.tally(2)
        return capsys.readouterr().out

    assert told() == "○○○ 0 of 3 done; next: 2.1 clinic\n"
    assert told("future-mask") == "○✓○ 1 of 3 done; next: 2.1 clinic\n"
    one_wrong = "✓✗○ 1 of 3 done; next: 2.2 future-mask\n"
    assert told("clinic", "parity", wrong=["future-mask"]) == one_wrong
    assert told("clinic", "future-mask", "peek-test").startswith("✓✓✓ all 3 done: ")


def test_check_prints_sign_number_verdict_message_and_progress(capsys, three_exercises):
    for answer in (None, lambda n: torch.ones(n, n).triu(0), lambda n: torch.ones(n, n).triu(1)):
        assert helpers.check("future-mask", answer) is None
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "○ 2.2 future-mask: not attempted",
        "    nothing is filled in yet",
        "✗ 2.2 future-mask: wrong",
        "    5 of 5 tokens are hidden from themselves",
        "",
        "    Ask yourself: May a token look at itself? Where in the matrix does it do so?",
        "✓ 2.2 future-mask: right",
        "    Ones mark exactly the future, for any length: that is all a causal mask",
        "    says.",
        "    ○✓○ 1 of 3 done; next: 2.1 clinic",
    ]


def test_long_messages_are_wrapped_at_words(capsys):
    helpers.check("denoiser-inputs", lambda x: "y" * 70 + " " + "z" * 70)
    told = capsys.readouterr().out.splitlines()
    assert max(map(len, told)) <= verdict_look.WIDTH
    assert all(line.startswith("    ") for line in told[1:] if line)


class Notebook:
    kernel = True


def test_in_a_notebook_a_verdict_is_html_with_its_text_as_a_twin(monkeypatch, three_exercises):
    shown = []
    monkeypatch.setattr("IPython.get_ipython", Notebook)
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    helpers.check("future-mask", lambda n: torch.ones(n, n).triu(1))
    ((text, page),) = ((data["text/plain"], data["text/html"]) for data in shown)
    assert text.startswith("✓ 2.2 future-mask: right\n    Ones mark exactly the future")
    words = html.unescape(re.sub(r"<[^>]+>", "", page)).split()
    assert words == text.split()
    assert "○✓○ 1 of 3 done; next: 2.1 clinic</p>" in page


def test_in_html_code_is_code_and_signs_of_the_answer_are_no_tags():
    page = verdict_look.as_html("wrong", "1.1 it", "in `a < b` & <b>\nAsk yourself: Why?", "")
    assert ">a &lt; b</code> &amp; &lt;b&gt;</p>" in page
    assert "<strong>Ask yourself:</strong> Why?</p>" in page


@pytest.mark.parametrize("state", verdict_look.COLORS)
def test_the_colors_of_a_verdict_stand_out_from_its_background(state):
    _, background, heading = verdict_look.COLORS[state]
    for ink in (verdict_look.INK, heading):
        assert contrast(rgb(ink), rgb(background)) >= 4.5


def rgb(color):
    return [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]


@pytest.mark.parametrize("door", [helpers.check, helpers.judge])
def test_an_unknown_name_names_the_known_ones(door):
    with pytest.raises(KeyError, match=r"'casual-attention'.*causal-attention"):
        door("casual-attention", None)


BATCH, LENGTH, D_MODEL = inputs.SHAPES["sum"][0]
TEXTS, TOKENS, D_OUT = attention.SHAPES["queries"][0]
STATED = [
    (1, "three-shapes-text", f"{BATCH} texts with {LENGTH} places each, and `d_model` = {D_MODEL}"),
    (2, "forecast-text", f"A batch of shape {TEXTS} \u00d7 {TOKENS} \u00d7 5 goes in"),
    (2, "forecast-text", f"the layer has `d_out` = {D_OUT}."),
    (3, "previous-head-text", f"at least {disobeys.SHARP} of the attention"),
    (3, "flight-text", f"must get at least {disobeys.SHARP} of the attention"),
    (3, "six-bits-text", f"`{disobeys._SIX}` Which six bits"),
    (3, "patch-after", f"`{disobeys._PATCHED}` is {rule(read(disobeys._PATCHED))}."),
]


@pytest.mark.parametrize(("number", "cell", "words"), STATED)
def test_an_exercise_states_what_its_checker_expects(number, cell, words):
    (text,) = (source(c) for c in lesson(number)["cells"] if c["id"] == cell)
    assert words in text


@pytest.mark.parametrize("number", helpers.LESSONS)
def test_each_question_is_asked_of_some_known_wrong_answer(number):
    messages = [message for told in load(FINDINGS).values() for message in told.values()]
    asked = {message.split("\nAsk yourself: ")[-1] for message in messages}
    for name in helpers.LESSONS[number][1]:
        questions = [demand.question for demand in helpers._exercise(name).demands]
        unasked = [question for question in questions if question not in asked]
        assert unasked == [], f"nothing in findings.json asks these, of {name}"


def test_each_stored_finding_is_told_of_an_answer_that_is_still_tried(request):
    items = request.session.items
    files = {f"test_checks_{checks}.py" for checks, _ in helpers.LESSONS.values()}
    if request.config.option.keyword or not files <= {item.path.name for item in items}:
        pytest.skip("only a run of all tests collects every known answer")
    tried = {item.callspec.id for item in items if hasattr(item, "callspec")}
    stored = {answer for told in load(FINDINGS).values() for answer in told}
    assert stored - tried == set(), "no test hands these in: take them out of findings.json"


def test_an_unknown_lesson_names_the_known_ones():
    with pytest.raises(KeyError, match=r"lesson 77.*\[1, 2, 3"):
        helpers.tally(77)


def test_a_check_loads_its_own_lesson_and_no_other(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("helpers.checks.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "helpers.checks.inputs", None)  # to import it is an error now
    assert helpers.judge("future-mask", None).state == "not attempted"
    assert "helpers.checks.disobeys" not in sys.modules
