"""Every declared constraint is stated in the documentation, holds for the example and rejects violations.

The messages of each kind of constraint are in `tests/lit/dialects/relay/declared_constraints_invalid.mlir`.
"""

from __future__ import annotations

import inspect

import pytest
from support.relay_examples import example_op
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.errors import ConstraintError

OPERATORS = relay_ops()


@pytest.mark.parametrize("name", [name for name, op in OPERATORS.items() if op.CONSTRAINTS])
def test_constraints_are_documented_and_refuse_what_breaks_them(name: str) -> None:
    op = example_op(OPERATORS[name])
    for constraint, declared in op.CONSTRAINTS.items():
        assert f"- {constraint}: {declared.sentence()}." in inspect.cleandoc(op.__doc__ or "")
        declared.check(constraint, Facts(op.name, op.operand_types), op.properties)
        types, properties = declared.broken(op.operand_types, op.properties)
        wrong = type(op).create(result_types=[op.results[0].type], properties=properties)
        with pytest.raises(ConstraintError) as refused:
            wrong.inferred_type(types)
        assert str(refused.value).startswith(f"[{op.name} {constraint}]")


def test_a_result_that_does_not_follow_from_the_operands_is_refused() -> None:
    for op in map(example_op, OPERATORS.values()):
        if isinstance(op.results[0].type, TensorType):
            wrong = TensorType(IntegerType(5), op.results[0].type.get_shape())
            made = type(op).create(operands=op.operands, result_types=[wrong], properties=op.properties)
            with pytest.raises(VerifyException, match=rf"^\[{op.name} C0\] result type "):
                made.verify_()
