"""C9: exponents that are known, the rule at its thresholds, tables and figure of a planted file."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from listed import write_relisted
from planted_cost import PAIR, plant_costs
from planted_pages import REFERENCE, printed
from scipy import stats

from seq2seq_bottleneck.claims.verdict import Verdict
from seq2seq_bottleneck.figures.registry import make_figure
from seq2seq_bottleneck.questions.cost import (
    COLUMNS,
    QUESTION,
    fit,
    in_long_form,
    measured_exponent,
)
from seq2seq_bottleneck.results.bundle import read_table
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.claims import decide_results
from seq2seq_bottleneck.tables.pages import study_page

LENGTHS = (10, 20, 30, 50, 70, 100, 140, 200)
SIZES = np.array(LENGTHS, np.float64)
FILE = Path("probes", "cost.csv")


@pytest.mark.parametrize("power", [-0.5, 0.0, 1.0, 2.7])
def test_a_power_gives_its_exponent(power: float) -> None:
    estimate = fit(SIZES, 3e-4 * SIZES**power)
    assert estimate.value == pytest.approx(power, abs=1e-12)
    assert estimate.high - estimate.low < 1e-9
    assert estimate.n == 8
    two = fit(SIZES[:2], SIZES[:2] ** power)
    assert two.value == pytest.approx(power, abs=1e-12)
    assert np.isnan([two.low, two.high]).all()
    assert fit(np.array([10.0, 10.0]), np.array([1.0, 2.0])) is None


def test_slope_and_interval_are_those_of_scipy() -> None:
    values = 2e-3 * SIZES**1.3 * np.random.default_rng(0).lognormal(0, 0.2, len(SIZES))
    line = stats.linregress(np.log(SIZES), np.log(values))
    half = stats.t.ppf(0.975, len(SIZES) - 2) * line.stderr
    estimate = fit(SIZES, values)
    assert estimate.value == pytest.approx(line.slope, rel=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx((line.slope - half, line.slope + half))


def test_the_interval_covers_the_exponent_as_often_as_it_says() -> None:
    draw_noise = np.random.default_rng(1).lognormal
    fits = [fit(SIZES, SIZES**1.7 * draw_noise(0, 0.1, len(SIZES))) for _ in range(2000)]
    assert 0.935 <= np.mean([item.low <= 1.7 <= item.high for item in fits]) <= 0.965


def test_a_line_beside_a_square_bends_and_what_has_no_logarithm_is_left_out(tmp_path: Path) -> None:
    plant_costs(tmp_path, LENGTHS)
    costs = read_table(tmp_path / FILE, COLUMNS)
    costs = costs[costs["arm"] == "dot"]

    def exponents(attention: np.ndarray) -> pd.DataFrame:
        frame = in_long_form(costs.assign(attention_seconds=attention))
        frame = frame[(frame["measure"] == "exponent") & (frame["control"] == "attention_seconds")]
        return frame.set_index("bucket")

    fits = exponents(1.0 * SIZES + 0.02 * SIZES**2)
    whole, upper = (fits.loc[part] for part in ("all", "upper"))
    assert 1.0 < whole["value"] < upper["value"] < 2.0
    assert (whole["n"], upper["n"]) == (8, 5)
    square = SIZES**2
    square[0], square[3] = -1.0, np.nan
    row = exponents(square).loc["all"]
    assert row["value"] == pytest.approx(2.0)
    assert row["n"] == 6


def verdict(
    intervals: dict[str, tuple[float, float]],
    none: tuple[float, float] = (0.95, 1.05),
    points: int = 5,
    lengths: int = 5,
) -> Verdict:
    """The verdict on arms whose attention's own seconds have these exponents."""
    rows = []
    for arm, (low, high) in {"none": none, **intervals}.items():
        keys = {"arm": arm, "attention": arm, "seed": np.nan}
        for size, share in (("30", 0.25), ("200", 0.5)):
            for measure, value in (("seconds", 1.0), ("attention_share", share)):
                rows.append(keys | {"measure": measure, "bucket": size, "value": value})
        for quantity, n in (("seconds", lengths), ("attention_seconds", points)):
            number = {"value": (low + high) / 2, "low": low, "high": high, "n": n}
            exponent = keys | {"measure": "exponent", "control": quantity} | number
            rows += [exponent | {"bucket": part} for part in ("all", "upper")]
    return QUESTION.verdict(pd.DataFrame(rows))[0]


