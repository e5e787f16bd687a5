"""Names of the discardable attributes by which the passes tell each other about functions, arguments and ops.

Each name has one line on its meaning and its writer. Attributes that belong to an op (its properties) are declared
with the op; those of upstream dialects stand here where our passes set or read them.
"""

from __future__ import annotations

from typing import Final

# On functions of the graph.

PRIMITIVE: Final = "relay.primitive"
"""Marks a kernel above the loop level; `relay-outline-fused` sets it, `convert-topi-to-loop` removes it."""
FORM: Final = "relay.form"
"""How position in a function is to be read: `"dataflow"` (default), `"bbnf"` or `"anf"`; importer and normal forms."""
INLINE: Final = "relay.inline"
"""Marks a function to be inlined, Relay's attribute Inline; users set it, `relay-inline{marked}` reads it."""
RECURSION: Final = "relay.recursion"
"""The name of the function whose calls of itself a `relay.loop` stands for; `relay-recursion-to-loop` sets it."""
SKIP_OPTIMIZATION: Final = "relay.skip_optimization"
"""Marks a function that function passes leave alone; users set it."""
COMPILER: Final = "Compiler"
"""Names the compiler from outside that a function is for; `relay-partition-graph` and users set it, function passes
leave such functions alone, `relay-dissolve-compiler-regions` removes it. As the next four, it is Relay's own name."""
COMPILER_PRIMITIVE: Final = "Primitive"
"""Of a function for a compiler from outside: 1, nobody else is to look into it; `relay-partition-graph` sets it."""
COMPILER_INLINE: Final = "Inline"
"""Of a function for a compiler from outside: 1, it may stand where it is called; `relay-partition-graph` sets it."""
GLOBAL_SYMBOL: Final = "global_symbol"
"""Of a function for a compiler from outside: the symbol of its code; `relay-partition-graph` sets it."""
EXTERN: Final = "Extern"
"""Of a function that was for a compiler from outside: 1, its code is made elsewhere, function passes leave it alone;
`relay-mark-compiler-functions-as-extern` sets it, `relay-dissolve-compiler-regions` removes it. Relay's own name."""
COMPOSITE: Final = "Composite"
"""Relay's name of the pattern whose ops a `relay.fn` computes, as `dnnl.conv_relu`; `relay-merge-composite` and
`partition` set it, and `relay-annotate-target` reads what stands before the dot, the name of a compiler."""
PARTITIONED_FROM: Final = "PartitionedFromPattern"
"""The operators of a `relay.fn` that was made of a match of a pattern, in order, each with `_` behind; they set it."""
HASH: Final = "hash"
"""Of a function, closure or fused group: a label that equal ones share; `relay-label-ops` sets it. Relay's own name."""
USED_MEMORY: Final = "used_memory"
"""Of a primitive function, for each call of it, the bytes that are live there; `relay-annotate-used-memory` sets it."""
IO_USED_MEMORY: Final = "io_used_memory"
"""Of `@main`: the bytes of its parameters and results; `relay-annotate-used-memory` sets it."""

SIZES: Final = "relay.sizes"
"""The least, greatest and usual size of names of `@main`, as arrays by name; users set it, also by `shapes=`."""

# On groups and the kernels outlined from them.

KERNEL_ANCHOR: Final = "relay.anchor"
"""Relay's name of the heavy op of a kernel; `relay-outline-fused` sets it."""
KERNEL_PATTERN: Final = "relay.pattern"
"""The fusion pattern of a kernel's group; `relay-outline-fused` sets it."""
RESHAPE_ONLY: Final = "relay.reshape_only"
"""Marks a group or kernel whose result is its operand's bytes under another shape; `relay-fuse-ops` sets it."""
STRATEGIES: Final = "topi.strategies"
"""The implementation chosen for each op of a kernel, with the reason; `convert-relay-to-topi` sets it."""

# On arguments and results of functions, on ops and on the module.

