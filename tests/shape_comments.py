"""Runs the lines of a lesson whose comments tell a shape, `# [batch, tokens, d_model]`."""

import ast
import contextlib
import io
import re
import tokenize
from unittest import mock

from lessons import cells, few_steps, lesson, record, source, torch_settings_kept

from helpers import figures


def told(code):
    """The shapes that the comments of each line tell, as lists of axes."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    comments = {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT}
    return {
        line: [axes.split(", ") for axes in re.findall(r"\[([^\]]+)\]", comment)]
        for line, comment in comments.items()
        if comment.startswith("# [")
    }


class Checks(ast.NodeTransformer):
    """Adds a check after each assignment, and around each returned value, with such a comment."""

    def __init__(self, code):
        self.told = told(code)

    def visit_Module(self, node):
        self.generic_visit(node)
        node.body.insert(0, *ast.parse("_sizes = {}").body)
        return node

    visit_FunctionDef = visit_For = visit_Module  # a call and a turn of a loop have their own sizes

    def visit_Assign(self, node):
        inside = [part for target in node.targets for part in ast.walk(target)]
        names = [n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        values = ", ".join(name for name in names if name != "_")
        shapes = self.told.get(node.end_lineno)
        if not shapes or not values:
            return node
        return [node, *ast.parse(f"_check(({values}), {shapes}, _sizes)").body]

    def visit_Return(self, node):
        if shapes := self.told.get(node.end_lineno):
            call = ast.parse(f"_check(None, {shapes}, _sizes)", mode="eval").body
            call.args[0], node.value = node.value, call
        return node


def check(values, shapes, sizes):
    """The values themselves, once each has its shape; one shape may serve for all of them."""
    several = values if isinstance(values, list | tuple) else [values]
    if len(shapes) == 1:
        for value in several:
            check_one(value, shapes[0], dict(sizes) if len(several) > 1 else sizes)
    else:
        for value, axes in zip(several, shapes, strict=True):
            check_one(value, axes, sizes)
    return values


def check_one(value, axes, sizes):
    if axes[0] == "...":
        axes = axes[1:]
        value = value[(0,) * (value.dim() - len(axes))]
    assert len(axes) == value.dim(), f"[{', '.join(axes)}] is {tuple(value.shape)}"
    for axis, size in zip(axes, value.shape, strict=True):
        try:
            expected = eval(axis, {}, sizes)  # a name that was told before, or a small sum of such
        except (NameError, SyntaxError):
            expected = sizes[axis] = size
        assert size == expected, f"[{', '.join(axes)}]: {axis} is {size}, not {expected}"


def false_comments(number):
    """What the comments of a lesson say wrongly of shapes, by cell; figures are not drawn."""
    undrawn = dict.fromkeys(figures.__all__, mock.DEFAULT)
    names, found = {"_check": check}, {}
    quiet = contextlib.redirect_stdout(io.StringIO())
    with mock.patch.multiple(figures, **undrawn), quiet, torch_settings_kept():
        for cell in cells(lesson(number), "code")[1:]:
            if cell["id"] in record(number).not_run_for_shapes:
                continue
            tree = Checks(few_steps(source(cell))).visit(ast.parse(few_steps(source(cell))))
            code = compile(ast.fix_missing_locations(tree), cell["id"], "exec")
            try:
                exec(code, names)
            except AssertionError as error:
                found[cell["id"]] = str(error)
    return found
