"""Estimates: exact parameters, operations counted by hand, measured speeds, words for people."""

import pytest

from seq2seq_bottleneck.model.translator import count_parameters, create
from seq2seq_bottleneck.runs.estimate import (
    START_SECONDS,
    duration,
    estimate,
    parameters_of,
    wall_seconds,
)
from seq2seq_bottleneck.runs.operations import (
    forward_operations,
    optimizer_operations,
    run_operations,
)
from seq2seq_bottleneck.runs.pace import update_rate
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import RunSettings, resolve

VOCABULARY = (915, 2033)
MEASURED_RATE = 146e9


def cell(*assignments: str) -> RunSettings:
    return resolve("lecture", assignments)


def speed(lengths: tuple[float, float], *assignments: str) -> float:
    """Target tokens a second that the estimate gives on the machine of the measurements."""
    settings = cell(*assignments)
    tokens = settings.training.updates * settings.training.batch_size * lengths[1]
    operations = run_operations(settings, VOCABULARY[1], lengths)
    return tokens * MEASURED_RATE / operations


@pytest.mark.slow
@pytest.mark.parametrize(
    "assignments",
    [
        (),
        ("model.attention=none", "model.hidden_size=24", "model.cell=lstm"),
        ("model.placement=output", "model.bidirectional=true", "model.layers=2"),
        ("model.tied_output=true", "model.hidden_size=24"),
    ],
)
def test_parameters_are_those_of_the_model(assignments):
    model = resolve("smoke", assignments).model
    assert parameters_of(model, (40, 50)) == count_parameters(create(model, 40, 50, 1)[1])


def test_operations_of_the_lectures_model_counted_by_hand():
    # Gates 3, embeddings 100, hidden and context 256; half as many source tokens as target tokens.
    layer = 2 * 3 * 256 * (100 + 256)
    output = 2 * 256 * 2033
    none = 0.5 * layer + layer + output
    assert forward_operations(cell("model.attention=none"), 2033, 0.5) == none
    context = 2 * 3 * 256 * 256
    assert forward_operations(cell("model.attention=dot"), 2033, 0.5) == none + context
    score = 0.5 * 2 * 256 * 256 + 2 * 256 * 256
    assert forward_operations(cell("model.attention=additive"), 2033, 0.5) == none + context + score


def test_operations_of_layers_directions_maps_and_placement():
    model = ("model.attention=general", "model.placement=output", "model.cell=rnn")
    sizes = ("model.embedding_size=10", "model.hidden_size=20", "model.context_size=30")
    wide = cell(*model, *sizes, "model.layers=2", "model.bidirectional=true")
    encoder = 2 * (2 * 20 * (10 + 20) + 2 * 20 * (40 + 20)) + 2 * 40 * 30
    decoder = 2 * 20 * (10 + 20) + 2 * 20 * (20 + 20)
    joined, score, output = 2 * (30 + 20) * 20, 2 * 20 * 30, 2 * 20 * 50
    expected = encoder + decoder + joined + score + output
    assert forward_operations(wide, 50, 1.0) == expected


def test_a_tied_output_costs_the_map_and_the_embedding():
    untied, tied = (
        forward_operations(cell(f"model.tied_output={tied}"), 2033, 0.5)
        for tied in ("false", "true")
    )
    assert untied - tied == 2 * 256 * 2033 - 2 * (256 * 100 + 100 * 2033)


def test_newton_schulz_operations_counted_by_hand():
    """Of the lecture's model without attention: gates from words, states and the context."""
    muon = ("model.attention=none", "training.optimizer=muon")
    words, states = 2 * 3, 3 * 3
    step = words * 2 * 100 * (2 * 100 * 256 + 100**2) + states * 6 * 256**3
    assert optimizer_operations(cell(*muon)) == 3 * step
    tied = cell(*muon, "model.tied_output=true")
    assert optimizer_operations(tied) == 3 * (step + 2 * 100 * (2 * 100 * 256 + 100**2))
    adam, both = (run_operations(cell(*each), 2033, (26.5, 27.9)) for each in (muon[:1], muon))
    assert both - adam == pytest.approx(2_000 * 3 * step)


def test_a_constant_context_enters_at_every_step_when_words_are_not_forced():
    forced, sampled = (
        forward_operations(
            cell("model.attention=none", f"training.teacher_forcing={ratio}"), 9, 1.0
        )
        for ratio in (1.0, 0.5)
    )
    assert sampled - forced == 2 * 3 * 256 * 256


