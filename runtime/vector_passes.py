"""A short LLVM pipeline for code that is vectors already.

A scheduled kernel says by itself what is a vector and which loops are unrolled. LLVM's default pipelines look in it for
more of both, and go through the unrolled code some forty times: of what LLVM costs, that is more than half. This one
cleans up once, before the code grows, unrolls, and puts accumulators into registers. What it leaves, code generation
does: equal loads of a block become one, what does not change leaves its loop. To combine instructions once more, in the
unrolled code, gave objects of the same size and speed and took a tenth of the time.

Strength reduction of loops is kept from it: for nearly half of the time of code generation it looks at every address
that depends on a counter, and what it finds for unrolled tiles is no better than the addresses of x86, which add and
multiply. It leaves a counter alone whose next value is what a call gives, and `llvm.expect` is a call that costs
nothing. That holds for machines with 32 vector registers, whose tiles leave the general ones free: with 16 (AVX2) code
without strength reduction ran 3 to 6 % longer, so there it stays. By then addresses have left the loops that they do
not change in (`llvm-hoist-addresses`).

Scalar code is another matter: there the vectorisers and the passes around them are worth their time. So they are where
unrolled code branches, as where each element of a row asks whether it lies in the padding: the default pipelines take
the iterations out in which the answer is known.

Scalar code that divides integers by what is no constant keeps its loops: CPUs have no such division of vectors, and the
two cost models of LLVM's vectoriser may disagree about it, upon which LLVM 22 ends the process.
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
"""The pipeline, by the names that LLVM has for its passes."""

_STORE: Final = re.compile(r"^\s*store (?:atomic |volatile )*(.)", re.MULTILINE)
_VECTOR, _POINTER = "<", "p"
_DIVISION: Final = re.compile(r"^ *%\S+ = [su](?:div|rem) (?:exact )?i\d+ \S+, %", re.MULTILINE)
"""A quotient or remainder of an integer by what is no constant."""
_FLOW: Final = re.compile(
    r"^(?:define|(?P<label>[^\s:]+):|  br label %(?P<target>[^\s,]+), !llvm.loop (?P<loop>!\d+)|  (?P<choice>br i1) )",
    re.MULTILINE,
)
"""What tells loops and branches of a text: functions, labels, ends of loops, choices."""
_COUNTER: Final = re.compile(
    r"^  (?P<next>%\S+) = (?P<sum>add nsw i64 %\S+, \S+)\n"
    r"  br label %(?P<target>[^\s,]+)(?:, !llvm.loop (?P<loop>!\d+))?$",
    re.MULTILINE,
)
"""The last two lines of a loop that counts."""
_WIDE: Final = "<16 x float>"
"""A type that says that the machine has 32 vector registers: with 16, vectors of floats have 8 elements."""
_EXPECT: Final = "declare i64 @llvm.expect.i64(i64, i64)\n"
_OPTION: Final = re.compile(r'^(!\d+) = !\{!"llvm.loop.unroll.full"\}$', re.MULTILINE)
_NODE: Final = re.compile(r"^(!\d+) = distinct !\{\1((?:, !\d+)*)\}$", re.MULTILINE)


class _Loop(NamedTuple):
    """A loop of a text, by the numbers of its first and its last line of flow."""

    first: int
    last: int
    is_unrolled: bool


class Code(Enum):
    """What a module consists of, which decides between pipelines."""

    VECTORS = "vectors"
    """Vectors and what drives them."""
    SCALARS = "scalars"
    """Numbers, of which LLVM may make vectors."""
    QUOTIENTS = "quotients"
    """Numbers, among them quotients of integers, whose loops stay as they are."""


def code_of(ir_text: str) -> Code:
    """What a module in LLVM IR consists of."""
    if is_vector_code(ir_text):
        return Code.VECTORS
    return Code.SCALARS if _DIVISION.search(ir_text) is None else Code.QUOTIENTS


def is_vector_code(ir_text: str) -> bool:
    """Whether a module in LLVM IR stores vectors, and beside them only pointers, and does not branch in unrolled loops.

    Pointers hand arguments to threads. Scalar loops store numbers: their results, or accumulators on the way.
    """
    kinds = set(_STORE.findall(ir_text))
    return _VECTOR in kinds and kinds <= {_VECTOR, _POINTER} and not _branches_in_unrolled(ir_text)


def hide_counters(ir_text: str) -> str:
    """A module of wide vectors whose loops, but for those to be unrolled whole, count by what nobody looks into.

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
    """Whether the innermost loop around a choice, other than one that ends a loop, is to be unrolled whole."""
    loops, choices = _flow(ir_text)
    return any(
        loop.is_unrolled
        for choice in choices
        if (loop := next((each for each in loops if each.first < choice <= each.last), None)) is not None
    )


def _flow(ir_text: str) -> tuple[list[_Loop], list[int]]:
    """The loops of a text, inner ones before those around them, and the places of choices that end no loop.

    The blocks of a loop stand in a row, from the one that chooses whether it goes on to the one that leads back to it.
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
    """The metadata nodes of loops that are to be unrolled whole."""
    begin = ir_text.find("\n!")  # metadata stands behind the code
    if begin < 0:
        return frozenset()
    full = set(_OPTION.findall(ir_text, begin + 1))
    nodes = _NODE.findall(ir_text, begin + 1)
    return frozenset(node for node, options in nodes if full.intersection(options.split(", ")))