@pytest.mark.parametrize(
    ("intervals", "options", "word"),
    [
        ([(1.5, 2.5)], {}, "held"),
        ([(1.49, 2.1)], {}, "partly"),
        ([(1.9, 2.51)], {}, "partly"),
        ([(1.06, 1.4)], {}, "partly"),
        ([(1.05, 1.4)], {}, "not held"),  # not above no attention
        ([(1.01, 1.4)], {"none": (0.8, 0.9)}, "partly"),
        ([(1.0, 1.4)], {"none": (0.8, 0.9)}, "not held"),  # not above linear
        ([(1.9, 2.1)], {"none": (1.85, 1.95)}, "not held"),  # the rest of the step grows as fast
        ([(1.9, 2.1), (0.9, 1.1)], {}, "partly"),
        ([(0.9, 1.91)], {}, "not measured"),  # too wide to tell linear from quadratic
        ([(1.9, 2.1)], {"points": 3, "lengths": 3}, "not measured"),
        ([(1.9, 2.1)], {"points": 4}, "not measured"),  # attention took no time at one length
        ([(1.9, 2.1)], {"none": (0.4, 1.6)}, "not measured"),
        ([(1.9, 2.1)], {"none": (np.nan, np.nan)}, "not measured"),
    ],
)
def test_the_exponents_decide(
    intervals: list[tuple[float, float]], options: dict, word: str
) -> None:
    result = verdict(dict(zip(("additive", "dot"), intervals, strict=False)), **options)
    assert result.verdict == word
    assert result.because.endswith("an interval: additive") == (word == "not measured")


def test_the_verdict_states_exponents_shares_and_who_is_left_out() -> None:
    result = verdict({"additive": (1.9, 2.1), "dot": (0.5, 2.1)})
    assert (result.claim, result.verdict) == ("C9", "held")
    for part in (
        "additive: attention's own seconds grow as the length to the power 2.00 [1.90, 2.10]",
        "a step without attention to the power 1.00 [0.95, 1.05]",
        "attention's share of the step is 25% at 30 and 50% at 200 tokens",
        "left out, for too few lengths, no time of its own at one, or too wide an interval: dot",
    ):
        assert part in result.because
    assert result.measure == "exponent of the length, attention's own seconds, additive"
    assert (result.value, result.low, result.high) == (2.0, 1.9, 2.1)


def test_the_table_has_the_numbers_of_the_file_and_the_caption_machine_and_sizes(
    tmp_path: Path,
) -> None:
    plant_costs(tmp_path, LENGTHS, ",".join(PAIR))
    page = study_page("cost", tmp_path)
    rows = page.frame.set_index(["arm", "length", "quantity"])
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
    assert "; XLA's threads: 1; bottleneck 9.9, jax 8.8." in page.caption[1]
    runs = next(item.runs for item in decide_results(tmp_path) if item.claim.id == "C9")
    assert runs.startswith(f"benchmark: {len(SIZES) * len(PAIR)} points on Abacus 3, ")


@pytest.mark.parametrize("lengths", [LENGTHS, LENGTHS[:1]])
def test_without_attention_there_is_a_table_and_no_verdict(
    lengths: tuple[int, ...], tmp_path: Path
) -> None:
    plant_costs(tmp_path, lengths, "none")
    assert study_page("cost", tmp_path).judged[0].because == "no arm with attention"


def test_a_missing_and_a_damaged_file_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^no benchmark in .*bottleneck bench --out"):
        QUESTION.load(tmp_path)
    plant_costs(tmp_path)
    text = (tmp_path / FILE).read_text()
    write_relisted(tmp_path / FILE, text.replace("seconds_low", "secnds_low"))
    with pytest.raises(UserError, match=r"cost\.csv' cannot be read"):
        QUESTION.load(tmp_path)


def test_rows_of_an_older_file_that_vary_another_size_are_not_read() -> None:
    frame = QUESTION.load(REFERENCE / "bench")
    points = frame[frame["measure"] == "seconds"]
    assert len(points) == 5 * len(LENGTHS)


def test_the_exponent_of_l15_is_that_of_dot_attention_over_the_lengths(tmp_path: Path) -> None:
    assert measured_exponent(tmp_path) is None
    for arms, name in (("dot-output,additive", "dot-output"), ("additive", "additive")):
        plant_costs(tmp_path, LENGTHS, arms)
        exponent = measured_exponent(tmp_path)
        assert exponent.arm == name
        assert exponent[1:4] == pytest.approx((2.0, 2.0, 2.0))
    plant_costs(tmp_path, (10,), "dot")
    assert measured_exponent(tmp_path) is None


def test_the_figure_has_a_line_for_each_attention_and_placement_in_milliseconds(
    tmp_path: Path,
) -> None:
    plant_costs(tmp_path, (10, 20), "dot-output")
    figure, data = make_figure("cost", tmp_path)
    assert data[["arm", "control", "x"]].to_numpy().tolist() == [
        ["none", "output", "10"], ["dot", "output", "10"],
        ["none", "output", "20"], ["dot", "output", "20"],
    ]  # fmt: skip
    assert list(data["value"]) == pytest.approx([10, 12, 20, 28])
    assert list(data["high"]) == pytest.approx([10.2, 12.24, 20.4, 28.56])
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "n = 3 groups" in axes.get_xlabel()
    assert " Measured on Abacus 3, " in figure.texts[-1].get_text()
