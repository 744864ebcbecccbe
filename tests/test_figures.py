"""Pictures: what is drawn, what is said about it, and what bad input is told."""

import base64
import importlib.metadata
import io
import re
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
import torch
from lessons import ROOT
from PIL import Image

from helpers import figures
from helpers.figures import canvas
from helpers.figures import lines as lines_of

WEIGHTS = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0]])
BLOCKED = torch.tensor([[0, 1, 1], [0, 0, 1]])
LABELS = {"rows": ["a", "b"], "columns": ["x", "y", "z"]}


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


@pytest.fixture
def draw(monkeypatch):
    """Draws with one of our functions and hands back the axes, for those who look inside."""
    figure = []
    monkeypatch.setattr(canvas, "display", lambda drawn, *told: figure.append(drawn))

    def drawn(kind, *args, **kwargs):
        kind(*args, picture="it shows", **kwargs)
        return figure.pop().axes

    return drawn


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
    picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
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
    picture = Image.open(io.BytesIO(base64.b64decode(shown[0][0]["image/png"])))
    assert picture.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_64_shades_stay_64_shades_in_what_is_stored(shown):
    steps = torch.arange(64.0).reshape(8, 8) / 63
    names = [*"abcdefgh"]
    figures.heat_map({"steps": steps}, picture="it shows", rows=names, columns=names)
    picture = Image.open(io.BytesIO(base64.b64decode(shown[0][0]["image/png"]))).convert("RGB")
    colors = {color for count, color in picture.getcolors() if count > 1000}
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


def test_a_dropped_cell_is_told_in_the_twin(shown):
    dropped = {"weights": torch.tensor([[1, 0, 0], [0, 0, 0]])}
    figures.heat_map({"weights": WEIGHTS}, picture="it shows", dropped=dropped, **LABELS)
    assert "a | 1.00 dropped | 0.00 | 0.00" in shown[0][0]["text/plain"]


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
    axes = {"title": "t", "x_axis": "x", "y_axis": "y"}
    (ax,) = draw(figures.line_plot, [1, 2], {"a": [1, 2], "b": [2, 4]}, **axes)
    a, b = ax.lines
    assert a.get_marker() != b.get_marker()
    assert a.get_linestyle() != b.get_linestyle()
    assert list(b.get_ydata()) == [2, 4]


def test_lines_and_levels_are_named_where_they_end_and_names_do_not_touch(draw):
    axes = {"title": "t", "x_axis": "x", "y_axis": "y", "levels": {"limit": 3.0}}
    lines = {"last": [1, 4], "first": [2, 3.99], "low": [0, 1]}
    (ax,) = draw(figures.line_plot, [1, 2], lines, **axes)
    heights = {t.get_text(): t.get_position()[1] for t in ax.texts}
    assert sorted(heights, key=heights.get) == ["low", "limit", "first", "last"]
    assert heights["last"] - heights["first"] >= lines_of.APART
    assert 0 < heights["low"] < 0.3
    assert 0.6 < heights["limit"] < 0.8
    assert ax.lines[-1].get_ydata()[0] == 3.0


def test_long_lines_have_no_markers_and_logarithmic_axes_tell_their_places(draw):
    axes = {"title": "t", "x_axis": "x", "y_axis": "y"}
    (ax,) = draw(figures.line_plot, [1, 4], {"a": [1, 100]}, log_x=True, log_y=True, **axes)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "4"]
    assert ax.lines[0].get_markevery() is None
    (ax,) = draw(figures.line_plot, range(21), {"a": range(21)}, **axes)
    assert ax.lines[0].get_markevery() == 21


def test_line_plot_tells_its_numbers(shown):
    figures.line_plot(
        [1, 2], {"a": [1.0, 2.0]}, picture="it rises", title="t", x_axis="n", y_axis="y"
    )
    assert shown[0][0]["text/plain"] == "Figure in numbers\nn | a\n1 | 1.00\n2 | 2.00"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rows": ["a"]}, r"\(2, 3\).*1 row labels"),
        ({"blocked": {"weights": BLOCKED[:1]}}, r"\(1, 3\).*\(2, 3\)"),
        ({"blocked": {"other": BLOCKED}}, "'other'.*not drawn"),
    ],
)
def test_bad_heat_maps_are_refused(change, told):
    with pytest.raises(ValueError, match=told):
        figures.heat_map({"weights": WEIGHTS}, **{"picture": "it", **LABELS, **change})


@pytest.mark.parametrize("drawn", ["ab", [[1, 2], [3]], [1, None]])
def test_what_holds_no_numbers_is_told(drawn):
    with pytest.raises(ValueError, match=rf"{re.escape(repr(drawn))} cannot be drawn"):
        figures.heat_map({"weights": drawn}, picture="it", **LABELS)


