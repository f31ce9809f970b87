"""The user's corpus on its way to other machines: files named by their content.

A worker keeps them in one folder, and the settings that are sent name them there.
"""

from hashlib import sha256
from pathlib import Path

from ..corpus.corpus import load_corpus
from ..settings.concerns import FILES, CorpusSettings
from ..settings.run import RunSettings

_ENDINGS = (".tsv.gz", ".tsv", ".gz", "")


class Portable:
    """The corpora of a sweep: each is read once, and its files kept until they are sent."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._fingerprints: dict[tuple[CorpusSettings, tuple[int, ...]], str] = {}
        self._names: dict[str, str] = {}

    def fingerprint(self, settings: RunSettings) -> str:
        """The fingerprint of a run's corpus; a fault of the corpus is a ``UserError``."""
        place = settings.corpus, settings.scoring.lower_edges
        if place not in self._fingerprints:
            self._fingerprints[place] = load_corpus(*place).fingerprint
        return self._fingerprints[place]

    def sent(self, settings: RunSettings) -> RunSettings:
        """The settings as a worker gets them: the same but for the names of the user's files."""
        given = {key: getattr(settings.corpus, key) for key in FILES}
        names = {key: self._name(path) for key, path in given.items() if path is not None}
        return settings.changed(corpus=names) if names else settings

    def _name(self, path: str) -> str:
        """The name of a file for its content; its ending says how to read it."""
        if path not in self._names:
            content = Path(path).expanduser().read_bytes()
            ending = next(end for end in _ENDINGS if path.lower().endswith(end))
            name = sha256(content).hexdigest() + ending
            self.files[name], self._names[path] = content, name
        return self._names[path]
