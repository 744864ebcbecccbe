"""Pictures: what is drawn, what is said about it, and what bad input is told."""

import base64
import importlib.metadata
import io
import re
import subprocess
import sys
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
import torch
from lessons import ROOT
from PIL import Image

from helpers import LESSONS, figures
from helpers.figures import bars as bars_of
from helpers.figures import canvas
from helpers.figures import lines as lines_of

WEIGHTS = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0]])
BLOCKED = torch.tensor([[0, 1, 1], [0, 0, 1]])
LABELS = {"rows": ["a", "b"], "columns": ["x", "y", "z"]}
AXES = {"title": "t", "x_axis": "x", "y_axis": "y"}


@pytest.fixture(scope="module")
def plt_colors():
    """matplotlib's colors, loaded by the worker that draws and not by every other."""
    from matplotlib import colors

    return colors


@pytest.fixture
def shown(monkeypatch):
    """What a figure function hands to the front end: (data, metadata)."""
    calls = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, metadata, raw: calls.append((data, metadata))
    )
    return calls


def opened(shown):
    """The first picture of those that were shown."""
    return Image.open(io.BytesIO(base64.b64decode(shown[0][0]["image/png"])))


@pytest.fixture
def displayed(monkeypatch):
    """Draws with one of our functions and hands back what it would display."""
    calls = []
    monkeypatch.setattr(canvas, "display", lambda *call: calls.append(call))

    def drawn(kind, *args, **kwargs):
        kind(*args, picture="it shows", **kwargs)
        return calls.pop()

    return drawn


@pytest.fixture
def draw(displayed):
    """The axes of what is drawn, for those who look inside."""
    return lambda *call, **kwargs: displayed(*call, **kwargs)[0].axes


@pytest.fixture
def tell(displayed):
    """The numbers that go with what is drawn."""
    return lambda *call, **kwargs: [
        " | ".join(map(str, row)) for row in displayed(*call, **kwargs)[2]
    ]


@pytest.fixture
def heat(draw):
    def drawn(matrices, rows="ab", columns="xyz", **more):
        return draw(figures.heat_map, matrices, rows=[*rows], columns=[*columns], **more)

    return drawn


def test_picture_alt_text_and_numbers_travel_together(shown, capsys):
    figures.heat_map(
        {"weights": WEIGHTS}, picture="it shows", blocked={"weights": BLOCKED}, **LABELS
    )
    ((data, metadata),) = shown
    assert metadata == {"image/png": {"alt": "it shows", "width": canvas.PIXELS_WIDE}}
    assert data["text/plain"].splitlines() == [
        "Figure in numbers",
        "colors from 0.00 to 1.00",
        "weights | x | y | z",
        "a | 1.00 | 0.00 blocked | 0.00 blocked",
        "b | 0.25 | 0.75 | 0.00 blocked",
    ]
    assert capsys.readouterr().out == "Figure: it shows\n"
    picture = opened(shown)
    assert picture.width == canvas.PIXELS_WIDE * canvas.SHARPNESS
    assert picture.info["Software"] == f"matplotlib {importlib.metadata.version('matplotlib')}"


def test_a_lessons_picture_has_its_alt_text_by_name_and_another_is_described_by_you(shown):
    for picture, alt in {"known": "Rising.", "mine": "mine"}.items():
        with mock.patch.dict(canvas.ALT_TEXTS, known="Rising."):
            figures.heat_map({"weights": WEIGHTS}, picture=picture, **LABELS)
        assert shown[-1][1]["image/png"]["alt"] == alt


@pytest.mark.parametrize("number", [0.0, 1.0])
def test_the_background_is_opaque_white_under_light_and_dark_pictures(shown, number):
    figures.heat_map({"all alike": torch.full((2, 3), number)}, picture="it shows", **LABELS)
    assert opened(shown).convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_64_shades_stay_64_shades_in_what_is_stored(shown):
    steps = torch.arange(64.0).reshape(8, 8) / 63
    names = [*"abcdefgh"]
    figures.heat_map({"steps": steps}, picture="it shows", rows=names, columns=names)
    shades = opened(shown).convert("RGB").getcolors()
    colors = {color for count, color in shades if count > 1000}
    assert len(colors) >= 64


