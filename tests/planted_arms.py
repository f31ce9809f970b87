"""Made-up stores of any arms: a run has its settings, and the shares of words that it loses."""

from pathlib import Path

from planted import planted_settings, sentences, translations, write_run

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.export import write_bundle

LOW = [0.1, 0.3, 0.5, 0.6, 0.7]
HIGH = [0.05, 0.08, 0.08, 0.1, 0.1]


class Store:
    """A store in a folder; ``add`` adds a run, ``write`` writes the bundle."""

    def __init__(self, folder: Path):
        self.folder = folder

    def add(
        self, name: str, arm: str, shares: list[float], seed: int = 1,
        fingerprint: str = "planted", group: str = "", **concerns: dict,
    ) -> "Store":  # fmt: skip
        """A run that loses these shares of words by bucket.

        Runs of one seed lose the same words if their names are equal up to a hyphen.
        """
        settings, references = planted_settings(arm, seed, **concerns), sentences()
        texts = translations(references, shares, [seed, *map(ord, name.split("-")[0])])
        facts = {"fingerprint": fingerprint}
        write_run(self.folder, f"{name}s{seed}", settings, texts, references, group, **facts)
        return self

    def write(self) -> Path:
        """Write the bundle of all runs."""
        write_bundle(Results.open(self.folder), self.folder)
        return self.folder


def with_controls(
    folder: Path,
    uniform: list[float] = LOW,
    reversed_source: list[float] = LOW,
    seeds: tuple[int, ...] = (1,),
) -> Store:
    """Both arms, and two controls that lose these shares."""
    store = Store(folder)
    for seed in seeds:
        store.add("none", "none", LOW, seed).add("additive", "additive", HIGH, seed)
        store.add("uniform", "uniform", uniform, seed)
        changed = {"model": {"reverse_source": True}}
        store.add("reversed", "none", reversed_source, seed, group="reversed source", **changed)
    return store
