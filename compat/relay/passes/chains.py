"""Patterns as text for command lines: a chain of operators, each applied to the result of the previous one.

    acme.conv:nn.conv2d:nn.bias_add?:nn.relu|tanh

is the composite `acme.conv` of a convolution, an optional bias, and one of two activations. The result of an operator
is the first operand of the next, also for `add` and `multiply`; the other operands are wildcards.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.irdl import OperandDef, OptOperandDef, VarOperandDef

from xrelay.dialects.relay.core.registry import UnknownOpError, get_relay_op
from xrelay.errors import PassError
from xrelay.passes.patterns.composites import TableRow
from xrelay.passes.patterns.language import is_op, wildcard
from xrelay.passes.patterns.nodes import DFPattern


def chain_row(text: str) -> TableRow:
    """Returns the composite that a chain describes. Raises `PassError` for an invalid chain."""
    name, *links = text.split(":")
    if not name or not links or not all(link.strip("?|") for link in links):
        raise PassError(f"{text!r} is not a chain of operators", help="write name:nn.conv2d:nn.bias_add?:nn.relu")
    if links[0].endswith("?"):
        raise PassError(f"the first operator of the chain {text!r} is optional", help="remove the '?' after it")
    pattern: DFPattern | None = None
    for link in links:
        operators = link.removesuffix("?").split("|")
        calls = [_call(operator, pattern, text) for operator in operators]
        if pattern is not None and link.endswith("?"):
            calls.append(pattern)
        pattern = _any_of(calls)
    assert pattern is not None, "a chain has operators"
    return TableRow(name, pattern)


def _call(operator: str, data: DFPattern | None, text: str) -> DFPattern:
    """Returns the call pattern of an operator on `data`, or on wildcards only."""
    try:
        kind = get_relay_op(operator)
    except UnknownOpError as error:
        raise PassError(f"in the chain {text!r}: {error.message}", help=error.help) from error
    operands: list[OperandDef] = [definition for _, definition in kind.get_irdl_definition().operands]
    if not operands or any(isinstance(operand, VarOperandDef | OptOperandDef) for operand in operands):
        raise PassError(
            f"in the chain {text!r}: {operator} has a variable number of operands", help="register a table in Python"
        )
    others = [wildcard() for _ in operands[1:]]
    return is_op(operator)(wildcard() if data is None else data, *others)


def _any_of(patterns: Sequence[DFPattern]) -> DFPattern:
    first, *others = patterns
    for other in others:
        first = first | other
    return first
