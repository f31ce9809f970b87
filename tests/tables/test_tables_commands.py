"""What is to be run for a claim that is decided in a folder of its own."""

import pytest
from planted import write_run

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS, PROBES
from seq2seq_bottleneck.settings.grid import make_grid
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sums import write_listed
from seq2seq_bottleneck.settings.sweep import load_sweep
from seq2seq_bottleneck.tables.commands import command

(C2,) = (claim for claim in CLAIMS if claim.id == "C2")
SENTENCES = ["a b c d e f"] * 30


def results(folder, *settings):
    """Runs to which the study of capacities was put."""
    for number, each in enumerate(settings):
        write_run(folder, f"run{number}", each, SENTENCES, SENTENCES)
    table = ",".join(PROBE_COLUMNS) + "\n"
    write_listed(folder, [(f"{PROBES}/{C2.study}.csv", table.encode())])
    return load_bundle(folder)


def seeded(settings, seed):
    return settings.model_copy(
        update={"training": settings.training.model_copy(update={"seed": seed})}
    )


def test_a_sweep_that_was_begun_goes_on_in_its_folder(tmp_path):
    first, *_, last = (cell.settings for cell in make_grid(load_sweep("capacity")).cells)
    bundle = results(tmp_path, first, seeded(last, 7))
    told = command(C2, tmp_path, bundle)
    assert told == (
        f"bottleneck sweep capacity --out {tmp_path} && "
        f"bottleneck study capacity --results {tmp_path}"
    )


@pytest.mark.parametrize("beside", [True, False])
def test_among_runs_of_another_training_it_would_fail_and_gets_a_folder_of_its_own(
    tmp_path, beside
):
    others = [make_grid(load_sweep("capacity")).cells[0].settings] if beside else []
    bundle = results(tmp_path, resolve("smoke"), *others)
    assert command(C2, tmp_path, bundle) == "bottleneck study capacity"