VALUE_NAME: Final = "relay.name"
"""The name by which users know an argument or a result; importer and builder set it."""
VARIABLE: Final = "relay.variable"
"""The name of a parameter's variable, if `relay.name` differs as an earlier one has it; the builder sets it."""
FUSE_WITH: Final = "relay.fuse_with"
"""The consumer into whose kernel an op should go (see `passes/fusion/hints.py`); users set it."""
CALIBRATED: Final = "relay.calibrated"
"""Of an op: between which two numbers each operand was found to lie, `unit` for one that nobody looked at; the
calibration of `relay.quantize` and users set it, `relay-quantize-annotate` reads and removes it."""
SIMULATED: Final = "relay.simulated"
"""Marks a dequantisation of what was just quantised; `relay-quantize-annotate` sets it, and `relay-quantize-realize`
takes such pairs out where they led to no integers."""
WEIGHTS_FILE: Final = "relay.weights"
"""The side file of a module's weights, relative to the text; `save_side_file` and `--dump-stages` set it."""
TE_SCHEDULE: Final = "te.schedule"
"""The schedule that an implementation from outside names for its compute; `relay.op.register_strategy` sets it."""
EXPANDED_FROM: Final = "topi.expanded_from"
"""The named op that a compute was expanded from; `topi-expand-named` sets it."""

REQUIRES: Final = "relay.requires"
"""The `#relay.requirements` of an op that its operands' types do not decide; `relay-infer-type` sets it."""
DEMANDS: Final = "xrelay.demands"
"""What the ops of the kernel that a call runs require: rows of op, `requires`, sources; `convert-relay-to-topi` sets
it."""
BINDS: Final = "relay.binds"
"""The `#relay.bounds` of the named extents that an op makes; `relay-infer-type` sets it."""
EXTENT_WORDS: Final = "relay.words"
"""Of a `relay.extents`: for each extent `is`, what it is in words, and `fails`, what is said where it is negative, with
`{value}` for the number; `relay-name-extents` sets it."""

# At the loop level.

LOOP_KERNEL: Final = "loop.kernel"
"""Marks a function as a kernel at the loop level; `convert-topi-to-loop` sets it."""
NUM_OUTPUTS: Final = "loop.num_outputs"
"""How many trailing arguments of a function are outputs; `convert-topi-to-loop` sets it."""
CONTAINER: Final = "loop.container"
"""Of a list that `@main` takes or returns: the sequence or optional that it is; `convert-topi-to-loop` sets it."""
NUM_SCRATCH: Final = "loop.num_scratch"
"""How many arguments after its outputs are a kernel's scratch buffers; `loop-plan-memory` sets it."""
HEAP: Final = "loop.heap"
"""What a kernel allocates while it runs, as bytes times the `index` arguments of these numbers, in the whole or for
`each_thread`; `loop-plan-memory` sets it, and `convert-loop-to-scf` removes it."""
NEEDS: Final = "loop.needs"
"""Of `@main`: bytes of `boxes`, `kernels` and `each_thread` that a run needs beside the arena, where they are known
beforehand, and in words what is `uncounted`; `loop-plan-memory` sets it, and `convert-loop-to-scf` removes it."""
TAKES_SCRATCH: Final = "loop.takes_scratch"
"""Of a kernel in a module of its own: its callers give it all memory; who takes kernels out of a module sets it, and
`loop-plan-memory` removes it."""
LOOP_DIMS: Final = "loop.dims"
"""Of a kernel the extents that its index arguments are, of a buffer of `@main` those of its `?`; as `#relay.dims`
in the names of the function. `convert-topi-to-loop` sets it."""
DIM: Final = "xrelay.dim"
"""The name of a dimension, on the argument of `@main` that is its size; `convert-topi-to-loop` sets it."""
IN_PLACE: Final = "loop.in_place"
"""Of a kernel: the numbers of an input and of the output that may lie there; `loop-compute-in-place` sets it."""
COPIED: Final = "loop.copied"
"""Of a call that copies a part of a whole: why the part does not lie there, as text; `loop-place-parts` sets it."""
EXTENTS: Final = "loop.extents"
"""Of a buffer argument: the number of the `index` argument for each `?`; `convert-topi-to-loop` sets it."""
OUTPUT_PLACE: Final = "loop.place"
"""Of a buffer that `@main` returns: its number among all outputs; `convert-topi-to-loop` sets it."""
SIZE: Final = "loop.size"
"""The least, greatest and usual value of an `index` argument of a kernel, -1 for what is not known;
`convert-topi-to-loop` sets it."""
VERSION: Final = "loop.version"
"""The kernel that a function is a version of, for which sizes and why (`dialects/loop/versions.py`);
`topi-add-versions` sets it."""
ARENA: Final = "loop.arena"
"""Marks the argument of `@main` that is the arena; `loop-plan-memory` sets it."""
SCHEDULE: Final = "loop.schedule"
"""The `#loop.schedule` of a kernel; users or `loop-assign-schedules` set it, `loop-apply-schedules` removes it."""
SCHEDULE_REASON: Final = "loop.schedule_reason"
"""The reason for a kernel's schedule, as text; `loop-assign-schedules` sets it."""
BLOCK_SOURCE: Final = "loop.source"
"""The named topi op that a `loop.block` computes; `convert-topi-to-loop` sets it from `topi.expanded_from`."""
POSITIVE_DIVISOR: Final = "loop.positive_divisor"
"""Marks a division of indices that is not run where its divisor, an extent, is 0; what computes indices sets it."""
LOOP_NOTE: Final = "loop.note"
"""A remark on a loop that could not be lowered as it asks; `convert-loop-to-scf` sets it."""

