"""Markdown of the definitions of classes, functions and values, with signatures and fields as in the source."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import getmro, getsource

from xrelay.tools.reference.markdown import anchor, cell, docstring


@dataclass(frozen=True)
class Definition:
    """A statement of a module that defines a name."""

    module: str
    node: ast.stmt
    description: str
    """The docstring of a class or function, or the string after an assignment."""

    @property
    def text(self) -> str:
        """The statement as in the source; of a class or a function only the head, with its decorators."""
        lines = _source(self.module).splitlines()
        match self.node:
            case ast.ClassDef(body=[first, *_]) | ast.FunctionDef(body=[first, *_]):
                start = min([self.node.lineno, *(each.lineno for each in self.node.decorator_list)])
                end = [*lines[start - 1 : first.lineno - 1], lines[first.lineno - 1][: first.col_offset]]
                return textwrap.dedent("\n".join(end)).rstrip().removesuffix(":")
            case _:
                return textwrap.dedent("\n".join(lines[self.node.lineno - 1 : self.node.end_lineno]))


@cache
def _source(module: str) -> str:
    return getsource(import_module(module))


def definition_of(module: str, name: str) -> Definition:
    """Returns the definition of a name that a module defines or imports."""
    body = ast.parse(_source(module)).body
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return definition_of(node.module, alias.name)
    return next(found for defined, found in _definitions(module, body) if defined == name)


def public_names(module: str) -> list[str]:
    """Returns the names of the classes that a module defines, in order."""
    body = ast.parse(_source(module)).body
    return [node.name for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def _definitions(module: str, body: list[ast.stmt]) -> Iterator[tuple[str, Definition]]:
    """Yields the statements of a body that define a name, with these names."""
    for node, following in zip(body, [*body[1:], ast.Pass()], strict=True):
        match node:
            case ast.FunctionDef(decorator_list=[ast.Name(id="overload")]):
                continue  # the implementation has the docstring
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name, Definition(module, node, ast.get_docstring(node) or "")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, Definition(module, node, _string(following))
            case _:
                pass


def _string(node: ast.stmt) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
        case _:
            return ""


def entry(heading: str, module: str, name: str, listed: Collection[str] = ()) -> str:
    """Returns the entry of a name: its definition, its description, and the public members of a class.

    `listed` are the names on the page: the members of these classes are not repeated in entries of derived classes.
    """
    found = definition_of(module, name)
    text = f"\n### `{heading}`\n\n{_code(found.text)}\n{docstring(found.description)}\n"
    if not isinstance(found.node, ast.ClassDef):
        return text
    bases = [base.__name__ for base in _class(found.module, name).__bases__ if base.__name__ in listed]
    links = " and ".join(f"[`{base}`](#{anchor(base)})" for base in bases)
    text += f"\nAlso has the members of {links}.\n" if bases else ""
    return text + "".join(map(_member, _members(found.module, name, listed).values()))


def _class(module: str, name: str) -> type:
    return getattr(import_module(module), name)


def _members(module: str, name: str, listed: Collection[str]) -> dict[str, Definition]:
    """Returns the public members of a class by name, its own before those that it inherits from xrelay's classes.

    Members that it inherits from an error or from a listed class are left out, and overrides without a docstring.
    """
    found: dict[str, Definition] = {}
    first, *others = getmro(_class(module, name))
    inherited = [] if Exception in others else [cls for cls in others if cls.__name__ not in listed]
    for cls in (first, *inherited):
        if cls.__module__.startswith("xrelay."):
            node = definition_of(cls.__module__, cls.__name__).node
            assert isinstance(node, ast.ClassDef)
            for member, definition in _definitions(cls.__module__, node.body):
                overrides = not definition.description and any(hasattr(other, member) for other in others)
                if member == "__init__" or not (member.startswith("_") or overrides):
                    found.setdefault(member, definition)
    return found


def _member(member: Definition) -> str:
    summary = docstring(member.description).split("\n\n")[0]
    return f"\n{_code(member.text)}" + (f"\n{cell(summary)}\n" if summary else "")


def _code(text: str) -> str:
    return f"```python\n{text}\n```\n"
