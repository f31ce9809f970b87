"""No module runs what is in a file: by the syntax tree of every one of them."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "bottleneck").rglob("*.py")) + sorted((ROOT / "experiments").rglob("*.py"))
MODULE = re.compile(
    r"(_?pickle|cPickle|cloudpickle|dill|marshal|shelve|joblib|code|codeop|pty|commands|xmlrpc"
    r"|telnetlib)(\..+)?$"
)
"""What loads objects, and with them code; and what gives a shell."""
NAME = re.compile(
    r"""(eval|exec|compile|__import__)$
    |os\.(system|popen|spawn\w+|exec\w+)$
    |subprocess\.get(status)?output$
    |yaml\.(unsafe_|full_)?load$|torch\.load$|runpy\.run_path$
    |tempfile\.mktemp$|shutil\.unpack_archive$|ssl\._create_unverified_context$
    |.*\.(to_pickle|read_pickle|extractall)$
    |\w+=$  # an argument that is not safe""",
    re.VERBOSE,
)
SAFE_ARGUMENTS = {"shell": False, "allow_pickle": False, "verify": True}


def faults(source: str) -> list[str]:
    """What a module may not have, by its full name."""
    tree, names = ast.parse(source), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {
                alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names
            }
    used = {*names.values()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            used.add(dotted(node, names))
        elif isinstance(node, ast.keyword) and node.arg in SAFE_ARGUMENTS:
            value = node.value  # what is not known is not safe
            if not isinstance(value, ast.Constant) or value.value is not SAFE_ARGUMENTS[node.arg]:
                used.add(f"{node.arg}=")
    return sorted({*filter(NAME.match, used), *filter(MODULE.match, names.values())})


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """``os.system``, by whatever name it was imported; empty for what has no name."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    return f"{dotted(node.value, names)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


PLANTED = """
import pickle
import pickle as p
from pickle import loads
import numpy, marshal
import shelve
from joblib import load
import cloudpickle
eval('1')
exec('a = 1')
compile('1', '', 'eval')
run = eval
map(exec, lines)
__import__(name)
import os; os.system('ls')
from os import system; system('ls')
import os as o; o.popen('ls')
import os; os.execv(path, [])
import os; os.spawnl(0, path)
import subprocess; subprocess.run('ls', shell=True)
from subprocess import Popen; Popen('ls', shell=is_shell)
import subprocess; subprocess.getoutput('ls')
import yaml; yaml.load(text)
import numpy as np; np.load(path, allow_pickle=True)
import numpy as np; np.load(path, allow_pickle=given)
import torch; torch.load(path)
from torch import load as read; read(path)
import tempfile; tempfile.mktemp()
from tempfile import mktemp; mktemp()
import pandas as pd; pd.read_pickle(path)
frame.to_pickle(path)
import tarfile; tarfile.open(path).extractall()
import shutil; shutil.unpack_archive(path)
import requests; requests.get(url, verify=False)
"""
HARMLESS = """
import re; re.compile('a')
import jax; jax.jit(f).lower().compile()
model.eval()
import numpy as np; np.load(path); np.load(path, allow_pickle=False)
import subprocess; subprocess.run(['ls'], shell=False)
import json, tomllib; json.loads(text)
import yaml; yaml.safe_load(text)
import tempfile; tempfile.mkstemp()
import os; os.path.exists(path)
executor.exec_module = 1
"""


def test_the_check_finds_what_is_planted_and_nothing_in_what_is_harmless():
    assert [line for line in PLANTED.strip().splitlines() if not faults(line)] == []
    assert [line for line in HARMLESS.strip().splitlines() if faults(line)] == []


@pytest.mark.slow
def test_no_module_runs_what_is_in_a_file():
    assert {"run.py", "worker.py", "download.py", "__main__.py"} <= {path.name for path in MODULES}
    names_of = {path: faults(path.read_text(encoding="utf8")) for path in MODULES}
    assert {path: names for path, names in names_of.items() if names} == {}
