"""A short LLVM pipeline for code that is vectorised already.

A scheduled kernel determines its vectors and unrolled loops itself. LLVM's default pipelines search it for more of both
and traverse the unrolled code some forty times, which is more than half of LLVM's time. This pipeline simplifies the
code once before it unrolls loops, and then promotes accumulators to registers. Code generation merges equal loads of a
block and hoists invariants. Combining instructions again in the unrolled code would take a tenth of the compile time,
and the objects would have the same size and speed.

Loop strength reduction is prevented. It takes nearly half of the time of code generation for addresses that depend on a
counter, and for unrolled tiles its result is no better than the addressing modes of x86, which add and multiply. It
ignores a counter whose next value is the result of a call, and `llvm.expect` is a call that costs nothing. This applies
to machines with 32 vector registers, whose tiles leave the general registers free. With 16 (AVX2), code without
strength reduction ran 3 to 6 % longer, so it stays enabled there. Loop-invariant addresses are hoisted beforehand
(`llvm-hoist-addresses`).

For scalar code the vectorisers of the default pipelines are worth their time. So are the default pipelines for unrolled
code with branches, such as a row with a check for each element whether it is in the padding: they resolve the
iterations in which the condition is known.

Scalar code that divides integers by a variable is not vectorised: CPUs have no such vector division, and the two cost
models of LLVM's vectoriser may disagree about it, upon which LLVM 22 aborts the process.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

VECTOR_PASSES: Final = (
    "AlwaysInliner",
    "SimplifyCFG",
    "InstCombine",
    "LoopRotate",
    "LoopUnroll",
    "SROA",
    "SimplifyCFG",
)
"""The pipeline, by LLVM's names of its passes."""

_STORE: Final = re.compile(r"^\s*store (?:atomic |volatile )*(.)", re.MULTILINE)
_VECTOR, _POINTER = "<", "p"
_HELPER: Final = re.compile(r"^define internal .*?^}$", re.MULTILINE | re.DOTALL)
"""A function that is always inlined, or that calls the system."""
_ARRAY: Final = re.compile(r"^  (%\S+) = alloca \[", re.MULTILINE)
_LANE: Final = re.compile(
    r"^  (?P<place>%\S+) = getelementptr inbounds \S+, ptr (?P<array>%\S+), i64 %\S+\n"
    r"  store \S+ \S+, ptr (?P=place), align \d+\n"
    r"(?=  %\S+ = add nsw i64 %\S+, 1\n  br label [^,\n]+, !llvm\.loop (?P<loop>!\d+)$)",
    re.MULTILINE,
)
"""The last store in a loop, with the computation of its address."""
_DIVISION: Final = re.compile(r"^ *%\S+ = [su](?:div|rem) (?:exact )?i\d+ \S+, %", re.MULTILINE)
"""A quotient or remainder of an integer by a variable."""
_FLOW: Final = re.compile(
    r"^(?:define|(?P<label>[^\s:]+):|  br label %(?P<target>[^\s,]+), !llvm.loop (?P<loop>!\d+)|  (?P<choice>br i1) )",
    re.MULTILINE,
)
"""Matches the lines that define the control flow of a text: functions, labels, ends of loops, conditional branches."""
_COUNTER: Final = re.compile(
    r"^  (?P<next>%\S+) = (?P<sum>add nsw i64 %\S+, [^\s,]+(?:, !dbg !\d+)?)\n"
    r"  br label %(?P<target>[^\s,]+)(?:, !llvm.loop (?P<loop>!\d+))?(?:, !dbg !\d+)?$",
    re.MULTILINE,
)
"""The last two lines of a counting loop."""
_WIDE: Final = "<16 x float>"
"""A type that occurs only for machines with 32 vector registers: with 16, vectors of floats have 8 elements."""
_EXPECT: Final = "declare i64 @llvm.expect.i64(i64, i64)\n"
_OPTION: Final = re.compile(r'^(!\d+) = !\{!"llvm.loop.unroll.full"\}$', re.MULTILINE)
_NODE: Final = re.compile(r"^(!\d+) = distinct !\{\1((?:, !\d+)*)\}$", re.MULTILINE)


class _Loop(NamedTuple):
    """A loop of a text, by the numbers of its first and last control flow lines."""

    first: int
    last: int
    is_unrolled: bool