@pytest.mark.parametrize("drawn", [WEIGHTS, [1, 2], {}])
def test_what_has_no_name_is_not_drawn(drawn):
    words = {"picture": "a", "title": "t", "x_axis": "x", "y_axis": "y"}
    with pytest.raises(ValueError, match="heat_map draws by name"):
        figures.heat_map(drawn, picture="it", **LABELS)
    with pytest.raises(ValueError, match="line_plot draws by name"):
        figures.line_plot([1, 2], drawn, **words)


def test_bad_line_plots_are_refused():
    words = {"picture": "a", "title": "t", "x_axis": "x", "y_axis": "y"}
    with pytest.raises(ValueError, match="'a' has 1 values, x has 2"):
        figures.line_plot([1, 2], {"a": [1]}, **words)
    with pytest.raises(ValueError, match="5 lines, but only 4"):
        figures.line_plot([1], {k: [1] for k in "abcde"}, **words)
    with pytest.raises(ValueError, match=r"'a' holds 0\.0, which no logarithmic axis can show"):
        figures.line_plot([1], {"a": [0]}, log_y=True, **words)
    with pytest.raises(ValueError, match=r"x holds -1\.0, which no logarithmic axis can show"):
        figures.line_plot([-1], {"a": [0]}, log_x=True, **words)


def test_importing_the_helpers_loads_neither_torch_nor_matplotlib():
    code = (
        "import helpers, sys; print(sorted({'torch', 'matplotlib', 'IPython'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr


def test_a_lessons_imports_load_matplotlib_only_when_it_draws():
    with mock.patch.dict(sys.modules):
        for name in [name for name in sys.modules if name.startswith(("helpers", "matplotlib"))]:
            del sys.modules[name]
        sys.modules["matplotlib"] = None  # to import it is an error now
        for name in (
            "figures",
            "shapes",
            "spies",
            "checks.inputs",
            "checks.attention",
            "checks.disobeys",
        ):
            importlib.import_module(f"helpers.{name}")
        with pytest.raises(ImportError, match="matplotlib"):
            sys.modules["helpers.figures"].heat_map({"weights": WEIGHTS}, **LABELS, picture="it")


STREAM = torch.tensor([[1.0, 0.0, 0.2], [0.0, 0.001, 0.99]])
NEW_CELLS = torch.tensor([[0, 0, 1], [0, 0, 1]])
SLOT_LABELS = {"words": ["a", "b"], "slots": ["x", "y", "z"], "groups": {"one": 1, "rest": 2}}


def test_a_stream_tells_its_numbers_what_is_new_and_what_is_read(shown, capsys):
    figures.stream_map(STREAM, picture="it shows", new=NEW_CELLS, read=1, **SLOT_LABELS)
    ((data, metadata),) = shown
    assert metadata["image/png"]["alt"] == "it shows"
    assert data["text/plain"].splitlines() == [
        "Figure in numbers",
        "slot | a | b",
        "x | 1.00 | 0.00",
        "y | 0.00 | 0.00",
        "z | 0.20 new | 0.99 new",
        "read at | b",
    ]
    assert capsys.readouterr().out == "Figure: it shows\n"


def test_a_stream_writes_numbers_frames_new_cells_and_marks_the_read_column(draw):
    (ax,) = draw(figures.stream_map, STREAM, new=NEW_CELLS, read=1, **SLOT_LABELS)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b (read)"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["x", "y", "z"]
    written = {t.get_position(): t.get_text() for t in ax.texts if "." in t.get_text()}
    assert written == {(0, 0): "1.00", (0, 2): "0.20", (1, 2): "0.99"}
    assert [t.get_text() for t in ax.texts if "." not in t.get_text()] == ["one", "rest"]
    frames = [(round(p.get_x() + 0.44), round(p.get_y() + 0.4)) for p in ax.patches]
    assert frames[:2] == [(0, 2), (1, 2)]
    (column,) = (p for p in ax.patches if p.get_linestyle() != "-" and p.get_height() == 3)
    assert (column.get_x(), column.get_width()) == (0.5, 1)
    lines = [line.get_ydata()[0] for line in ax.lines]
    assert lines == [-0.5, 0.5]
    assert (ax.images[0].norm.vmin, ax.images[0].norm.vmax) == (0, 1)


def test_the_first_word_can_be_read(draw):
    (ax,) = draw(figures.stream_map, STREAM, read=0, **SLOT_LABELS)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a (read)", "b"]


def test_it_is_told_when_the_first_word_is_read(shown):
    figures.stream_map(STREAM, picture="it shows", read=0, **SLOT_LABELS)
    assert shown[0][0]["text/plain"].endswith("read at | a")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"words": ["a"]}, r"the stream has shape \(2, 3\), but there are 1 words and 3 slots"),
        ({"slots": ["x", "y"]}, "2 words and 2 slots"),
        ({"new": NEW_CELLS.T}, r"mask of new cells has shape \(3, 2\)"),
        ({"groups": {"one": 1}}, "the groups hold 1 slots, not 3"),
        ({"read": 2}, "word 2 is to be read, but there are words 0 to 1"),
        ({"read": -1}, "word -1 is to be read, but there are words 0 to 1"),
    ],
)
def test_a_stream_that_does_not_fit_is_told(changed, told):
    with pytest.raises(ValueError, match=told):
        figures.stream_map(STREAM, picture="it shows", **{**SLOT_LABELS, **changed})