def test_every_cell_is_labeled_written_and_hatched_where_blocked(heat):
    (ax,) = heat({"weights": WEIGHTS}, blocked={"weights": BLOCKED})
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("key", "query", "weights")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["x", "y", "z"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
    written = {(t.get_position()[1], t.get_position()[0]): t.get_text() for t in ax.texts}
    assert written == {(0, 0): "1.00", (1, 0): "0.25", (1, 1): "0.75"}
    hatched = {(p.get_y() + 0.5, p.get_x() + 0.5) for p in ax.patches if p.get_hatch()}
    assert hatched == {(0, 1), (0, 2), (1, 2)}
    assert {(p.get_width(), p.get_height()) for p in ax.patches} == {(1, 1)}


def test_a_dropped_cell_is_marked_with_a_cross_in_place_of_its_number(heat):
    dropped = {"weights": torch.tensor([[1, 0, 0], [0, 0, 0]])}
    (ax,) = heat({"weights": WEIGHTS}, dropped=dropped)
    assert [t.get_text() for t in ax.texts] == ["✕", "0.00", "0.00", "0.25", "0.75", "0.00"]


def test_a_dropped_cell_is_told_in_the_twin(tell):
    dropped = {"weights": torch.tensor([[1, 0, 0], [0, 0, 0]])}
    told = tell(figures.heat_map, {"weights": WEIGHTS}, dropped=dropped, **LABELS)
    assert "a | 1.00 dropped | 0.00 | 0.00" in told


def column_lines(ax):
    """The lines of each column's name, from above, which stand outside of the axes."""
    named = [t for t in ax.texts if hasattr(t, "xyann") and t.xycoords[0] == "data"]
    named.sort(key=lambda t: -t.xyann[1])
    return {t.xy[0]: [n.get_text() for n in named if n.xy == t.xy] for t in named}


def test_a_long_label_is_broken_once_and_moves_no_picture_when_its_height_differs(heat):
    (ax,) = heat({"it": WEIGHTS}, columns=["swap-speech-now", "Flying superhero", "he-is?"])
    names = {0: ["swap-", "speech-now"], 1: ["Flying", "superhero"], 2: ["he-is?"]}
    assert column_lines(ax) == names
    assert not any(t.get_in_layout() or "\n" in t.get_text() for t in ax.texts)


def test_panels_beside_each_other_share_the_row_labels_and_keep_their_columns(heat):
    first, second = heat({"a": WEIGHTS, "b": WEIGHTS / 2}, beside=True)
    assert (first.get_ylabel(), second.get_ylabel()) == ("query", "")
    assert (first.get_xlabel(), second.get_xlabel()) == ("key", "key")
    assert first.get_position().y0 == second.get_position().y0
    assert len(first.texts) == len(second.texts) == 6


def test_panels_share_one_color_scale_and_one_row_of_column_labels(heat):
    first, second = heat({"a": WEIGHTS, "b": WEIGHTS / 2})
    assert (first.get_xlabel(), second.get_xlabel()) == ("", "key")
    assert first.images[0].norm.vmax == second.images[0].norm.vmax == 1.0
    assert first.images[0].norm.vmin == 0.0


def test_signed_colors_are_centered_on_zero(heat):
    (ax,) = heat({"a": WEIGHTS - 0.25}, signed=True)
    assert ax.images[0].norm.vmin == -ax.images[0].norm.vmax == -0.75


@pytest.mark.parametrize(
    ("matrix", "signed", "scale"),
    [
        (WEIGHTS / 4 + 0.25, False, (0.0, 0.5)),
        (WEIGHTS - 0.75, False, (-0.75, 0.75)),
        (WEIGHTS - 3, True, (-3.0, 3.0)),
        (0 * WEIGHTS, False, (0.0, 0.0)),
        (torch.nan * WEIGHTS, False, (0.0, 0.0)),
        (torch.nan * WEIGHTS, True, (0.0, 0.0)),
    ],
)
def test_any_matrix_has_a_color_scale_that_holds_zero(matrix, signed, scale, heat):
    (ax,) = heat({"it": matrix}, signed=signed)
    assert ax.images[0].get_clim() == pytest.approx(scale, abs=1e-8)


def test_a_matrix_without_numbers_is_drawn(shown):
    figures.heat_map({"it": torch.nan * WEIGHTS}, picture="it shows", **LABELS)
    assert "a | nan | nan | nan" in shown[0][0]["text/plain"]


def test_infinite_and_missing_numbers_are_written_not_colored(heat):
    odd = torch.tensor([[float("-inf"), float("nan"), 1.0], [-1e-9, 0.5, 0.0]])
    (ax,) = heat({"odd": odd})
    assert [t.get_text() for t in ax.texts][:4] == ["-inf", "nan", "1.00", "0.00"]
    assert ax.images[0].norm.vmax == 1.0


def test_large_matrices_have_a_color_legend_in_place_of_numbers(heat):
    wide = torch.rand(2, 16)
    ax, legend = heat({"wide": wide}, columns="abcdefghijklmnop")
    assert list(ax.texts) == []
    assert legend.get_xlim() == (ax.images[0].norm.vmin, ax.images[0].norm.vmax)


def test_numbers_are_written_into_matrices_up_to_eight_by_eight(heat):
    for size, written in ((8, 64), (9, 0)):
        names = "abcdefghi"[:size]
        ax, *_ = heat({"it": torch.rand(size, size)}, rows=names, columns=names)
        assert len(ax.texts) == written


def test_column_labels_are_turned_only_where_they_would_touch(heat):
    for letters, beside, angle in ((17, False, 0), (18, False, 35), (8, True, 0), (9, True, 90)):
        panels = {"it": WEIGHTS, "too": WEIGHTS}
        axes = heat(panels, columns=["a" * letters] * 3, beside=beside)
        assert {t.get_rotation() for t in axes[-1].get_xticklabels()} == {angle}


def test_numbers_stand_out_from_their_background(plt_colors, heat):
    names = "abcdefgh"
    for signed, low in ((False, 0), (True, -1)):
        steps = torch.linspace(low, 1, 64).reshape(8, 8)
        (ax,) = heat({"steps": steps}, signed=signed, rows=names, columns=names)
        colors = ax.images[0].cmap(ax.images[0].norm(steps.numpy().flatten()))
        for text, color in zip(ax.texts, colors, strict=True):
            assert contrast(plt_colors.to_rgb(text.get_color()), color[:3]) >= 4.5


def contrast(one, other):
    """The contrast ratio of WCAG 2: from 1 to 21; 4.5 is enough for small text."""

    def luminance(color):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colors", [canvas.WEIGHTS, canvas.SIGNED])
def test_color_maps_are_monotone_in_grey(colors, plt_colors):
    drawn = plt_colors.LinearSegmentedColormap.from_list("", colors)
    rgb = drawn(np.linspace(0, 1, 101))[:, :3]
    steps = np.diff(rgb @ [0.299, 0.587, 0.114])
    assert (steps > 0).all() or (steps < 0).all()


def test_lines_differ_in_more_than_color(draw):
    (ax,) = draw(figures.line_plot, [1, 2], {"a": [1, 2], "b": [2, 4]}, **AXES)
    a, b = ax.lines
    assert a.get_marker() != b.get_marker()
    assert a.get_linestyle() != b.get_linestyle()
    assert list(b.get_ydata()) == [2, 4]


def test_lines_and_levels_are_named_where_they_end_and_names_do_not_touch(draw):
    axes = {**AXES, "levels": {"limit": 3.0}}
    lines = {"last": [1, 4], "first": [2, 3.99], "low": [0, 1]}
    (ax,) = draw(figures.line_plot, [1, 2], lines, **axes)
    heights = {t.get_text(): t.get_position()[1] for t in ax.texts}
    assert sorted(heights, key=heights.get) == ["low", "limit", "first", "last"]
    assert heights["last"] - heights["first"] >= lines_of.APART
    assert 0 < heights["low"] < 0.3
    assert 0.6 < heights["limit"] < 0.8
    assert ax.lines[-1].get_ydata()[0] == 3.0


def test_long_lines_have_no_markers_and_logarithmic_axes_tell_their_places(draw):
    (ax,) = draw(figures.line_plot, [1, 4], {"a": [1, 100]}, log_x=True, log_y=True, **AXES)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "4"]
    assert ax.lines[0].get_markevery() is None
    (ax,) = draw(figures.line_plot, range(21), {"a": range(21)}, **AXES)
    assert ax.lines[0].get_markevery() == 21


