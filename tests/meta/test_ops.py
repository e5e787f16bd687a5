"""Every op has an example that parses and verifies, and every constraint that it states is tested."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xrelay.dialects import ALL_DIALECTS, dialect_thunks
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.dialect import RELAY
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


def texts(folder: str, suffix: str) -> str:
    """Returns the texts of all files of a folder of the tests."""
    return "\n".join(path.read_text() for path in sorted((ROOT / "tests" / folder).rglob(f"*{suffix}")))


def names_in_lit() -> set[str]:
    """Returns the names with dots in the lit tests, and all other words."""
    return set(re.findall(r"[\w.]+", texts("lit", ".mlir")))


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


def test_ops_have_their_own_docstrings_and_belong_to_their_dialect() -> None:
    assert [name for name, op in OPS.items() if len(own_doc(op)) <= 20] == []
    assert {name.partition(".")[0] for name in OPS} <= set(ALL_DIALECTS)


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op not in RELAY.operations])
def test_examples_parse_and_verify(name: str) -> None:
    """Those of relay's ops are in tests/unit/relay/test_ops.py."""
    examples = EXAMPLE.findall(own_doc(OPS[name]))
    assert examples, "the docstring has no ```mlir example"
    for example in examples:
        assert name in example
        verify_module(parse_example(example, name))


def test_ops_appear_in_lit_files() -> None:
    """The examples of relay's operators round-trip and run; the other ops are in lit tests."""
    assert {name for name, op in OPS.items() if op not in RELAY_OPERATORS} <= names_in_lit()


def test_every_constraint_is_tested() -> None:
    """test_declared_constraints.py breaks the constraints that an op declares."""
    stated = {(name, constraint) for name, op in OPS.items() for constraint in CONSTRAINT.findall(own_doc(op))}
    relays = ((name, op) for name, op in OPS.items() if issubclass(op, RelayOp))
    declared = {(name, constraint) for name, op in relays for constraint in op.CONSTRAINTS}
    assert stated - declared - expected_constraints() == set()
