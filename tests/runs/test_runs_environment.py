"""What a run says it ran on."""

from importlib.metadata import PackageNotFoundError, version

import pytest

from seq2seq_bottleneck.runs import environment


def test_versions_are_those_of_the_installed_libraries():
    told = environment.describe_environment()["versions"]
    assert told["jax"] == version("jax")
    assert told["sentencepiece"] == version("sentencepiece")


def test_an_extra_that_is_not_installed_is_not_told(monkeypatch: pytest.MonkeyPatch):
    def lacking(name: str) -> str:
        if name == "sentencepiece":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(environment, "version", lacking)
    told = environment.describe_environment()["versions"]
    assert "sentencepiece" not in told
    assert "jax" in told
