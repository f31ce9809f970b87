"""How runs are told: by arm and seed, as many as anybody reads."""

import pytest

from seq2seq_bottleneck.tables.families import runs_told

ELEVEN = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ({}, ""),
        ({"none": [1]}, "1 run: none, seed 1"),
        ({"none": [2, 1], "dot": [1, 2]}, "4 runs: none, dot, seed 1, 2"),
        ({"none": [1], "dot": [9, 1]}, "3 runs: none, seed 1; dot, seed 1, 9"),
        ({"none": range(1, 21)}, f"20 runs: none, seed {', '.join(map(str, range(1, 21)))}"),
        ({"none": range(1, 22)}, "21 runs: none, 21 seeds: 1-21"),
        (
            {"none": {*range(1, 26)} - {3}, "dot": {*range(1, 26)} - {7}},
            "48 runs: none, 24 seeds: 1-2, 4-25; dot, 24 seeds: 1-6, 8-25",
        ),
        ({"none": [*range(1, 12), *range(1, 12)]}, f"22 runs: none, seed {ELEVEN}"),
        (
            dict.fromkeys(["none", "dot"], range(5000, 0, -2)),
            "5,000 runs: none, dot, 2,500 seeds from 2 to 5000",
        ),
    ],
)
def test_arms_of_the_same_seeds_share_them_and_many_are_counted(seeds, told):
    held = {arm: list(each) for arm, each in seeds.items()}
    assert runs_told(sum(map(len, held.values())), held) == told
