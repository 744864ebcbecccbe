"""What the tests know of each lesson beside the lesson itself: one record for a lesson."""

from __future__ import annotations

from dataclasses import dataclass, field

MINUTES = "a promise of minutes"
COMPUTES_LONG = "computes for long, and tells no shape"
TIMED = "measures a time"


@dataclass(frozen=True)
class Record:
    """`before_solutions` are the cells that the exercises build on; `uncompared` those whose
    numbers differ in each run. Then, each with its reason: by cell, the `given` numbers of the
    prose that no cell prints (single digits are not looked for), and the cells that are
    `not_run_for_shapes` when shape comments are tried. `not_drawn` are numbers in the alt text of
    a cell's picture that it does not draw: a scale's end, a layer, a level.
    """

    before_solutions: tuple[str, ...]
    uncompared: list[str] = field(default_factory=list)
    given: dict[str, dict[str, str]] = field(default_factory=dict)
    not_drawn: set[tuple[str, str]] = field(default_factory=set)
    not_run_for_shapes: dict[str, str] = field(default_factory=dict)


RECORDS = {
    1: Record(
        before_solutions=("tools", "vocabulary", "guards", "parts"),
        given={
            "title": {"20": MINUTES},
            "formula-heading": {"10000": "a constant of the sinusoidal formula"},
        },
        not_drawn={("formula", "-1")},
        not_run_for_shapes={"device": "tells one shape, and loads a part of torch for it"},
    ),
    2: Record(
        before_solutions=("tools", "parts"),
        uncompared=["speed"],
        given={
            "title": {"25": MINUTES, "30": MINUTES},
            "projections-text": {"123": "a seed"},
            "cost-heading": {"60": "how many texts are timed"},
            "carry": {"121595": "an issue's number"},
        },
        not_run_for_shapes={
            "patients-ab": "its shapes are wrong on purpose",
            "padding": "one axis name stands for texts of two lengths",
            "speed": TIMED,
        },
    ),
    3: Record(
        before_solutions=(
            *("tools", "guess", "bits", "slots", "by-slot", "tables", "embed"),
            *("object-head", "attend"),
        ),
        uncompared=["speed"],
        given={
            "title": {"30": MINUTES, "40": MINUTES},
            "softmax-text": {
                "90": "a question's percentage",
                "2.7": "the number e, roughly",
                "3000": "e to the 8th, roughly",
            },
            "orders-text": {
                "120": "orders of five words, in a product",
                "360": "orders of six words with a pair, in a product",
            },
            "hard-text": {"1000": "a gain that the cell sets"},
            "eight-places-text": {
                "0.0005": "what the exercise demands",
                "9.8": "a step of the hint",
                "0.0004": "what follows from it",
            },
            "first-heading": {"0.1": "a guess that is offered"},
            "missing-after": {"1.25": "a step of a sum, done in words"},
            "peers-text": dict.fromkeys(
                ("47", "25,685", "56", "85,544"), "quoted, as the text says"
            ),
        },
        not_drawn={("layer-two", "2"), ("gains-plot", "0.5")},
        not_run_for_shapes={
            "speed": TIMED,
            "smallest": COMPUTES_LONG,
            "door": COMPUTES_LONG,
            "orders": COMPUTES_LONG,
            "gains-plot": COMPUTES_LONG,
            "table": "computes for long, on what `orders` has made",
        },
    ),
}
