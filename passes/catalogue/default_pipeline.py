"""The default pipeline of the graph optimiser: one row per pass, with its level and the reason why it runs.

`PipelineWeaver` inserts the passes of other packages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from xrelay.passes.catalogue.extensions import RegisteredPass
from xrelay.passes.catalogue.relay_names import canonical


@dataclass(frozen=True)
class PassSelection:
    """The passes that run or do not run regardless of their level, by canonical name. Disabling wins."""

    required: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()

    def decide(self, pass_name: str) -> bool | None:
        """Whether the pass runs; None leaves that to its level."""
        name = canonical(pass_name)
        return False if name in self.disabled else True if name in self.required else None

    def among(self, names: Collection[str]) -> PassSelection:
        """Returns the selection without passes that are not in `names`."""
        return PassSelection(self.required.intersection(names), self.disabled.intersection(names))


LEVEL_ONLY: Final = PassSelection()
"""The selection of no passes."""

ON_DEMAND = 4
"""The level of passes that run only on request, by `required_pass` or a flag."""


@dataclass(frozen=True)
class PipelineRow:
    """A pass of the default pipeline."""

    opt_level: int
    """The lowest optimisation level at which it runs."""
    spec: str
    """The pass with its options, in the syntax of `xrelay-opt -p`; `{lanes}` represents the target's f32 lanes, and
    `{entry}` the entry of the program."""
    why: str
    """The reason why it runs."""

    @property
    def pass_name(self) -> str:
        """The pass without its options."""
        return self.spec.partition("{")[0]

    @property
    def default_spec(self) -> str:
        """The pass with its options, without those that a placeholder represents."""
        return self.pass_name if "={" in self.spec else self.spec


LIFTING_PIPELINE: tuple[PipelineRow, ...] = (
    PipelineRow(0, "relay-dissolve-compiler-regions", "xrelay also compiles the regions of external compilers"),
    PipelineRow(0, "relay-recursion-to-loop", "a recursive function cannot be inlined, a loop can"),
    PipelineRow(0, "relay-inline", "fusion does not cross the border of a function"),
    PipelineRow(0, "relay-add-callers", "a user can call a closure that @main returns"),
    PipelineRow(0, "relay-lift-closures", "native code only calls functions of the program"),
)
"""The passes after `relay-infer-type` that remove closures, in order. They work on all entries of the program."""

OPTIMIZER_PIPELINE: tuple[PipelineRow, ...] = (
    PipelineRow(0, "relay-select-entry{entry={entry}}", "each entry becomes a program of its own"),
    PipelineRow(1, "relay-simplify-loops", "constants that a loop carries can be folded in its body"),
    PipelineRow(1, "relay-to-basic-block-normal-form", "an op that only one branch uses runs only in that branch"),
    PipelineRow(0, "relay-dynamic-to-static", "kernels take shapes as attributes, not as tensors"),
    PipelineRow(2, "relay-fix-extents", "kernels for constant extents are faster"),
    PipelineRow(ON_DEMAND, "relay-fake-quantization-to-integer", "integer arithmetic is faster for quantised networks"),
    PipelineRow(3, "qnn-multiply-integers", "CPUs multiply four bytes in the time of one float"),
    PipelineRow(3, "qnn-fuse-block-dequantize", "a weight of 4 bits takes an eighth of the memory of its f32 form"),
    PipelineRow(2, "qnn-select-integers", "bytes take a quarter of the memory of the floats that they represent"),
    PipelineRow(3, "qnn-fold-quantize-scale", "a quotient takes longer than all other ops of a quantised layer"),
    PipelineRow(1, "qnn-legalize", "a table lookup is faster than a function of 8-bit numbers"),
    PipelineRow(0, "qnn-canonicalize-ops", "kernels compute quantised operators as plain integer operators"),
    PipelineRow(1, "relay-legalize", "hooks replace operators that the target lacks"),
    PipelineRow(0, "relay-simplify-inference", "batch norms become factors and shifts, and dropouts disappear"),
    PipelineRow(0, "relay-dead-code-elimination", "unused ops and functions need no kernels"),
    PipelineRow(0, "relay-expand-composites", "the non-injective parts of a composite op fuse separately"),
    PipelineRow(3, "relay-eliminate-common-subexpr", "equal ops are computed once"),
    PipelineRow(2, "relay-fold-constant", "the factors and shifts become constants"),
    PipelineRow(2, "relay-narrow-products", "CPUs multiply four bytes in the time of one 32-bit number"),
    PipelineRow(2, "relay-simplify-rounding", "a quantised layer rounds for longer than it multiplies"),
    PipelineRow(3, "relay-div-to-mul{continuous=true}", "CPUs multiply in a fraction of the time of a division"),
    PipelineRow(3, "relay-fold-scale-axis", "the factors are multiplied into the weights"),
    PipelineRow(3, "relay-canonicalize-ops", "a bias is added by broadcasting, and nn.mish needs no logarithm"),
    PipelineRow(3, "relay-split-conv-transpose", "convolutions of stride 1 have faster kernels"),
    PipelineRow(3, "relay-simplify-batch-matmul", "groups of heads read the keys of attention without a copy"),
    PipelineRow(3, "relay-widen-products", "CPUs multiply and add in f32"),
    PipelineRow(3, "qnn-round-block-data{vector-lanes={lanes}}", "CPUs multiply four bytes in the time of one float"),
    PipelineRow(3, "relay-pad-channels{vector-lanes={lanes}}", "13 vectors take as long as 13 halves of a vector"),
    PipelineRow(
        3, "relay-alter-op-layout{vector-lanes={lanes}{tiles}}", "a vector register holds one block of channels"
    ),
    PipelineRow(3, "relay-split-convolutions{vector-lanes={lanes}{tiles}}", "tiles multiply bf16 faster than f32"),
    PipelineRow(3, "relay-apply-winograd", "tiles of convolutions take up to four times fewer products"),
    PipelineRow(3, "relay-split-attention{vector-lanes={lanes}{tiles}}", "tiles multiply bf16 faster than f32"),
    PipelineRow(3, "relay-split-products{vector-lanes={lanes}{tiles}}", "tiles multiply bf16 faster than f32"),
    PipelineRow(ON_DEMAND, "relay-fast-math", "approximations of exponentials are faster"),
    PipelineRow(2, "relay-fold-constant", "weights are converted to the new layouts"),
    PipelineRow(1, "relay-dead-code-elimination", "constant folding and layouts leave unused ops"),
    PipelineRow(0, "relay-name-extents", "native code allocates a result before it runs the kernel"),
    PipelineRow(0, "relay-split-wide-ops", "the time of LLVM grows faster than the number of a kernel's arguments"),
)
"""The passes between the lifting of closures and `relay-fuse-ops`, in order. They work on the program of one entry.