class Code(Enum):
    """The kind of code in a module, which selects its pipeline."""

    VECTORS = "vectors"
    """Vectors and their control code."""
    SCALARS = "scalars"
    """Scalars, which LLVM may vectorise."""
    QUOTIENTS = "quotients"
    """Scalars with integer division, whose loops are not vectorised."""


def code_of(ir_text: str) -> Code:
    """Returns the kind of code in a module in LLVM IR."""
    if is_vector_code(ir_text):
        return Code.VECTORS
    return Code.SCALARS if _DIVISION.search(ir_text) is None else Code.QUOTIENTS


def is_vector_code(ir_text: str) -> bool:
    """Whether a module in LLVM IR stores only vectors and pointers, and does not branch in unrolled loops.

    Pointers pass arguments to threads. Scalar loops store scalars: their results or intermediate accumulators. An
    unrolled loop may collect the lanes of a vector in an array on the stack, because the array becomes a register.
    Functions with internal linkage do not count: they are always inlined, or call the system, as for scratch memory,
    whose size they store.
    """
    unrolled, stores = _unrolled_loops(ir_text), _HELPER.sub("", ir_text)
    arrays = set(_ARRAY.findall(stores))

    def without_lane(found: re.Match[str]) -> str:
        return "" if found["array"] in arrays and found["loop"] in unrolled else found[0]

    kinds = set(_STORE.findall(_LANE.sub(without_lane, stores) if arrays else stores))
    return _VECTOR in kinds and kinds <= {_VECTOR, _POINTER} and not _branches_in_unrolled(ir_text)


def hide_counters(ir_text: str) -> str:
    """Hides the counters of a module of wide vectors from loop optimisations, except in fully unrolled loops.

    `%next = add nsw i64 %i, 1` at the end of a loop becomes `%next.sum = add nsw i64 %i, 1` and `%next = call i64
    @llvm.expect.i64(i64 %next.sum, i64 0)`: the same number.
    """
    if _WIDE not in ir_text:
        return ir_text
    unrolled = _unrolled_loops(ir_text)

    def hide(found: re.Match[str]) -> str:
        function = ir_text.rfind("\ndefine ", 0, found.start())
        is_loop = ir_text.find(f"\n{found['target']}:", max(function, 0), found.start()) >= 0
        if not is_loop or found["loop"] in unrolled:
            return found[0]
        name, branch = found["next"], found[0].rpartition("\n")[2]
        call = f"  {name} = call i64 @llvm.expect.i64(i64 {name}.sum, i64 0)"
        return f"  {name}.sum = {found['sum']}\n{call}\n{branch}"

    hidden = _COUNTER.sub(hide, ir_text)
    return hidden if hidden == ir_text else f"{hidden}\n{_EXPECT}"


def _branches_in_unrolled(ir_text: str) -> bool:
    """Whether a conditional branch that does not end a loop is directly inside a fully unrolled loop."""
    loops, choices = _flow(ir_text)
    return any(
        loop.is_unrolled
        for choice in choices
        if (loop := next((each for each in loops if each.first < choice <= each.last), None)) is not None
    )


def _flow(ir_text: str) -> tuple[list[_Loop], list[int]]:
    """Returns the loops of a text, inner ones first, and the positions of conditional branches that do not end a loop.

    The blocks of a loop are consecutive, from its exit condition to its back edge.
    """
    unrolled, labels, loops = _unrolled_loops(ir_text), dict[str, int](), list[_Loop]()
    choices: list[int] = []
    for number, found in enumerate(_FLOW.finditer(ir_text)):
        if found["label"] is not None:
            labels[found["label"]] = number
        elif found["target"] is not None:
            loops.append(_Loop(labels.get(found["target"], number), number, found["loop"] in unrolled))
        elif found["choice"] is not None:
            choices.append(number)
        else:
            labels.clear()
    heads = {loop.first + 1 for loop in loops}
    return loops, [choice for choice in choices if choice not in heads]


def _unrolled_loops(ir_text: str) -> frozenset[str]:
    """Returns the metadata nodes of fully unrolled loops."""
    begin = ir_text.find("\n!")  # metadata follows the code
    if begin < 0:
        return frozenset()
    full = set(_OPTION.findall(ir_text, begin + 1))
    nodes = _NODE.findall(ir_text, begin + 1)
    return frozenset(node for node, options in nodes if full.intersection(options.split(", ")))
