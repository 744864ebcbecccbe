"""Pictures of tensors: opaque PNG, alt text, and the drawn numbers as a text twin.

Each function draws and displays one picture. The display carries the picture, its alt text in the
output's metadata (`{"image/png": {"alt": ...}}`), and, as plain text, every number that was drawn:
the twin that tests compare where pixels cannot be. The alt text is printed below as a caption,
since some front ends (JupyterLab among them) do not hand it to screen readers.

Each takes `picture`: the name of a lesson's picture, whose alt text stands in `alt_texts.py` (not
in the lesson's cell, where it would answer the question that the picture answers), or a description
of your own. matplotlib (with Pillow, which it needs) is imported when something is drawn.
"""

from helpers.figures.bars import step_bars
from helpers.figures.blocks import broadcast_blocks
from helpers.figures.flow import flow_map
from helpers.figures.heat import heat_map
from helpers.figures.lines import line_plot
from helpers.figures.sentence import sentence_map
from helpers.figures.stream import stream_map
from helpers.figures.sums import sum_map
from helpers.figures.words import word_steps

__all__ = [
    "broadcast_blocks",
    "flow_map",
    "heat_map",
    "line_plot",
    "sentence_map",
    "step_bars",
    "stream_map",
    "sum_map",
    "word_steps",
]
