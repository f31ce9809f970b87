"""No module runs what is in a file: by the syntax tree of every one of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "bottleneck").rglob("*.py")) + sorted((ROOT / "experiments").rglob("*.py"))

FORBIDDEN_MODULES = {
    "pickle", "_pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve", "joblib", "code",
    "codeop", "xmlrpc", "telnetlib", "commands", "pty",
}  # fmt: skip
"""What loads objects, and with them code; and what gives a shell."""
FORBIDDEN_CALLS = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "subprocess.getoutput",
    "subprocess.getstatusoutput", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "torch.load",
    "tempfile.mktemp", "pandas.read_pickle", "runpy.run_path", "tarfile.open.extractall",
    "shutil.unpack_archive", "ssl._create_unverified_context",
}  # fmt: skip
FORBIDDEN_METHODS = {"to_pickle", "read_pickle", "extractall"}
"""Whatever they are called on."""
FORBIDDEN_ARGUMENTS = {"shell": True, "allow_pickle": True, "verify": False}
STARTERS = ("os.spawn", "os.exec")


def faults(source: str) -> list[str]:
    """What a module may not have, by line."""
    tree = ast.parse(source)
    names = dict(_imported(tree))
    return sorted(f"{node.lineno}: {told}" for node in ast.walk(tree) for told in _of(node, names))


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What names of the module stand for: ``np`` for ``numpy``, ``mktemp`` for its function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _of(node: ast.AST, names: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from _modules([alias.name for alias in node.names])
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
        yield from _modules([node.module or ""])
    elif isinstance(node, ast.Call):
        yield from _called(node, names)
    elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        told = _dotted(node, names)  # handed on, to be called elsewhere
        if told in FORBIDDEN_CALLS - {"compile"}:
            yield told


def _modules(modules: list[str]) -> Iterator[str]:
    yield from (name for name in modules if name.partition(".")[0] in FORBIDDEN_MODULES)


def _called(node: ast.Call, names: dict[str, str]) -> Iterator[str]:
    told = _dotted(node.func, names)
    if told == "compile" or told.startswith(STARTERS):
        yield told
    if isinstance(node.func, ast.Attribute) and node.func.attr in FORBIDDEN_METHODS:
        yield node.func.attr
    for given in node.keywords:
        forbidden = FORBIDDEN_ARGUMENTS.get(given.arg or "")
        if forbidden is not None and not _is(given.value, not forbidden):
            yield f"{given.arg}="


def _is(value: ast.expr, constant: bool) -> bool:
    """Whether this is that constant: what is not known is not."""
    return isinstance(value, ast.Constant) and value.value is constant


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """``os.system``, by whatever name it was imported; empty for what has no name."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, names)}.{node.attr}"
    return ""


PLANTED = [
    "import pickle",
    "import pickle as p",
    "from pickle import loads",
    "import numpy, marshal",
    "import shelve",
    "from joblib import load",
    "import cloudpickle",
    "eval('1')",
    "exec('a = 1')",
    "compile('1', '', 'eval')",
    "run = eval",
    "map(exec, lines)",
    "__import__(name)",
    "import os\nos.system('ls')",
    "from os import system\nsystem('ls')",
    "import os as o\no.popen('ls')",
    "import os\nos.execv(path, [])",
    "import os\nos.spawnl(0, path)",
    "import subprocess\nsubprocess.run('ls', shell=True)",
    "from subprocess import Popen\nPopen('ls', shell=is_shell)",
    "import subprocess\nsubprocess.getoutput('ls')",
    "import yaml\nyaml.load(text)",
    "import numpy as np\nnp.load(path, allow_pickle=True)",
    "import numpy as np\nnp.load(path, allow_pickle=given)",
    "import torch\ntorch.load(path)",
    "from torch import load as read\nread(path)",
    "import tempfile\ntempfile.mktemp()",
    "from tempfile import mktemp\nmktemp()",
    "import pandas as pd\npd.read_pickle(path)",
    "frame.to_pickle(path)",
    "import tarfile\ntarfile.open(path).extractall()",
    "import shutil\nshutil.unpack_archive(path)",
    "import requests\nrequests.get(url, verify=False)",
]
HARMLESS = [
    "import re\nre.compile('a')",
    "import jax\njax.jit(f).lower().compile()",
    "model.eval()",
    "import numpy as np\nnp.load(path)\nnp.load(path, allow_pickle=False)",
    "import subprocess\nsubprocess.run(['ls'], shell=False)",
    "import json, tomllib\njson.loads(text)",
    "import yaml\nyaml.safe_load(text)",
    "import tempfile\ntempfile.mkstemp()",
    "import os\nos.path.exists(path)",
    "executor.exec_module = 1",
]


@pytest.mark.parametrize("source", PLANTED)
def test_the_check_finds_what_is_planted(source):
    assert faults(source)


@pytest.mark.parametrize("source", HARMLESS)
def test_the_check_finds_nothing_in_what_is_harmless(source):
    assert faults(source) == []


def test_all_modules_are_looked_at():
    assert len(MODULES) > 100
    assert {"run.py", "worker.py", "download.py", "__main__.py"} <= {each.name for each in MODULES}


@pytest.mark.slow
def test_no_module_runs_what_is_in_a_file():
    found = {path: faults(path.read_text(encoding="utf8")) for path in MODULES}
    assert {path: told for path, told in found.items() if told} == {}
