"""Everything public says what it is: modules, classes, functions, methods and properties."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

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


def test_all_that_is_public_has_a_docstring():
    paths = sorted(PACKAGE.rglob("*.py"))
    assert len(paths) > 100
    lacking = [
        name
        for path in paths
        for name in undocumented(
            ast.parse(path.read_text(encoding="utf8")),
            ".".join(path.relative_to(PACKAGE).with_suffix("").parts),
        )
    ]
    assert lacking == []
