"""``--where``: columns, settings, lists and alternatives; messages about wrong conditions."""

from dataclasses import replace

import pytest
from planted import write_sizes

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.tables.comparison import where


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Both arms at three context sizes, two seeds each; one run of none per size names its arm."""
    folder = tmp_path_factory.mktemp("sizes")
    cells = {(size, arm): [0.1] * 5 for size in (8, 16, 32) for arm in ("none", "additive")}
    write_sizes(folder, cells, seeds=2, changes={"hidden_size": 32})
    bundle = Results.open(folder)
    arms = {"none8s2": "a", "none16s2": "a, b", "none32s2": "b"}
    named = bundle.runs["run"].map(arms).fillna("").astype("str")
    return replace(bundle, runs=bundle.runs.assign(arm=named))


def test_columns_settings_lists_and_alternatives(several):
    def sizes(*conditions):
        return sorted(set(where(several, conditions).runs["context_size"]))

    assert sizes() == [8, 16, 32]
    assert sizes("context_size=8, 32") == sizes("context_size=8", "context_size=32") == [8, 32]
    assert sizes("model.context_size = 16") == [16]
    kept = where(several, ["attention=none", "seed=2", "bidirectional=false"])
    assert set(kept.names) == {"none8s2", "none16s2", "none32s2"}


@pytest.mark.parametrize(
    ("condition", "error", "message"),
    [
        ("contxt_size=8", UsageError, "did you mean 'context_size'"),
        ("context_size", UsageError, "write column=value"),
        ("context_size=small", UserError, "no run with context_size=small; there are 8, 16, 32"),
        ("context_size=64", UserError, "no run with context_size=64; there are 8, 16, 32"),
        ("attention=none,nope", UserError, "no run with attention=nope; there are"),
        ("bidirectional=true", UserError, "there are false"),
    ],
)
def test_a_wrong_condition_is_refused_with_what_there_is(several, condition, error, message):
    with pytest.raises(UserError, match=message) as caught:
        where(several, [condition])
    assert type(caught.value) is error