Level 0 does what native code requires, level 1 cleans up, level 2 evaluates compile-time constants, level 3 also
changes layouts and re-associates floating-point arithmetic (as the simplification of a batch norm does at any level).
"""

DEFAULT_PIPELINE: tuple[PipelineRow, ...] = (*LIFTING_PIPELINE, *OPTIMIZER_PIPELINE)
"""The passes between `relay-infer-type` and `relay-fuse-ops`, in order."""

MAIN: Final = "main"
"""The entry of a program without closures as results."""


def chosen_passes(
    rows: Iterable[PipelineRow],
    opt_level: int,
    *,
    vector_lanes: int = 16,
    tiles: str = "",
    entry: str = MAIN,
    selection: PassSelection = LEVEL_ONLY,
) -> list[str]:
    """Returns the passes of `rows` that run at `opt_level`, in the syntax of `xrelay-opt -p`.

    `vector_lanes` is the number of f32 elements in a vector register of the target, and `tiles` are the names of its
    instructions on tiles, separated by commas. `entry` is the entry of the program to compile, see
    `relay-select-entry`.
    """
    values = {"{lanes}": str(vector_lanes), "{tiles}": f" tiles={tiles}" if tiles else "", "{entry}": entry}
    chosen: list[str] = []
    for row in rows:
        answer = selection.decide(row.pass_name)
        if answer if answer is not None else row.opt_level <= opt_level:
            spec = row.spec
            for placeholder, value in values.items():
                spec = spec.replace(placeholder, value)
            chosen.append(spec)
    return chosen


class PipelineWeaver:
    """Inserts the passes `added` by other packages at the points defined in `extensions`.

    `points` are the points so far. It processes the stages of the pipeline in order.
    """

    def __init__(self, added: Iterable[RegisteredPass]) -> None:
        self.points: list[str] = []
        self._seen = Counter[str]()
        self._added = tuple(added)

    def stage(self, name: str, rows: Iterable[PipelineRow]) -> list[PipelineRow]:
        """Returns the rows of the stage called `name`, including those of other packages."""
        woven = self._at(f"before stage-{name}")
        for row in rows:
            self._seen[row.pass_name] += 1
            number = self._seen[row.pass_name]
            label = row.pass_name if number == 1 else f"{row.pass_name}#{number}"
            woven += [*self._at(f"before {label}"), row, *self._at(f"after {label}")]
        return [*woven, *self._at(f"after stage-{name}")]

    def _at(self, point: str) -> list[PipelineRow]:
        self.points.append(point)
        reason = f"another package adds it {point}"
        return [PipelineRow(added.opt_level, added.name, reason) for added in self._added if added.at == point]
