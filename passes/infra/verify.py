"""Verification of a whole module: structure, every op's own constraints, and dominance.

xDSL's `Operation.verify` stops at the first failure, recurses into regions and forgets which op failed. Here the walk
is flat, every failing op is reported with its source location, and uses before definition are found too.
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
    """Raise the first `VerificationError` of `verification_errors`."""
    for error in verification_errors(module):
        raise error


def verification_errors(module: Operation) -> Iterator[VerificationError]:
    """Yields everything that is wrong with `module`: ops in program order, then uses that no definition reaches.

    The verifier of a call may fail on a function that is wrong itself, as one without a type: that function is told.
    Where nothing else is wrong, a verifier of xDSL's dialects that fails has met an op that it takes for whole.
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
    """Yields what is wrong with one op; an exception of its verifier that tells nothing goes to `faults`."""
    wrong_symbols = list(symbol_errors(op))
    yield from wrong_symbols
    if wrong_symbols:
        return
    try:
        message = _op_failure(op)
    except Exception as fault:  # a verifier of xDSL that reads what another op lacks
        faults.append((op, fault))
        return
    if message is not None:
        yield VerificationError(message, location=location_of(op))


def walk_ops(top: Operation) -> Iterator[Operation]:
    """`top` and every op below it in program order, without recursion; what was yielded may be moved or erased."""
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
    """The first op of each block of `op`'s regions, last block first."""
    return [block.first_op for region in reversed(op.regions) for block in reversed(region.blocks)]


def _op_failure(op: Operation) -> str | None:
    """Returns what is wrong with one op, in one line, its regions' structure included."""
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
        # Some verifiers of xDSL raise `Exception` itself for what a program gets wrong; anything else is a fault.
        if type(error) is not Exception:
            raise
        return f"{op.name}: {one_line(str(error))}"
    return None


def _structure_failure(op: Operation) -> str | None:
    """Returns what is wrong with the blocks of `op`'s regions and with its place in its own block."""
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
    """Returns what is wrong with the end of a block that needs a terminator."""
    last = block.last_op
    if last is None:
        return f"a block of {op.name} is empty, but must end in a terminator"
    if not last.has_trait(IsTerminator, value_if_unregistered=True):
        return f"a block of {op.name} ends in {last.name}, which is not a terminator"
    return None
