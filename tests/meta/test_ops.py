"""Every op has an example that parses and verifies, and every constraint that it states is tested."""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xrelay.dialects import ALL_DIALECTS, dialect_thunks
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.passes.infra.locating_parser import LocatingParser
from xrelay.passes.infra.source import full_context
from xrelay.passes.infra.verify import verify_module

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"```mlir\n(.*?)```", re.DOTALL)
CONSTRAINT = re.compile(r"^\s*(?:- )?(C\d+)\b(?!.*checked by the op around)", re.MULTILINE)


def all_ops() -> dict[str, type[Operation]]:
    return {op.name: op for thunk in dialect_thunks().values() for op in thunk().operations}


OPS = all_ops()
RELAY_OPERATORS = set(relay_ops().values())


def declared(op: type[Operation]) -> set[str]:
    """Returns the constraints that an op declares; test_declared_constraints.py breaks each of them."""
    return set(op.CONSTRAINTS) if issubclass(op, RelayOp) else set()


def texts(folder: str, suffix: str) -> str:
    """Returns the texts of all files of a folder of the tests."""
    return "\n".join(path.read_text() for path in sorted((ROOT / "tests" / folder).rglob(f"*{suffix}")))


@cache
def names_in_lit() -> set[str]:
    """Returns the names with dots in the lit tests, and all other words."""
    return set(re.findall(r"[\w.]+", texts("lit", ".mlir")))


@cache
def expected_constraints() -> set[tuple[str, str]]:
    """Returns each op and constraint that a test expects in a message, as in `[relay.add C1]`."""
    return set(re.findall(r"\[([\w.]+) (C\d+)\]", texts("lit", ".mlir") + texts("", ".py").replace("\\", "")))


def own_doc(op: type[Operation]) -> str:
    return inspect.cleandoc(op.__doc__ or "")


def parse_example(text: str, name: str) -> ModuleOp:
    """Returns the ops of an example, with a test op for each value that it uses but does not define."""
    parser = LocatingParser(full_context(), text, f"{name} example")
    ops: list[Operation] = []
    while (op := parser.parse_optional_operation()) is not None:
        ops.append(op)
    assert text[parser.pos :].strip() == ""
    given: list[Operation] = []
    for indices in parser.forward_ssa_references.values():
        for value in indices.values():
            given.append(test.TestOp(result_types=[value.type]))
            value.replace_all_uses_with(given[-1].results[0])
    return ModuleOp([*given, *ops])


@pytest.mark.parametrize("name", OPS)
def test_op_has_its_own_docstring_and_belongs_to_its_dialect(name: str) -> None:
    assert len(own_doc(OPS[name])) > 20
    assert name.partition(".")[0] in ALL_DIALECTS


@pytest.mark.parametrize("name", OPS)
def test_examples_parse_and_verify(name: str) -> None:
    examples = EXAMPLE.findall(own_doc(OPS[name]))
    assert examples, "the docstring has no ```mlir example"
    for example in examples:
        assert name in example
        verify_module(parse_example(example, name))


@pytest.mark.parametrize("name", [name for name in OPS if OPS[name] not in RELAY_OPERATORS])
def test_op_appears_in_a_lit_file(name: str) -> None:
    """The examples of relay's operators round-trip and run; the other ops are in lit tests."""
    assert name in names_in_lit()


@pytest.mark.parametrize("name", OPS)
def test_every_constraint_is_tested(name: str) -> None:
    stated = set(CONSTRAINT.findall(own_doc(OPS[name])))
    tested = {constraint for op, constraint in expected_constraints() if op == name} | declared(OPS[name])
    assert stated <= tested, f"no test expects {sorted(stated - tested)}"
