"""What a run says it ran on."""

from importlib.metadata import PackageNotFoundError, version

import pytest

from seq2seq_bottleneck.runs import environment


def test_versions_are_those_of_the_installed_libraries(monkeypatch: pytest.MonkeyPatch):
    versions = environment.describe_environment()["versions"]
    assert versions["jax"] == version("jax")
    assert versions["sentencepiece"] == version("sentencepiece")

    def lacking(name: str) -> str:
        if name == "sentencepiece":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(environment, "version", lacking)
    del versions["sentencepiece"]
    assert environment.describe_environment()["versions"] == versions
