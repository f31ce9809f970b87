"""The cost tables from planted files: numbers, width, verdict, captions, faults."""

import io
import json

import pandas as pd
import pytest
from listed import write_relisted
from rich.console import Console

from seq2seq_bottleneck.bench.grid import DEFAULT, DEFAULT_ARMS, Point, Sizes, parse_arms
from seq2seq_bottleneck.bench.measure import point_rows, write
from seq2seq_bottleneck.results.cost import COST
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.cost import cost_pages, load_cost
from seq2seq_bottleneck.tables.decided import decide_results
from seq2seq_bottleneck.tables.packing import Column, packed
from seq2seq_bottleneck.tables.page import FORMATS

READY = {"phase": "ready", "machine": "Abacus 3", "device": "cpu: cpu", "threads": 1,
         "version": "9.9", "jax": "8.8"}  # fmt: skip
OWN = {"none": 0.0, "additive": 4e-5, "dot": 1e-5, "none-output": 0.0, "dot-output": 2e-5}
"""Seconds of attention a pair of words."""


def _rows(varied, size, arms, lost=""):
    """Seconds that grow as the length, and attention's as its square."""
    sizes = Sizes(**{varied: size})
    named = [arm.name for arm in arms]
    step = 0.01 * sizes.length * sizes.batch_size / 64
    seconds = {name: step + OWN[name] * sizes.length**2 for name in named}
    done = {
        "phase": "done",
        "seconds": {name: [0.99 * s, s, 1.02 * s] for name, s in seconds.items() if name != lost},
        "steps": dict.fromkeys(named, 1),
    }
    peaks = [{"phase": "compiled", "arm": name, "peak_bytes": 9e6 * size} for name in named]
    failed = [{"phase": "failed", "arm": lost, "reason": "a step needs 99 GB"}] if lost else []
    point = Point(sizes, (varied,))
    return point_rows(point, arms, [READY, *peaks, *failed, done])


def plant(folder, variation, names=DEFAULT_ARMS, lost=()):
    """Both files, of a benchmark that never was."""
    arms = parse_arms(",".join(names))
    rows = [
        row
        for varied, sizes in variation.items()
        for size in sizes
        for row in _rows(varied, size, arms, dict(lost).get((varied, size), ""))
    ]
    write(folder, rows)
    return cost_pages(*load_cost(folder))


def printed(pages, width=80):
    held = io.StringIO()
    for page in pages:
        page.print(Console(file=held, width=width, highlight=False))
    return held.getvalue()


def test_numbers_are_the_files(tmp_path):
    cost, growth = plant(tmp_path, {"length": DEFAULT["length"]})
    row = cost.frame.set_index(["size", "arm"]).loc[(100, "additive")]
    assert row["ms"] == pytest.approx(1000 * (1.0 + 0.4))
    assert row["attention_ms"] == pytest.approx(400)
    assert row["attention_share"] == pytest.approx(0.4 / 1.4)
    assert row["tokens_per_second"] == pytest.approx(6400 / 1.4)
    assert row["mb"] == pytest.approx(900)
    fits = growth.frame.set_index(["arm", "quantity", "part"])
    own = fits.loc[("dot-output", "attention_seconds", "upper")]
    assert own["exponent"] == pytest.approx(2.0)
    assert (own["from"], own["to"], own["points"]) == (50, 200, 5)
    assert fits.loc[("none", "seconds", "all")]["exponent"] == pytest.approx(1.0)


def test_c9_tells_what_it_rests_on_as_far_as_it_was_written_down(tmp_path):
    lost = {("length", DEFAULT["length"][0]): "additive"}
    plant(tmp_path, {"length": DEFAULT["length"], "batch_size": (16, 32)}, lost=lost.items())
    points = len(DEFAULT["length"]) * len(DEFAULT_ARMS) - 1  # of the lengths, and with a time
    costs = pd.read_csv(tmp_path / COST, keep_default_na=False)
    first = costs.iloc[0]
    found = next(one for one in decide_results(tmp_path) if one.claim.id == "C9")
    assert found.runs == (
        f"benchmark: {points} points on Abacus 3, {first['cores']} cores, cpu, {first['date']}"
    )
    blank = costs.assign(machine="", date="", device="", cores="")
    write_relisted(tmp_path / COST, blank.to_csv(index=False))
    found = next(one for one in decide_results(tmp_path) if one.claim.id == "C9")
    assert found.runs == f"benchmark: {points} points"


