"""Everything public says what it is, and a function which errors it raises itself."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from seq2seq_bottleneck.cli import corpus
from seq2seq_bottleneck.cli.main import app

PACKAGE = Path(__file__).parents[1] / "bottleneck"


def public(name: str) -> bool:
    """Names without an underscore before them, and what calls an object."""
    return not name.startswith("_") or name == "__call__"


def silent(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether there is something, and no word on it."""
    return bool(node.body) and not (ast.get_docstring(node) or "").strip()


def undocumented(node: ast.Module | ast.ClassDef, name: str) -> Iterator[str]:
    """Dotted names of what is public and has no docstring; what is inside a function is not."""
    if silent(node):
        yield name
    for child in node.body:
        if isinstance(child, ast.ClassDef) and public(child.name):
            yield from undocumented(child, f"{name}.{child.name}")
        functions = ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(child, functions) and public(child.name) and silent(child):
            yield f"{name}.{child.name}"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("", []),
        ("x = 1", ["m"]),
        ('"""M."""\ndef f():\n    """F."""\n    def g(): ...\ndef _h(): ...', []),
        ('"""M."""\ndef f(): ...\nasync def g():\n    """ """', ["m.f", "m.g"]),
        ('"""M."""\nclass _C:\n    def f(self): ...\nclass C:\n    x: int', ["m.C"]),
        (
            '"""M."""\nclass C:\n    """C."""\n    def __init__(self): ...\n'
            "    def __call__(self): ...\n    @property\n    def p(self): ...\n"
            "    class D:\n        def f(self): ...",
            ["m.C.__call__", "m.C.p", "m.C.D", "m.C.D.f"],
        ),
    ],
)
def test_what_has_no_docstring_is_found(source, found):
    assert list(undocumented(ast.parse(source), "m")) == found


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Each module of the package, by its dotted name."""
    paths = sorted(PACKAGE.rglob("*.py"))
    assert len(paths) > 100
    for path in paths:
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        yield name, ast.parse(path.read_text(encoding="utf8"))


@pytest.mark.slow
def test_all_that_is_public_has_a_docstring():
    assert [each for name, tree in modules() for each in undocumented(tree, name)] == []


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
        if isinstance(child, ast.ClassDef) and public(child.name):
            yield from unnamed(child, f"{name}.{child.name}")
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and public(child.name):
            said = ast.get_docstring(child) or ""
            errors = sorted({error for error in raised(child) if error not in said})
            yield from (f"{name}.{child.name}: {error}" for error in errors)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(): raise E", ["m.f: E"]),
        ('def f():\n    """``E`` where none is."""\n    if x:\n        raise E("x") from None', []),
        (
            "def f():\n    try: ...\n    except A:\n        raise a.B(1)\n    raise E",
            ["m.f: B", "m.f: E"],
        ),
        ("def f():\n    def g(): raise E\n    raise\n    raise made()\ndef _h(): raise E", []),
        (
            "class C:\n    def f(self):\n        with x: raise E\n    def _g(self): raise E",
            ["m.C.f: E"],
        ),
    ],
)
def test_an_error_that_is_not_named_is_found(source, found):
    assert list(unnamed(ast.parse(source), "m")) == found


@pytest.mark.slow
def test_all_errors_that_a_public_function_raises_itself_are_named():
    """But for the commands: their docstring is the help that a user reads."""
    registered = [*app.registered_commands, *corpus.app.registered_commands]
    paths = [(each.callback.__module__, each.callback.__name__) for each in registered]
    commands = {f"{module.partition('.')[2]}.{name}" for module, name in paths}
    assert "cli.study.study" in commands
    lacking = [each for name, tree in modules() for each in unnamed(tree, name)]
    assert [each for each in lacking if each.partition(":")[0] not in commands] == []