def test_a_word_that_is_not_there_is_told_with_those_that_are():
    labels = {**SLOT_LABELS, "words": ["a"]}
    with pytest.raises(ValueError, match="word 1 is to be read, but there are words 0 to 0"):
        figures.stream_map(STREAM[:1], picture="it shows", read=1, **labels)


@pytest.mark.parametrize("stream", [torch.full((2, 3), torch.nan), torch.zeros(0, 3)])
def test_a_stream_without_numbers_is_told(stream):
    words = ["a", "b"][: len(stream)]
    with pytest.raises(ValueError, match="a word, a slot, and finite numbers"):
        figures.stream_map(stream, picture="it shows", **{**SLOT_LABELS, "words": words})


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


WIDE = torch.arange(20.0).reshape(2, 10) - 9  # too wide for numbers: with a color legend


def draw_each_kind():
    figures.heat_map(
        {"weights": WEIGHTS}, picture="it shows", blocked={"weights": BLOCKED}, **LABELS
    )
    columns = [*map(str, range(10))]
    figures.heat_map({"it": WIDE}, picture="it shows", rows="ab", columns=columns, signed=True)
    figures.stream_map(STREAM, picture="it shows", new=NEW_CELLS, read=1, **SLOT_LABELS)
    axes = {"title": "t", "x_axis": "x", "y_axis": "y"}
    figures.line_plot([1, 2], {"a": [0.1, 2.0], "b": [2.0, 0.3]}, picture="it shows", **axes)


def test_the_learners_settings_change_no_picture_and_stay(shown):
    import matplotlib

    draw_each_kind()
    expected, ours = shown[:], dict(matplotlib.rcParams)
    shown.clear()
    dark = {"text.color": "white", "axes.labelcolor": "white", "xtick.color": "white"}
    theirs = {"image.origin": "lower", "axes.grid": True, "font.size": 30, "path.sketch": (1, 9, 2)}
    torch.set_default_dtype(torch.float16)
    torch.set_default_device("meta")
    try:
        with matplotlib.rc_context(dark | theirs), torch.inference_mode():
            draw_each_kind()
            assert {key: matplotlib.rcParams[key] for key in dark | theirs} == dark | theirs
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
    assert dict(matplotlib.rcParams) == ours
    assert shown == expected


def test_numbers_are_drawn_whatever_holds_them(monkeypatch):
    told = []
    monkeypatch.setattr(canvas, "display", lambda figure, picture, facts, wide: told.extend(facts))

    def drawn(matrix, stream, x, line):
        told.clear()
        figures.heat_map({"it": matrix}, picture="it shows", **LABELS)
        figures.stream_map(stream, picture="it shows", **SLOT_LABELS)
        axes = {"title": "t", "x_axis": "x", "y_axis": "y"}
        figures.line_plot(x, {"a": line}, picture="it shows", **axes)
        return told[:]

    stream, line = STREAM.bfloat16().float(), torch.tensor([0.5, 0.25])
    expected = drawn(WEIGHTS, stream, [1, 2], line.tolist())
    small = drawn(WEIGHTS.bfloat16(), stream.bfloat16(), torch.tensor([1, 2]), line.half())
    assert small == expected
    learned = [numbers.clone().requires_grad_() for numbers in (WEIGHTS, stream, line)]
    assert drawn(learned[0], learned[1], range(1, 3), learned[2]) == expected
    assert drawn(WEIGHTS.tolist(), stream, torch.tensor([1.0, 2.0]), line) == expected


def test_a_tensor_that_holds_no_numbers_is_told():
    with pytest.raises(ValueError, match="meta device holds no numbers to draw"):
        figures.heat_map({"it": WEIGHTS.to("meta")}, picture="it shows", **LABELS)


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


def test_words_are_told_step_by_step(shown, capsys):
    figures.word_steps(WRITTEN, known={"go", "cat"}, picture="it shows")
    assert shown[0][0]["text/plain"].splitlines() == [
        "Figure in numbers",
        "slow, step | 0 | __ | c_t",
        "slow, step | 1 | _o | c_t",
        "slow, step | 2 | go | cat",
        "slow, known | 2",
        "fast, step | 0 | __ | _",
        "fast, step | 1 | xy | z",
        "fast, known | 0",
    ]


@pytest.mark.parametrize("steps", [[["__"], ["a"]], [["_", "_"], ["a"]]])
def test_steps_that_do_not_fit_each_other_are_refused(steps):
    with pytest.raises(ValueError, match="the steps of 'odd' differ"):
        figures.word_steps({"odd": steps}, known=(), picture="it shows")
