"""What stands with a claim: its figures, its tables, and the commands that give them again."""

import pytest
from lanes import few
from page_parser import Page
from planted import write_planted, write_sizes
from planted_arms import HIGH, with_controls
from planted_report import write_gold, write_results

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.figures.registry import FIGURES
from seq2seq_bottleneck.lecture import slides
from seq2seq_bottleneck.report.beside import controls_grid
from seq2seq_bottleneck.report.commands import Ways, of_claim
from seq2seq_bottleneck.report.questions import FIGURES_OF, SLIDES, TABLES_OF, Source, shown
from seq2seq_bottleneck.report.sections import question
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.tables.decided import decision, measured_controls
from seq2seq_bottleneck.tables.names import TABLES

LOSSES = [0.1, 0.3, 0.5, 0.6, 0.7]


def _of(claim, folder, seen=None):
    bundle = load_bundle(folder)
    held = decision(next(one for one in CLAIMS if one.id == claim), folder, bundle)
    return held, shown(held, Source(folder, bundle, bundle), seen or {})


def test_every_name_in_the_lists_is_known():
    claims = {claim.id for claim in CLAIMS}
    assert {*FIGURES_OF, *TABLES_OF, *SLIDES} <= claims
    assert {name for held in FIGURES_OF.values() for name in held} <= set(FIGURES)
    assert {name for held in TABLES_OF.values() for name in held} <= set(TABLES)
    assert {name for held in SLIDES.values() for name in held} <= set(slides.SLIDES)


@pytest.mark.slow
def test_compression_has_its_figures_and_both_tables(tmp_path):
    low = [min(1.0, 1.3 * share) for share in LOSSES]
    write_sizes(tmp_path, {(16, "none"): low, (32, "none"): LOSSES})
    decided, held = _of("C1", tmp_path)
    assert decided.verdict.verdict != "not measured"
    assert held.drawn == ("compression", "context-length")
    assert held.tabled == ("compression", "context-size")
    by_ratio, by_size = held.grids
    assert {"112:16", "112:32"} <= {row[3] for row in by_ratio.rows}
    assert [row[0] for row in by_size.rows] == ["context 16", "  none", "context 32", "  none"]
    told = of_claim(decided, held, load_bundle(tmp_path))
    assert told.measure == ()
    assert f"bottleneck plot compression --results {tmp_path} -o compression.svg" in told.show


@pytest.mark.parametrize(
    "others", few([[(32, "additive")], []], 2), ids=["attention too", "none alone"]
)
def test_under_the_figures_over_sizes_stand_all_runs_that_they_draw(others, tmp_path):
    low = [min(1.0, 1.3 * share) for share in LOSSES]
    write_sizes(tmp_path, {(16, "none"): low, (32, "none"): LOSSES} | dict.fromkeys(others, HIGH))
    decided, held = _of("C1", tmp_path)
    html = Page(question(decided, held, Ways()))
    captions = [node.text for node in html.named("figcaption")]
    assert len(captions) == 2
    judged = "2 runs: none context_size=16, none context_size=32, seed 1."
    drawn = "3 runs: additive context_size=32, none context_size=16, none context_size=32, seed 1."
    for caption in captions:
        told = f"Drawn: {drawn} The verdict rests on {judged}" if others else judged
        assert caption == f"C1. {told}"


@pytest.mark.slow
def test_controls_stand_in_a_table_best_first_with_intervals(tmp_path):
    folder = with_controls(tmp_path).write()
    decided, held = _of("C10", folder)
    assert decided.verdict.verdict in ("held", "partly", "not held")
    assert held.drawn == ("arms",)
    (grid,) = held.grids
    measured, _ = measured_controls(load_bundle(folder))
    assert grid == controls_grid(measured)
    assert {row[0] for row in grid.rows} >= {"uniform weights", "no attention", "source reversed"}
    levels = [float(row[1].partition("\n")[0]) for row in grid.rows if row[1]]
    assert levels == sorted(levels, reverse=True)
    assert all(told in grid.caption for told in ("BLEU", "n = 12* sentences", "95 %", "under 100"))
    gains = {row[0]: row[2] for row in grid.rows}
    uniform = next(one for one in measured.controls if one.name == "uniform weights")
    ends = uniform.gain.interval
    assert gains["uniform weights"] == (
        f"{uniform.gain.value:+.1f}\n{ends.low:+.1f}..{ends.high:+.1f}"
    )


@pytest.mark.slow
def test_longer_training_stands_in_a_table_by_bucket(tmp_path):
    write_planted(tmp_path, {"none": LOSSES, "additive": [0.1] * 5}, seeds=1, factors=(1, 2))
    decided, held = _of("C12", tmp_path)
    assert decided.verdict.verdict != "not measured"
    assert [row[0] for row in held.grids[0].rows] == ["5-10", "11-20", "21-30", "31-40", "41+"]
    assert all(len(row) == 6 and "\n" in row[4] for row in held.grids[0].rows)
    caption = held.grids[0].caption
    assert all(told in caption for told in ("in BLEU", "n sentences", "95 %", "*: under 100"))
    assert any("did not log their validation loss" in note for note in held.notes)


@pytest.mark.slow
def test_a_figure_and_a_table_stand_with_the_first_claim_alone(tmp_path):
    folder = write_results(tmp_path)
    _, first = _of("C11", folder)
    assert (first.drawn, first.tabled, first.seen) == (("length",), ("length",), {})
    _, again = _of("C11", folder, {"length": "C5"})
    assert (again.drawn, again.tabled, again.seen) == ((), (), {"length": "C5"})
    assert again.grids == ()


@pytest.mark.slow
def test_links_of_the_users_own_have_their_table_and_their_command(tmp_path):
    write_gold(write_results(tmp_path))
    decided, held = _of("C7", tmp_path)
    assert held.tabled == ("alignment-gold",)
    assert held.drawn[:1] == ("alignment-gold",)
    assert "the user's gold set" in held.pictures[0].alt
    assert "the user's gold links" in held.grids[0].caption
    assert held.grids[0].rows[0][:2] == ("5-10", "additive")
    files = "--gold FILE --source FILE --target FILE"
    assert decided.verdict.verdict == "partly"
    told = of_claim(decided, held, load_bundle(tmp_path))
    assert told.measure == (f"bottleneck study alignment {files} --results {tmp_path}",)
    assert told.show[:2] == (
        f"bottleneck table alignment-gold --results {tmp_path}",
        f"bottleneck plot alignment-gold --results {tmp_path} -o alignment-gold.svg",
    )


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["C3", "C9"])
def test_without_numbers_nothing_is_drawn(claim, tmp_path):
    decided, held = _of(claim, write_results(tmp_path))
    assert (held.pictures, held.grids, held.drawn) == ((), (), ())
    assert of_claim(decided, held, load_bundle(tmp_path)) == Ways((decided.command,))