def test_a_line_is_named_where_one_says_so_and_marks_stand_upright(draw):
    axes = {**AXES, "marks": {"here": 2}}
    lines = {"high": [1, 2, 3], "low": [0, 1, 2]}
    x, named_at = torch.tensor([1, 2.1, 3]), {"high": 1, "low": 2.1}  # 2.1 is not in float32
    (ax,) = draw(figures.line_plot, x, lines, named_at=named_at, **axes)
    mark, high, low = ax.texts
    assert (mark.get_text(), mark.get_position()[0], ax.lines[-1].get_xdata()[0]) == ("here ", 2, 2)
    assert (high.get_text(), high.xy, high.get_verticalalignment()) == ("high", (1, 1), "bottom")
    assert (low.get_text(), low.xy, low.get_verticalalignment()) == ("low", (x[1], 1), "top")


def test_whole_places_are_told_as_whole_numbers(draw):
    for x, last in (([0, 1, 2, 3], "3"), ([0, 0.5, 1], "1.0")):
        (ax,) = draw(figures.line_plot, x, {"a": x}, **AXES)
        ax.figure.canvas.draw()
        assert [t.get_text() for t in ax.get_xticklabels()][-2] == last


def test_line_plot_tells_its_numbers(tell):
    told = tell(figures.line_plot, [1, 2], {"a": [1.0, 2.0]}, title="t", x_axis="n", y_axis="y")
    assert told == ["n | a", "1 | 1.00", "2 | 2.00"]