SOURCES: Final = "xrelay.sources"
"""The names of the model's nodes that a kernel computes, in order; `convert-relay-to-topi` sets it."""

# Below the loop level: what running the module needs, on the module itself (see `lowering/interface.py`).

INPUTS: Final = "xrelay.inputs"
"""Names and tensor types of the inputs, the first arguments of `@main`; `convert-loop-to-scf` sets it."""
OUTPUTS: Final = "xrelay.outputs"
"""Names and tensor types of the outputs, the arguments of `@main` after the inputs; `convert-loop-to-scf` sets it."""
WEIGHTS: Final = "xrelay.weights"
"""Names, types and values of the weights, arguments of `@main` after the outputs; `convert-loop-to-scf` sets it."""
ARENA_SIZE: Final = "xrelay.arena_size"
"""Bytes of the arena, the last argument of `@main`; `convert-loop-to-scf` sets it."""
MEMORY: Final = "xrelay.memory"
"""The bytes that a run needs beside the arena, and what is not among them: the `loop.needs` of `@main`;
`convert-loop-to-scf` sets it."""
DIMS: Final = "xrelay.dims"
"""The names whose sizes are the last arguments of `@main`; `convert-loop-to-scf` sets it, where there are any."""
POLLS: Final = "xrelay.polls"
"""Marks a module that asks, in loops or between kernels, whether the run goes on; `convert-loop-to-scf` sets it."""
STRAIGHT: Final = "xrelay.straight"
"""Marks such a module whose `@main` is calls of kernels in a row: sizes tell how long a run takes, about;
`convert-loop-to-scf` sets it."""
CHECKS: Final = "xrelay.checks"
"""Text, requirement and sources of what `@main` asserts, numbered as in a status; `convert-func-to-llvm` sets it."""
KERNELS: Final = "xrelay.kernels"
"""Symbols and sources of the kernels, in the order of their numbers in a status; `convert-func-to-llvm` sets it."""
CALLS: Final = "xrelay.calls"
"""Calls for other nodes than their kernel names, with the numbers behind those; `convert-func-to-llvm` sets it."""

# Below the loop level, on functions and ops.

PART_OF_KERNEL: Final = "xrelay.kernel"
"""The kernel that an outlined function is a part of; `convert-scf-parallel-to-calls` sets it."""
MAY_FAIL: Final = "xrelay.may_fail"
"""Of a kernel that is only declared: it may return a status other than 0; who takes kernels out of a module sets it."""
GRAPH_FUNCTION: Final = "xrelay.graph"
"""Marks a function between kernels that allocates or frees, whose buffers are boxes; set by `convert-loop-to-scf`."""
NOALIAS: Final = "llvm.noalias"
"""Marks an argument whose buffer overlaps no other argument's; `loop-plan-memory` sets it."""
ALIGN: Final = "llvm.align"
"""The alignment of the buffer of an argument, in bytes; users set it, `convert-memref-to-llvm` reads it."""
ALWAYS_INLINE: Final = "llvm.always_inline"
"""Marks a `func.func` that is inlined into every caller; an `llvm.func` has it without the prefix."""
LOOP_ANNOTATION: Final = "llvm.loop_annotation"
"""The `#llvm.loop_annotation` of an scf loop or a cf branch; `convert-loop-to-scf` sets it."""