def test_squares_are_held_with_the_shares_at_30_and_200(tmp_path):
    (verdict,) = plant(tmp_path, {"length": DEFAULT["length"]})[1].judged
    assert (verdict.claim, verdict.verdict) == ("C9", "held")
    shares = [OWN["additive"] * n**2 / (0.01 * n + OWN["additive"] * n**2) for n in (30, 200)]
    told = " and ".join(f"{share:.0%} at {n}" for share, n in zip(shares, (30, 200), strict=True))
    assert f"attention's share of the step is {told}" in verdict.because


def test_a_few_lengths_or_none_are_not_measured(tmp_path):
    for variation in ({"length": (10, 20, 30)}, {"batch_size": (16, 64)}):
        assert plant(tmp_path, variation)[1].judged[0].verdict == "not measured"


@pytest.mark.slow
@pytest.mark.parametrize("names", [DEFAULT_ARMS, ("none",)])
def test_everything_fits_80_columns_uncut(tmp_path, names):
    text = printed(plant(tmp_path, DEFAULT, names))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "…" not in text
    assert ("additive" in text) == ("additive" in names)
    for head in ("By length (tokens a side); context 256, batch 64, vocabulary 2,000", "By batch"):
        assert head in text


def test_packing_keeps_blocks_whole_where_it_can():
    a, b, c = ([Column("x" * 8, ["1"])] * count for count in (3, 3, 9))
    assert [len(table) for table in packed([a, b], 60)] == [6]
    assert [len(table) for table in packed([a, b], 59)] == [3, 3]
    assert [len(table) for table in packed([a, c], 60)] == [3, 6, 3]


def test_the_caption_names_machine_versions_and_spread(tmp_path):
    caption = " ".join(plant(tmp_path, {"length": (10, 20)})[0].caption)
    assert "Machine: Abacus 3, " in caption
    assert "1 thread, device cpu; bottleneck 9.9, jax 8.8; 20" in caption
    assert "median of 3 groups" in caption
    assert "3.0% of the median apart at half of the points, 3% at most" in caption
    assert "Without numbers" not in caption


def test_what_failed_is_named_and_blank(tmp_path):
    pages = plant(tmp_path, {"length": (10, 20, 40)}, lost=[(("length", 40), "additive")])
    assert "Without numbers: length 40 additive (a step needs 99 GB)." in pages[0].caption
    lost = pages[0].frame.set_index(["size", "arm"]).loc[(40, "additive")]
    assert lost[["ms", "attention_share"]].isna().all()
    assert "nan" not in printed(pages).lower()


def test_attention_lost_in_noise_is_said(tmp_path):
    plant(tmp_path, {"length": DEFAULT["length"]}, ("none", "dot"))
    path = tmp_path / "probes" / "cost_exponents.csv"
    fits = pd.read_csv(path)
    chosen = (fits["quantity"] == "attention_seconds") & (fits["part"] == "all")
    fits.loc[chosen, "points"] -= 1
    write_relisted(path, fits.to_csv(index=False))
    (_, line) = cost_pages(*load_cost(tmp_path))[1].caption
    assert line == "Sizes at which attention took no time are left out: dot by length, all."


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_all_forms(tmp_path, form):
    for page in plant(tmp_path, {"length": (10, 20, 40)}):
        text = page.render(form)
        assert "dot-output" in text or "output" in text
        if form == "json":
            assert json.loads(text)["rows"][0]["arm"] == "none"


def test_missing_and_damaged_files_are_one_line(tmp_path):
    with pytest.raises(UserError, match=r"no probes/cost.csv in .*bottleneck bench --out"):
        load_cost(tmp_path)
    plant(tmp_path, {"length": (10, 20)})
    path = tmp_path / "probes" / "cost.csv"
    write_relisted(path, path.read_text().replace("seconds_low", "secnds_low"))
    with pytest.raises(UserError, match=r"cost\.csv' cannot be read"):
        load_cost(tmp_path)
