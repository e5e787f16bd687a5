"""Every declared constraint is stated in the documentation, holds for the example and refuses what breaks it."""

from __future__ import annotations

import inspect

import pytest
from support.relay_examples import example_op

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.errors import ConstraintError

OPERATORS = relay_ops()
DECLARED = [(name, constraint) for name, op in OPERATORS.items() for constraint in op.CONSTRAINTS]


@pytest.mark.parametrize(("name", "constraint"), DECLARED)
def test_the_constraint_is_documented_and_refuses_what_breaks_it(name: str, constraint: str) -> None:
    op = example_op(OPERATORS[name])
    declared = op.CONSTRAINTS[constraint]
    assert f"- {constraint}: {declared.sentence()}." in inspect.cleandoc(op.__doc__ or "")
    declared.check(constraint, Facts(op.name, op.operand_types), op.properties)
    types, properties = declared.broken(op.operand_types, op.properties)
    wrong = type(op).create(result_types=[op.results[0].type], properties=properties)
    with pytest.raises(ConstraintError) as refused:
        wrong.inferred_type(types)
    assert str(refused.value).startswith(f"[{op.name} {constraint}]")