def test_importing_the_helpers_and_the_puzzle_loads_neither_torch_nor_matplotlib():
    code = """import helpers, helpers.puzzle, sys
print(sorted({'torch', 'matplotlib', 'IPython'} & set(sys.modules)))"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr


def test_a_lessons_imports_load_matplotlib_only_when_it_draws():
    with mock.patch.dict(sys.modules):
        for name in [name for name in sys.modules if name.startswith(("helpers", "matplotlib"))]:
            del sys.modules[name]
        sys.modules["matplotlib"] = None  # to import it is an error now
        checks = [f"checks.{checks}" for checks, _ in LESSONS.values()]
        for name in ("figures", "shapes", "spies", *checks):
            importlib.import_module(f"helpers.{name}")
        with pytest.raises(ImportError, match="matplotlib"):
            sys.modules["helpers.figures"].heat_map({"weights": WEIGHTS}, **LABELS, picture="it")


STREAM = torch.tensor([[1.0, 0.0, 0.2], [0.0, 0.001, 0.99]])
NEW_CELLS = torch.tensor([[0, 0, 1], [0, 0, 1]])
SLOT_LABELS = {"words": ["a", "b"], "slots": ["x", "y", "z"], "groups": {"one": 1, "rest": 2}}
SLOT_LABELS["title"] = "t"


def test_a_stream_tells_its_numbers_what_is_new_and_what_is_read(tell):
    assert tell(figures.stream_map, STREAM, new=NEW_CELLS, read=1, **SLOT_LABELS) == [
        "slot | a | b",
        "x | 1 | 0",
        "y | 0 | 0",
        "z | 0.20 new | 0.99 new",
        "read at | b",
    ]
    assert tell(figures.stream_map, STREAM, read=0, **SLOT_LABELS)[-1] == "read at | a"


def test_a_stream_writes_numbers_frames_new_cells_and_marks_the_read_column(draw):
    (ax,) = draw(figures.stream_map, STREAM, new=NEW_CELLS, read=1, **SLOT_LABELS)
    assert column_lines(ax) == {0: ["a"], 1: ["b"]}
    rows = {t.get_text(): y for t, y in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)}
    assert rows == {"x": 1, "y": 3, "z": 4}  # below the names of their groups
    written = {t.get_position(): t.get_text() for t in ax.texts if not hasattr(t, "xyann")}
    names = {(-0.5, 0): " one", (-0.5, 2): " rest"}
    assert written == {**names, (0, 1): "1", (0, 4): "0.20", (1, 4): "0.99"}
    frames = [p for p in ax.patches if p.get_width() == 0.88]
    assert [(p.get_x() + 0.44, p.get_y() + 0.4) for p in frames] == [(0, 4), (1, 4)]
    (column,) = (p for p in ax.patches if p.get_linestyle() == "--")
    assert (column.get_x(), column.get_width(), column.get_height()) == (0.5, 1, 5)
    assert [line.get_ydata()[0] for line in ax.lines] == [0.5, 2.5]


def test_a_stream_says_what_its_frames_and_dashes_mean_where_there_are_any(draw):
    framed, dashed = "framed: written by this layer", "dashed: the word that is read in the end"
    marks = {framed: {"new": NEW_CELLS}, dashed: {"read": 0}, "": {"new": 0 * NEW_CELLS}}
    for key, more in marks.items():
        (ax,) = draw(figures.stream_map, STREAM, **more, **SLOT_LABELS)
        assert ax.get_xlabel() == key


PARTS = {"what": torch.tensor([[1.0, -2.0], [0.0, 0.0]]), "noise": torch.tensor([[0.5, 0.25]])}
TOTAL = {"sum": torch.tensor([[1.5, -1.75], [0.5, 0.25]])}
ROWS = {"what": ["c", "[PAD]"], "sum": ["c", "[PAD]"]}


def test_a_sum_tells_its_numbers_and_what_is_special_in_them(tell):
    assert tell(figures.sum_map, PARTS, TOTAL, rows=ROWS) == [
        "colors from -2.00 to 2.00",
        "what | 0 | 1",
        "c | 1.00 | -2.00",
        "[PAD] | 0.00 | 0.00",
        "note | [PAD]: all zero",
        "noise | 0 | 1",
        " | 0.50 | 0.25",
        "note | the same row at every place",
        "sum | 0 | 1",
        "c | 1.50 | -1.75",
        "[PAD] | 0.50 | 0.25",
    ]


def test_a_sum_is_drawn_as_an_equation_with_exact_zeros_white(draw):
    ax, legend = draw(figures.sum_map, PARTS, TOTAL, rows=ROWS)
    what, noise, whole = (np.ma.filled(image.get_array(), np.nan) for image in ax.images)
    assert np.isnan(what).tolist() == [[False, False], [True, True]]
    assert noise.tolist() == [[0.5, 0.25], [0.5, 0.25]]
    assert whole.tolist() == TOTAL["sum"].tolist()
    assert {image.get_clim() for image in ax.images} == {(-2.0, 2.0)}
    lefts = [image.get_extent()[0] for image in ax.images]
    placed = {t.get_text(): t.get_position()[0] for t in ax.texts}
    assert lefts[0] < placed["+"] < lefts[1] < placed["the same row\nat every place"] < placed["="]
    assert placed["="] < lefts[2] < placed["c"]
    assert sum(t.get_text() == "c" for t in ax.texts) == 2
    assert legend.get_xlim() == (-2.0, 2.0)


BLOCKS = {"what": torch.zeros(2, 3, 5), "where": torch.zeros(3, 5), "noise": torch.zeros(2, 1, 5)}


def test_blocks_tell_what_each_tensor_holds_and_what_it_is_stretched_to(tell):
    assert tell(figures.broadcast_blocks, BLOCKS, "sum") == [
        "tensor | texts | places | numbers",
        "what | 2 | 3 | 5",
        "where | 1 for all 2 | 3 | 5",
        "noise | 2 | 1 for all 3 | 5",
        "sum | 2 | 3 | 5",
    ]


def test_blocks_are_full_where_a_tensor_holds_numbers_and_dashed_where_it_is_stretched(draw):
    (ax,) = draw(figures.broadcast_blocks, BLOCKS, "sum")
    dashed = [patch.get_linestyle() == "--" for patch in ax.patches]
    rows = [dashed[k : k + 6] for k in range(0, 24, 6)]  # the second text is drawn first
    assert rows[0] == rows[3] == [False] * 6
    assert rows[1] == [True] * 3 + [False] * 3
    assert rows[2] == [False, True, True, False, True, True]
    assert [t.get_text() for t in ax.texts if t.get_text() in "+="] == ["+", "+", "="]
    assert "3 x 5\none for all texts" in [t.get_text() for t in ax.texts]
    assert "2 x 1 x 5\none for all places" in [t.get_text() for t in ax.texts]


FLOW = [["x"], ["queries", "keys"], ["scores", ""]], [("x", "queries"), ("queries", "scores")]
SHAPES = {"x": (2, 6, 3), "queries": torch.zeros(5, 2), "scores": torch.zeros(9, 6, 6)}


def test_a_flow_tells_shapes_and_notes_and_what_leads_where(tell):
    assert tell(figures.flow_map, *FLOW, shapes=SHAPES, notes={"scores": "query · key"}) == [
        "box | shape | note",
        "x | 2 x 6 x 3",
        "queries | 5 x 2",
        "keys | ?",
        "scores | 9 x 6 x 6 | query · key",
        "x leads to queries",
        "queries leads to scores",
    ]


def test_a_flow_draws_a_box_for_each_name_and_a_sheet_for_each_text_up_to_four(draw):
    (ax,) = draw(figures.flow_map, *FLOW, shapes=SHAPES, notes={"scores": "query · key"})
    assert len([patch for patch in ax.patches if patch.get_width() == pytest.approx(0.78)]) == 8
    boxes = {text.get_text(): text.get_position() for text in ax.texts if "\n" in text.get_text()}
    assert boxes == {
        "x\n2 x 6 x 3": (0, 0),
        "queries\n5 x 2": (1, 0.5),
        "keys\n?": (1, -0.5),
        "scores\n9 x 6 x 6": (2, 0.5),
    }
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    ends = [(arrow.get_position(), arrow.xy) for arrow in arrows]
    np.testing.assert_allclose(ends, [[(0.39, 0), (0.61, 0.5)], [(1.39, 0.5), (1.61, 0.5)]])
    assert "query · key" in [text.get_text() for text in ax.texts]


STEPS = {
    "early": {"scores": [1.0, -1.0], "shares, sum 1": torch.tensor([1.0, 0.0])},
    "late": {"scores": [2.0, float("-inf")], "shares left": [0.5, 0.0]},
}


def test_bars_tell_their_numbers_and_what_is_hidden(tell):
    assert tell(figures.step_bars, STEPS, names=["a", "b"], hidden=torch.tensor([False, True])) == [
        "early | a | b",
        "scores | 1.00 | -1.00 hidden",
        "shares, sum 1 | 1.00 | 0.00 hidden",
        "late | a | b",
        "scores | 2.00 | -inf hidden",
        "shares left | 0.50 | 0.00 hidden",
    ]


def test_bars_of_one_kind_have_one_scale_and_all_carry_their_number(draw):
    early, late = draw(figures.step_bars, STEPS, names=["a", "b"], hidden=[0, 1])
    heights = [
        [bar.get_height() for bar in ax.patches if bar.get_width() == 0.7] for ax in (early, late)
    ]
    assert [ax.get_title() for ax in (early, late)] == ["early", "late"]
    scores = bars_of.SPAN / 3  # from -1 to 2
    assert heights[0] == pytest.approx([scores, -scores, bars_of.SPAN, 0])
    assert heights[1] == pytest.approx([2 * scores, 0, bars_of.SPAN / 2, 0])
    assert [text.get_text() for text in late.texts] == [
        *("scores", "2.00", "-∞"),
        *("shares left", "0.50", "0.00"),
    ]
    shaded = [patch.get_x() for patch in late.patches if patch.get_width() == 1]
    assert shaded == [0.5]


def test_names_under_bars_are_turned_only_where_they_would_touch(draw):
    for letters, angle in ((5, 0), (6, 90)):
        ax, _ = draw(
            figures.step_bars, {k: {"it": [1.0] * 6} for k in "ab"}, names=["a" * letters] * 6
        )
        assert {t.get_rotation() for t in ax.get_xticklabels()} == {angle}
        assert max(bar.get_width() for bar in ax.patches) < 1, "nothing is hidden"


# Linear RGB as seen with a red-green deficiency (Machado, Oliveira and Fernandes, 2009,
# severity 1), and in grey.
SEEN = {
    "as it is": np.eye(3),
    "without red cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "without green cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "in grey": np.full((3, 3), [0.2126, 0.7152, 0.0722]),
}


@pytest.mark.parametrize("way", SEEN)
def test_frames_stand_out_from_pale_and_dark_cells_however_they_are_seen(way, plt_colors):
    def seen(color):
        linear = np.array(plt_colors.to_rgb(color)) ** 2.2
        return (SEEN[way] @ linear).clip(0, 1) ** (1 / 2.2)

    for background in (canvas.WEIGHTS[0], canvas.WEIGHTS[1], canvas.WEIGHTS[-1]):
        distance = np.abs(seen(canvas.NEW) - seen(background)).max()
        assert distance > 0.25, f"the frame {canvas.NEW} is lost on cells of {background}, {way}"
    low, high = seen(canvas.SIGNED[0]), seen(canvas.SIGNED[-1])
    assert np.abs(high - low).max() > 0.5


ATTENTION = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
SENTENCE = {
    "words": ["no", "keep-flight", "he-is?"],
    "asks": 2,
    "looks": {
        "object": torch.tensor([0.99, 0.01, 0.0]),
        "previous word": ATTENTION,
        "flight": torch.tensor([0.0, 1.0, 0.0]),
        "speech": torch.tensor([0.04, 0.96, 0.0]),
    },
    "note": torch.tensor([0.5, 0.0, 1.0]),
    "bits": torch.tensor([[0.99, 0.0, 1.0], [0.0, 0.0, 1.0]]),
    "answer": "Flying superhero",
}


def test_a_sentence_tells_its_arrows_note_bits_and_answer(tell):
    assert tell(figures.sentence_map, [SENTENCE]) == [
        "sentence | no keep-flight he-is?",
        "object: he-is? looks at no | 0.99",
        "previous word: no looks at no | 0.50",
        "previous word: no looks at keep-flight | 0.50",
        "previous word: keep-flight looks at no | 1.00",
        "previous word: he-is? looks at keep-flight | 1.00",
        "flight: he-is? looks at keep-flight | 1.00",
        "speech: he-is? looks at keep-flight | 0.96",
        "note | 0.50 | 0 | 1",
        "bits | object | swap | disobeyed | sum",
        "flies? | 0.99 | 0 | 1 | ≈ 2, even: no",
        "speaks? | 0 | 0 | 1 | = 1, odd: yes",
        "answer | Flying superhero",
    ]


def test_an_arrow_leads_from_the_word_looked_at_to_the_one_that_looks(draw):
    (ax,) = draw(figures.sentence_map, [SENTENCE])
    arrows = [a for a in ax.texts if getattr(a, "arrowprops", None)]
    places = {t.get_text(): t.get_position()[0] for t in ax.texts if t.get_text()}
    no, flight, asks = places["no"], places["keep-\nflight"], places["he-is?"]
    ends = [(arrow.xyann[0], arrow.xy[0], arrow.arrowprops["alpha"]) for arrow in arrows]
    layer_1 = [(no, asks, 0.99), (no, no, 0.5), (flight, no, 0.5), (no, flight, 1)]
    layer_2 = [(flight, asks, 1), (flight, asks, 0.96)]
    assert ends == [pytest.approx(end) for end in [*layer_1, (flight, asks, 1), *layer_2]]
    assert all(arrow.xyann[1] < arrow.xy[1] for arrow in arrows)  # downward: the axis is turned
    assert {"note 0.50", "note 1", "≈ 2, even: no", "Flying\nsuperhero"} <= places.keys()


def test_each_bit_stands_in_its_cell_below_the_name_of_its_column(draw):
    (ax,) = draw(figures.sentence_map, [SENTENCE])
    cells = [(p.get_x() + p.get_width() / 2, p.get_y() + p.get_height() / 2) for p in ax.patches]
    texts = {t.get_position(): t.get_text() for t in ax.texts}
    assert [texts[cell] for cell in cells] == ["0.99", "0", "1", "0", "0", "1"]
    columns = {text: x for (x, _), text in texts.items() if text in ("object", "disobeyed")}
    assert columns["disobeyed"] == cells[2][0] == cells[5][0]


def test_the_boxes_of_six_words_do_not_touch(draw):
    words = ["he-is?", "disobeys", "disobeys", "Flying superhero", "disobeys", "keep-flight"]
    looks = {head: torch.eye(6) for head in SENTENCE["looks"]}
    sentence = {**SENTENCE, "words": words, "looks": looks, "note": torch.zeros(6)}
    (ax,) = draw(figures.sentence_map, [sentence])
    ax.figure.draw_without_rendering()
    boxes = [t.get_bbox_patch().get_window_extent() for t in ax.texts if t.get_bbox_patch()]
    of_words = sorted((box.x0, box.x1) for box in boxes[:-1])  # the last is the answer's
    assert len(of_words) == 6
    assert all(a[1] < b[0] for a, b in pairwise(of_words))


def test_sentences_stand_below_each_other(draw):
    first, second = draw(figures.sentence_map, [SENTENCE, SENTENCE])
    assert first.get_position().y0 > second.get_position().y1


# ------------------------------------------------------------------ words, step by step
WRITTEN = {
    "slow": [["__", "c_t"], ["_o", "c_t"], ["go", "cat"]],
    "fast": [["__", "_"], ["xy", "z"]],
}


def test_words_are_drawn_step_by_step_with_what_is_new_in_a_frame(draw):
    (ax,) = draw(figures.word_steps, WRITTEN, known={"go", "cat"})
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("✓ a word") == 2
    assert texts.count("✗ no word") == 2
    assert [t for t in texts if t.startswith("step")] == [f"step {k}" for k in (0, 1, 2, 0, 1)]
    framed = [frame for frame in ax.patches if frame.get_linewidth() > 1]
    assert len(framed) == 6  # o; g, a; x, y, z
    assert {(round(f.get_x() - 0.06), round(f.get_y() - 0.06)) for f in framed[:3]} == {
        (1, 2),
        (0, 3),
        (4, 3),
    }


def test_words_are_told_step_by_step(tell):
    assert tell(figures.word_steps, WRITTEN, known={"go", "cat"}) == [
        "slow, step | 0 | __ | c_t",
        "slow, step | 1 | _o | c_t",
        "slow, step | 2 | go | cat",
        "slow, known | 2",
        "fast, step | 0 | __ | _",
        "fast, step | 1 | xy | z",
        "fast, known | 0",
    ]


# ------------------------------------------------------------------ every kind of picture
WIDE = torch.arange(20.0).reshape(2, 10) - 9  # too wide for numbers: with a color legend
GIVEN = {
    "heat_map": {"matrices": {"weights": WEIGHTS}, "blocked": {"weights": BLOCKED}, **LABELS},
    "stream_map": {"stream": STREAM, "new": NEW_CELLS, "read": 1, **SLOT_LABELS},
    "sum_map": {"parts": PARTS, "total": TOTAL, "rows": ROWS},
    "broadcast_blocks": {"parts": BLOCKS, "total": "sum"},
    "flow_map": {"columns": FLOW[0], "arrows": FLOW[1], "shapes": SHAPES},
    "step_bars": {"columns": STEPS, "names": ["a", "b"], "hidden": [0, 1]},
    "sentence_map": {"sentences": [SENTENCE]},
    "line_plot": {"x": [1, 2], "lines": {"a": [0.1, 2.0], "b": [2.0, 0.3]}, **AXES},
    "word_steps": {"panels": WRITTEN, "known": {"go", "cat"}},
}


def show(kind, **changed):
    getattr(figures, kind)(picture="it shows", **{**GIVEN[kind], **changed})


def show_each_kind():
    for kind in GIVEN:
        show(kind)
    show("heat_map", matrices={"it": WIDE}, blocked=None, columns=[*"abcdefghij"], signed=True)


def test_the_learners_settings_change_no_picture_and_stay(shown):
    import matplotlib

    assert set(GIVEN) == set(figures.__all__)
    show_each_kind()
    expected, ours = shown[:], dict(matplotlib.rcParams)
    shown.clear()
    dark = {"text.color": "white", "axes.labelcolor": "white", "xtick.color": "white"}
    theirs = {"image.origin": "lower", "axes.grid": True, "font.size": 30, "path.sketch": (1, 9, 2)}
    torch.set_default_dtype(torch.float16)
    torch.set_default_device("meta")
    try:
        with matplotlib.rc_context(dark | theirs), torch.inference_mode():
            show_each_kind()
            assert {key: matplotlib.rcParams[key] for key in dark | theirs} == dark | theirs
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
    assert dict(matplotlib.rcParams) == ours
    assert shown == expected


def test_numbers_are_drawn_whatever_holds_them(tell):
    def drawn(matrix, stream, x, line):
        return (
            tell(figures.heat_map, {"it": matrix}, **LABELS),
            tell(figures.stream_map, stream, **SLOT_LABELS),
            tell(figures.line_plot, x, {"a": line}, **AXES),
        )

    stream, line = STREAM.bfloat16().float(), torch.tensor([0.5, 0.25])
    expected = drawn(WEIGHTS, stream, [1, 2], line.tolist())
    small = drawn(WEIGHTS.bfloat16(), stream.bfloat16(), torch.tensor([1, 2]), line.half())
    assert small == expected
    learned = [numbers.clone().requires_grad_() for numbers in (WEIGHTS, stream, line)]
    assert drawn(learned[0], learned[1], range(1, 3), learned[2]) == expected
    assert drawn(WEIGHTS.tolist(), stream, torch.tensor([1.0, 2.0]), line) == expected


NO_NAMES = (WEIGHTS, [1, 2], {})
NO_NUMBERS = ("ab", [[1, 2], [3]], [1, None])
NO_BOX = "no box is named 'y'; there are x, queries, keys, scores"
# A kind of picture, what is given to it that does not fit, and what is told.
REFUSED = [
    ("heat_map", {"rows": ["a"]}, r"\(2, 3\).*1 row labels"),
    ("heat_map", {"blocked": {"weights": BLOCKED[:1]}}, r"\(1, 3\).*\(2, 3\)"),
    ("heat_map", {"blocked": {"other": BLOCKED}}, "'other'.*not drawn"),
    ("heat_map", {"matrices": {"it": WEIGHTS.to("meta")}}, "meta device holds no numbers to draw"),
    *(
        ("heat_map", {"matrices": {"it": it}}, f"{re.escape(repr(it))} cannot be drawn")
        for it in NO_NUMBERS
    ),
    *(("heat_map", {"matrices": it}, "heat_map draws by name") for it in NO_NAMES),
    *(("line_plot", {"lines": it}, "line_plot draws by name") for it in NO_NAMES),
    ("line_plot", {"lines": {"a": [1]}}, "'a' has 1 values, x has 2"),
    ("line_plot", {"named_at": {"a": 3}}, "no line 'a' has a point at 3 to be named at"),
    ("line_plot", {"lines": {k: [1, 2] for k in "abcde"}}, "5 lines, but only 4"),
    (
        "line_plot",
        {"lines": {"a": [0, 1]}, "log_y": True},
        r"'a' holds 0\.0, which no logarithmic axis can show",
    ),
    (
        "line_plot",
        {"x": [-1, 1], "log_x": True},
        r"x holds -1\.0, which no logarithmic axis can show",
    ),
    (
        "stream_map",
        {"words": ["a"]},
        r"the stream has shape \(2, 3\), but there are 1 words and 3 slots",
    ),
    ("stream_map", {"slots": ["x", "y"]}, "2 words and 2 slots"),
    ("stream_map", {"new": NEW_CELLS.T}, r"mask of new cells has shape \(3, 2\)"),
    ("stream_map", {"groups": {"one": 1}}, "the groups hold 1 slots, not 3"),
    ("stream_map", {"read": 2}, "word 2 is to be read, but there are words 0 to 1"),
    ("stream_map", {"read": -1}, "word -1 is to be read, but there are words 0 to 1"),
    (
        "stream_map",
        {"stream": STREAM[:1], "new": None, "words": ["a"]},
        "word 1 is to be read, but there are words 0 to 0",
    ),
    ("stream_map", {"stream": STREAM * torch.nan}, "a word, a slot, and finite numbers"),
    (
        "stream_map",
        {"stream": torch.zeros(0, 3), "new": None, "words": []},
        "a word, a slot, and finite numbers",
    ),
    ("sum_map", {"total": {"sum": TOTAL["sum"] + 0.01}}, "what, noise do not add up to sum"),
    ("sum_map", {"rows": {"what": ["c"]}}, "1 labels for 'what': give 2"),
    ("sum_map", {"rows": {"why": ["c", "a"]}}, "2 labels for 'why'"),
    ("sum_map", {"parts": [1]}, "sum_map draws by name"),
    *(
        (
            "broadcast_blocks",
            {"parts": {**BLOCKS, "where": torch.zeros(shape)}},
            r"\(2, 3, 5\), .*: give three shapes",
        )
        for shape in ((4, 5), (1, 1, 3, 5))
    ),
    (
        "broadcast_blocks",
        {"parts": {name: BLOCKS[name] for name in ("what", "where")}},
        r"\(2, 3, 5\), \(3, 5\): give three shapes",
    ),
    ("flow_map", {"shapes": {"y": (2,)}}, NO_BOX),
    ("flow_map", {"notes": {"y": "why"}}, NO_BOX),
    ("flow_map", {"arrows": [("x", "y")]}, NO_BOX),
    ("step_bars", {"names": ["a"]}, "'scores' has 2 numbers, but there are 1 names"),
    ("step_bars", {"hidden": [0, 0, 1]}, "'hidden' has 3 numbers, but there are 2 names"),
    ("step_bars", {"columns": {}}, "no steps to draw"),
    ("sentence_map", {"sentences": []}, "no sentence to draw"),
    *(
        ("sentence_map", {"sentences": [{**SENTENCE, **changed}]}, told)
        for changed, told in [
            ({"asks": 3}, "word 3 asks, but there are words 0 to 2"),
            ({"asks": -1}, "word -1 asks"),
            ({"looks": {"object": ATTENTION}}, "1 heads, but two layers of two are drawn"),
            ({"words": ["no", "he-is?"], "asks": 1}, r"what 'object' looks at: shape \(3,\), not"),
            ({"note": ATTENTION}, r"the note: shape \(3, 3\), not \(3,\)"),
            ({"bits": ATTENTION}, r"the bits: shape \(3, 3\), not \(2, 3\)"),
        ]
    ),
    ("word_steps", {"panels": {"odd": [["__"], ["a"]]}}, "the steps of 'odd' differ"),
    ("word_steps", {"panels": {"odd": [["_", "_"], ["a"]]}}, "the steps of 'odd' differ"),
]


@pytest.mark.parametrize(("kind", "changed", "told"), REFUSED)
def test_what_does_not_fit_is_refused_in_words(kind, changed, told):
    with pytest.raises(ValueError, match=told):
        show(kind, **changed)
