"""C9: known exponents, the rule at its thresholds, tables and figure of a planted file."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from listed import write_relisted
from planted_cost import PAIR, plant_costs
from planted_pages import printed
from scipy import stats

from seq2seq_bottleneck.questions.cost import QUESTION, exponents, measured_exponent
from seq2seq_bottleneck.results.bundle import load_probe
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.claims import decide_all
from seq2seq_bottleneck.tables.pages import study_page

LENGTHS = (10, 20, 30, 50, 70, 100, 140, 200)
SIZES = np.array(LENGTHS, np.float64)
FILE = Path("probes", "cost.csv")


def fitted(values):
    """The rows of exponents of an arm's seconds at the first lengths."""
    keys = {"arm": "dot", "measure": "seconds"}
    points = zip(LENGTHS, values, strict=False)
    return exponents([keys | {"bucket": str(size), "value": value} for size, value in points])


@pytest.mark.parametrize("power", [0.0, 2.7])
def test_a_power_gives_its_exponent(power: float) -> None:
    row, _ = fitted(3e-4 * SIZES**power)
    assert (row["value"], row["n"]) == (pytest.approx(power, abs=1e-12), 8)
    assert row["high"] - row["low"] < 1e-9
    assert fitted(SIZES[:2] ** power) == []


def test_slope_and_interval_are_those_of_scipy() -> None:
    values = 2e-3 * SIZES**1.3 * np.random.default_rng(0).lognormal(0, 0.2, len(SIZES))
    line = stats.linregress(np.log(SIZES), np.log(values))
    half = stats.t.ppf(0.975, len(SIZES) - 2) * line.stderr
    row, _ = fitted(values)
    assert row["value"] == pytest.approx(line.slope, rel=1e-12)
    assert (row["low"], row["high"]) == pytest.approx((line.slope - half, line.slope + half))


def verdict(intervals, none=(0.95, 1.05), points=5, lengths=5):
    """The verdict on arms whose seconds of attention have these exponents."""
    rows = []
    for arm, (low, high) in {"none": none, **intervals}.items():
        blank = dict.fromkeys(("control", "part", "note"), "")
        keys = blank | {"arm": arm, "attention": arm, "seed": np.nan}
        for size, share in (("30", 0.25), ("200", 0.5)):
            for measure, value in (("seconds", 1.0), ("attention_share", share)):
                rows.append(keys | {"measure": measure, "bucket": size, "value": value})
        for quantity, n in (("seconds", lengths), ("attention_seconds", points)):
            number = {"value": (low + high) / 2, "low": low, "high": high, "n": n}
            rows.append(
                keys | {"measure": "exponent", "control": quantity, "bucket": "upper"} | number
            )
    return QUESTION.verdict(pd.DataFrame(rows))[0]


@pytest.mark.parametrize(
    ("intervals", "options", "word"),
    [
        ([(1.5, 2.5)], {}, "held"),
        ([(1.49, 2.1)], {}, "partly"),
        ([(1.06, 1.4)], {}, "partly"),
        ([(1.05, 1.4)], {}, "not held"),  # not above that of no attention
        ([(1.0, 1.4)], {"none": (0.8, 0.9)}, "not held"),  # not above linear
        ([(1.9, 2.1)], {"none": (1.85, 1.95)}, "not held"),  # the rest of the step grows as fast
        ([(1.9, 2.1), (0.9, 1.1)], {}, "partly"),
        ([(0.9, 1.91)], {}, "not measured"),  # too wide to tell linear from quadratic
        ([(1.9, 2.1)], {"points": 4}, "not measured"),  # attention took no time at one length
    ],
)
def test_the_exponents_decide(intervals, options, word):
    result = verdict(dict(zip(("additive", "dot"), intervals, strict=False)), **options)
    assert result.verdict == word
    assert result.because.endswith("an interval: additive") == (word == "not measured")


def test_the_table_has_the_numbers_of_the_file(tmp_path):
    plant_costs(tmp_path, LENGTHS, [*PAIR])
    page = study_page("cost", tmp_path)
    rows = page.frame.set_index(["arm", "bucket", "control"])
    row = rows.loc[("additive", "100", "")]
    assert row["seconds"] == pytest.approx(0.1 + 0.4)
    assert row["attention_seconds"] == pytest.approx(0.4)
    assert row["attention_share"] == pytest.approx(0.4 / 0.5)
    power = rows.loc[("dot-output", "upper", "attention_seconds")]
    assert power["exponent"] == pytest.approx(2.0)
    assert power["exponent_n"] == 5
    assert page.judged[0].verdict == "held"
    text = "\n".join(printed(page))
    assert "500.0" in text
    assert "nan" not in text.lower()
    runs = next(item.runs for item in decide_all(tmp_path) if item.claim.id == "C9")
    assert runs.startswith(f"benchmark: {len(SIZES) * len(PAIR)} points on Abacus 3, ")


def test_a_missing_and_a_damaged_file_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no numbers of study cost: `bottleneck study cost"):
        load_probe(tmp_path, "cost")
    plant_costs(tmp_path)
    text = (tmp_path / FILE).read_text()
    write_relisted(tmp_path / FILE, text.replace("low", "lo", 1))
    with pytest.raises(UserError, match=r"cost\.csv' cannot be read"):
        load_probe(tmp_path, "cost")


def test_the_exponent_of_l15_is_that_of_dot_attention_over_the_lengths(tmp_path: Path) -> None:
    assert measured_exponent(tmp_path) is None
    plant_costs(tmp_path, LENGTHS, ("none-output", "dot-output", "none", "additive"))
    arm, power = measured_exponent(tmp_path)
    assert arm == "dot-output"
    assert (power.value, power.low, power.high) == pytest.approx((2.0, 2.0, 2.0))
