"""Verification of a whole module: structure, every op's own constraints, and dominance.

xDSL's `Operation.verify` stops at the first failure, recurses into regions and does not report the failing op. This
traversal is flat, reports every failing op with its source location, and also finds uses before definitions.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.upstream.checks import check_upstream, is_upstream
from xrelay.errors import VerificationError, XRelayError, one_line
from xrelay.passes.infra.dominance import dominance_errors
from xrelay.passes.infra.symbols import symbol_errors


def verify_module(module: Operation) -> None:
    """Raises the first `VerificationError` of `verification_errors`."""
    for error in verification_errors(module):
        raise error


def verification_errors(module: Operation) -> Iterator[VerificationError]:
    """Yields all errors of `module`: those of ops in program order, then uses without a visible definition.

    The verifier of a call may crash on an invalid function, such as one without a type; then only the function's error
    is reported. If there is no other error, a crash of a verifier of xDSL's dialects means that its op is incomplete.
    """
    faults: list[tuple[Operation, Exception]] = []
    is_wrong = False
    for op in walk_ops(module):
        for error in _op_errors(op, faults):
            is_wrong = True
            yield error
    for error in dominance_errors(module):
        is_wrong = True
        yield error
    if is_wrong:
        return
    for op, fault in faults:
        if not is_upstream(type(op)):
            raise fault
        message = f"{op.name} is not whole: a part is missing, of another kind, or out of range"
        yield VerificationError(message, location=location_of(op))


def _op_errors(op: Operation, faults: list[tuple[Operation, Exception]]) -> Iterator[VerificationError]:
    """Yields the errors of one op; a crash of its verifier is appended to `faults`."""
    wrong_symbols = list(symbol_errors(op))
    yield from wrong_symbols
    if wrong_symbols:
        return
    try:
        message = _op_failure(op)
    except Exception as fault:  # a verifier of xDSL that accesses a missing part of another op
        faults.append((op, fault))
        return
    if message is not None:
        yield VerificationError(message, location=location_of(op))


def walk_ops(top: Operation) -> Iterator[Operation]:
    """Yields `top` and every op below it in program order, without recursion; yielded ops may be moved or erased."""
    yield top
    pending = _first_ops(top)
    while pending:
        op = pending.pop()
        while op is not None:
            following = op.next_op
            yield op
            if op.regions:
                pending.append(following)
                pending += _first_ops(op)
                break
            op = following


def _first_ops(op: Operation) -> list[Operation | None]:
    """Returns the first op of each block of `op`'s regions, last block first."""
    return [block.first_op for region in reversed(op.regions) for block in reversed(region.blocks)]


def _op_failure(op: Operation) -> str | None:
    """Returns the error of one op, including its regions' structure, in one line."""
    try:
        if (message := _structure_failure(op)) is not None:
            return message
        op.verify_()
        check_upstream(op)
    except VerifyException as error:
        return one_line(str(error))
    except XRelayError as error:
        return one_line(error.message)
    except Exception as error:
        # Some verifiers of xDSL raise `Exception` itself for invalid programs; other exceptions are crashes.
        if type(error) is not Exception:
            raise
        return f"{op.name}: {one_line(str(error))}"
    return None


def _structure_failure(op: Operation) -> str | None:
    """Returns the error in the blocks of `op`'s regions, or in the position of `op` in its own block."""
    block = op.parent
    if op.successors:
        if block is None or block.last_op is not op:
            return f"{op.name} has successors but does not end its block"
        if any(successor.parent is not block.parent for successor in op.successors):
            return f"{op.name} branches to a block of another region"
    for region in op.regions:
        single = region.first_block is region.last_block
        if single and op.has_trait(NoTerminator):
            continue
        for inner in region.blocks:
            if (message := _end_failure(op, inner)) is not None:
                return message
    return None


def _end_failure(op: Operation, block: Block) -> str | None:
    """Returns the error at the end of a block that needs a terminator."""
    last = block.last_op
    if last is None:
        return f"a block of {op.name} is empty, but must end in a terminator"
    if not last.has_trait(IsTerminator, value_if_unregistered=True):
        return f"a block of {op.name} ends in {last.name}, which is not a terminator"
    return None
