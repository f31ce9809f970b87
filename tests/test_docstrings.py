"""The docstring of every public function names the errors that it raises itself.

Ruff checks that everything public has a docstring.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from seq2seq_bottleneck.cli import corpus
from seq2seq_bottleneck.cli.main import app

PACKAGE = Path(__file__).parents[1] / "bottleneck"


def raised(node: ast.AST) -> Iterator[str]:
    """Classes of the errors that a function raises itself, not what is inside it or called."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise) and child.exc is not None:
            error = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
            name = ast.unparse(error).rpartition(".")[2]
            if name[0].isupper():
                yield name
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from raised(child)


def unnamed(node: ast.Module | ast.ClassDef, name: str) -> Iterator[str]:
    """``FUNCTION: ERROR`` of public functions and methods whose docstring leaves an error out."""
    for child in node.body:
        child_name = getattr(child, "name", "_")
        public = not child_name.startswith("_") or child_name == "__call__"
        if isinstance(child, ast.ClassDef) and public:
            yield from unnamed(child, f"{name}.{child.name}")
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and public:
            docstring = ast.get_docstring(child) or ""
            errors = sorted({error for error in raised(child) if error not in docstring})
            yield from (f"{name}.{child.name}: {error}" for error in errors)


@pytest.mark.slow
def test_all_errors_that_a_public_function_raises_itself_are_named():
    """But for the commands: their docstring is the help that a user reads."""
    commands = {
        f"{command.callback.__module__.partition('.')[2]}.{command.callback.__name__}"
        for command in [*app.registered_commands, *corpus.app.registered_commands]
    }
    assert "cli.study.study" in commands
    lacking = [
        error
        for path in sorted(PACKAGE.rglob("*.py"))
        for error in unnamed(
            ast.parse(path.read_text(encoding="utf8")),
            ".".join(path.relative_to(PACKAGE).with_suffix("").parts),
        )
    ]
    assert [error for error in lacking if error.partition(":")[0] not in commands] == []
