"""What the tables of all studies say of their runs."""

import pandas as pd
import pytest

from seq2seq_bottleneck.tables.studied import caption


def _frame(seeds):
    """A mean and its seeds of each arm."""
    facts = {"corpus": "grammar", "context_size": 32, "updates": 40}
    rows = [
        facts | {"arm": arm, "seed": seed} for arm, own in seeds.items() for seed in [None, *own]
    ]
    return pd.DataFrame(rows).astype({"seed": "Int64"})


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ({"none": [1], "additive": [1]}, "One seed (1): nothing is known of the spread over seeds"),
        ({"none": [1, 2], "additive": [1, 2]}, "Seeds 1, 2 of every arm: a value is their mean"),
        (
            {"none": [1, 2], "additive": [1]},
            "Seeds (none: 1, 2; additive: 1): a value is the mean over its arm's",
        ),
    ],
)
def test_one_seed_is_no_mean(seeds, told):
    first = caption(_frame(seeds))[0]
    assert first.startswith(f"Corpus grammar; context 32; 40 updates. {told}. * behind a count")