@pytest.mark.parametrize(
    ("lengths", "assignments", "measured"),
    [
        ((32.0, 36.0), ("model.attention=none",), 24_500),
        ((60.0, 72.0), ("model.attention=none",), 27_400),
        ((32.0, 36.0), ("model.attention=additive",), 16_000),
        ((60.0, 72.0), ("model.attention=additive",), 13_800),
        ((32.0, 36.0), ("model.attention=dot",), 21_000),
        ((60.0, 72.0), ("model.attention=dot",), 20_900),
        ((32.0, 36.0), ("model.attention=uniform",), 23_400),
        ((32.0, 36.0), ("model.attention=none", "model.cell=lstm"), 21_300),
        ((32.0, 36.0), ("model.attention=none", "model.cell=rnn"), 37_700),
        ((32.0, 36.0), ("model.attention=none", "training.teacher_forcing=0.75"), 16_800),
        ((32.0, 36.0), ("model.attention=none", "model.hidden_size=512"), 9_200),
    ],
)
def test_speeds_are_near_those_measured(lengths, assignments, measured):
    assert speed(lengths, *assignments) == pytest.approx(measured, rel=0.2)


def test_batches_of_tokens_cost_alike_whatever_the_length_trained_on():
    tokens = ("model.attention=none", "training.batch_tokens=1800")
    short, long = (
        run_operations(cell(*tokens, f"corpus.train_max_words={words}"), 2033, (25.0, 25.0))
        for words in (10, 60)
    )
    assert short == pytest.approx(long)


def test_shorter_training_sentences_make_cheaper_batches_of_pairs():
    short, long = (
        run_operations(cell(f"corpus.train_max_words={words}"), 2033, (25.0, 28.0))
        for words in (10, 60)
    )
    assert short < 0.25 * long


def test_an_estimate_adds_up():
    cells = [cell("model.attention=none"), cell("model.attention=additive")]
    one = estimate(cells, VOCABULARY, (26.5, 27.9), 1, MEASURED_RATE)
    two = estimate(cells, VOCABULARY, (26.5, 27.9), 2, MEASURED_RATE)
    assert [cost.parameters for cost in one.costs] == [1_562_753, 1_694_081]
    assert one.seconds == pytest.approx(sum(cost.seconds for cost in one.costs))
    assert two.seconds == pytest.approx(max(cost.seconds for cost in one.costs))
    assert all(cost.seconds > START_SECONDS for cost in one.costs)
    # A run of the lecture's sizes took 7.1 MB without attention and 7.7 MB with it.
    assert one.costs[0].disk_bytes == pytest.approx(7.15e6, rel=0.03)
    assert one.disk_bytes == sum(cost.disk_bytes for cost in one.costs)
    assert one.text.startswith("about ")
    assert (one.text[-9:], two.text[-10:]) == ("on 1 core", "on 2 cores")


def test_no_cells_cost_nothing():
    assert estimate([], VOCABULARY, (26.5, 27.9), 2, MEASURED_RATE).seconds == 0


def test_a_faster_machine_takes_less_time():
    slow, fast = (estimate([cell()], VOCABULARY, (25.0, 28.0), 1, rate) for rate in (1e11, 2e11))
    assert fast.seconds < slow.seconds < 2 * fast.seconds


@pytest.mark.exhaustive(sample="session")
def test_this_machines_rate_is_measured_where_none_is_given():
    assert 1e8 < update_rate() < 1e14
    assert estimate([cell()], VOCABULARY, (25.0, 28.0), 1).seconds > START_SECONDS


@pytest.mark.slow
def test_a_rate_that_cannot_be_measured_is_one_line(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "nowhere")
    update_rate.cache_clear()
    with pytest.raises(UserError) as refused:
        update_rate()
    assert "nowhere" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_runs_go_longest_first_to_the_worker_that_is_free():
    assert wall_seconds([1.0, 2.0, 3.0, 4.0], 2) == 5
    assert wall_seconds([1.0, 1.0, 1.0, 5.0], 2) == 5
    assert wall_seconds([3.0, 3.0, 2.0, 2.0, 2.0], 2) == 7
    assert wall_seconds([2.0, 3.0], 8) == 3
    assert wall_seconds([2.0, 3.0], 1) == 5
    assert wall_seconds([2.0, 3.0], 10**30) == 3


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "10 s"),
        (44, "40 s"),
        (89, "90 s"),
        (100, "2 min"),
        (59 * 60, "59 min"),
        (3590, "1 h"),
        (3600 + 15 * 60, "1 h 20 min"),
        (2 * 3600 - 1, "2 h"),
        (49 * 3600, "2 d 1 h"),
        (72 * 3600, "3 d"),
    ],
)
def test_durations_are_rounded_for_people(seconds, text):
    assert duration(float(seconds)) == text
