"""Names of the discardable attributes with which passes communicate about functions, arguments and ops.

Each name has a docstring with its meaning and the passes that set it. Attributes that belong to an op (its properties)
are declared with the op; attributes of upstream dialects are listed here if passes set or read them.
"""

from __future__ import annotations

from typing import Final

# On functions of the graph.

PRIMITIVE: Final = "relay.primitive"
"""Marks a kernel above the loop level; `relay-outline-fused` sets it, `convert-topi-to-loop` removes it."""
FORM: Final = "relay.form"
"""The meaning of positions in a function: `"dataflow"` (default), `"bbnf"` or `"anf"`; set by importer and normal
forms."""
INLINE: Final = "relay.inline"
"""Marks a function to be inlined (Relay's attribute Inline); users set it, `relay-inline{marked}` reads it."""
CALLERS: Final = "relay.callers"
"""On `@main` or a function that calls a closure: for each result that is a closure its index, its type, and the
function that calls it; `relay-add-callers` sets it, `relay-select-entry` removes it."""
TAKES: Final = "relay.takes"
"""On such a function: for each parameter that is a closure, the types of the valid arguments; `relay-add-callers` sets
it, `relay-select-entry` removes it."""
RECURSION: Final = "relay.recursion"
"""The name of the recursive function that a `relay.loop` replaces; `relay-recursion-to-loop` sets it."""
SKIP_OPTIMIZATION: Final = "relay.skip_optimization"
"""Marks a function that function passes skip; users set it."""
COMPILER: Final = "Compiler"
"""The external compiler of a function; `relay-partition-graph` and users set it, function passes skip such functions,
`relay-dissolve-compiler-regions` removes it. Like the next four, it is Relay's own name."""
COMPILER_PRIMITIVE: Final = "Primitive"
"""On a function for an external compiler: 1, no other pass may look into it; `relay-partition-graph` sets it."""
COMPILER_INLINE: Final = "Inline"
"""On a function for an external compiler: 1, it may be inlined; `relay-partition-graph` sets it."""
GLOBAL_SYMBOL: Final = "global_symbol"
"""On a function for an external compiler: the symbol of its code; `relay-partition-graph` sets it."""
EXTERN: Final = "Extern"
"""On a function that was for an external compiler: 1, its code is generated elsewhere and function passes skip it;
`relay-mark-compiler-functions-as-extern` sets it, `relay-dissolve-compiler-regions` removes it. Relay's own name."""
COMPOSITE: Final = "Composite"
"""Relay's name of the pattern whose ops a `relay.fn` computes, for example `dnnl.conv_relu`; `relay-merge-composite`
and `partition` set it, and `relay-annotate-target` reads the part before the dot, the name of a compiler."""
PARTITIONED_FROM: Final = "PartitionedFromPattern"
"""The operators of a `relay.fn` that was made from a match of a pattern, in order, each followed by `_`; set with
it."""
HASH: Final = "hash"
"""On a function, closure or fused group: a label shared by equal ones; `relay-label-ops` sets it. Relay's own name."""
USED_MEMORY: Final = "used_memory"
"""On a primitive function: the live bytes at each of its calls; `relay-annotate-used-memory` sets it."""
IO_USED_MEMORY: Final = "io_used_memory"
"""On `@main`: the bytes of its parameters and results; `relay-annotate-used-memory` sets it."""

SIZES: Final = "relay.sizes"
"""The least, greatest and typical size of names of `@main`, as arrays by name; users set it, also by `shapes=`. On a
kernel with names of its own `relay-merge-kernels` sets it, and `convert-topi-to-loop` removes it."""

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
"""The user's name of an argument or a result; importer and builder set it."""
VARIABLE: Final = "relay.variable"
"""The name of a parameter's variable if `relay.name` differs because an earlier parameter has it; the builder sets
it."""
FUSE_WITH: Final = "relay.fuse_with"
"""The consumer into whose kernel an op should be fused (see `passes/fusion/op_patterns.py`); users set it."""
CALIBRATED: Final = "relay.calibrated"
"""On an op: the observed range of each operand, or `unit` if it was not observed; the calibration of `relay.quantize`
and users set it, `relay-quantize-annotate` reads and removes it."""
SIMULATED: Final = "relay.simulated"
"""Marks the dequantisation of a value that was just quantised; `relay-quantize-annotate` sets it, and
`relay-quantize-realize` removes such pairs if they did not lead to integer ops."""
WEIGHTS_FILE: Final = "relay.weights"
"""The side file of a module's weights, relative to the text; `save_side_file` and `--dump-stages` set it."""
TE_SCHEDULE: Final = "te.schedule"
"""The schedule that an external implementation names for its compute; `relay.op.register_strategy` sets it."""
EXPANDED_FROM: Final = "topi.expanded_from"
"""The named op that a compute was expanded from; `topi-expand-named` sets it."""
MATERIALIZED: Final = "topi.materialized"
"""Marks a compute that stays a stage of its own: `topi-inline-injective` does not inline it; expansions of named ops
set it."""

REQUIRES: Final = "relay.requires"
"""The `#relay.requirements` of an op that the types of its operands do not decide; `relay-infer-type` sets it."""
DEMANDS: Final = "xrelay.demands"
"""The requirements of the ops of the kernel that a call runs, as rows of op, `requires`, sources;
`convert-relay-to-topi` sets it."""
BINDS: Final = "relay.binds"
"""The `#relay.bounds` of the named extents that an op makes; `relay-infer-type` sets it."""
EXTENT_DESCRIPTIONS: Final = "relay.extent_descriptions"
"""On a `relay.extents`: for each extent `is`, its description, and `fails`, the error for a negative extent, with
`{value}` for the number; `relay-name-extents` sets it."""

# At the loop level.

LOOP_KERNEL: Final = "loop.kernel"
"""Marks a function as a kernel at the loop level; `convert-topi-to-loop` sets it."""
NUM_OUTPUTS: Final = "loop.num_outputs"
"""The number of trailing arguments of a function that are outputs; `convert-topi-to-loop` sets it."""
CONTAINER: Final = "loop.container"
"""On a list that `@main` takes or returns: the sequence or optional that it represents; `convert-topi-to-loop` sets
it."""
NUM_SCRATCH: Final = "loop.num_scratch"
"""The number of scratch buffers among a kernel's arguments, after its outputs; `loop-plan-memory` sets it."""
HEAP: Final = "loop.heap"
"""The heap memory of a kernel, as bytes times the `index` arguments of these numbers, in total or for `each_thread`;
`loop-plan-memory` sets it, and `convert-loop-to-scf` removes it."""
NEEDS: Final = "loop.needs"
"""On `@main`: the bytes of `dynamic_buffers`, `kernels` and `each_thread` that a run needs in addition to the arena, if
they are constant, and a description of the `uncounted` items; `loop-plan-memory` sets it, and `convert-loop-to-scf`
removes it."""
TAKES_SCRATCH: Final = "loop.takes_scratch"
"""On a kernel in a module of its own: its callers provide all its memory; set when kernels are split off a module, and
removed by `loop-plan-memory`."""
LOOP_DIMS: Final = "loop.dims"
"""On a kernel the extents that its index arguments are, on a buffer of `@main` those of its `?`; as `#relay.dims` in
the names of the function. `convert-topi-to-loop` sets it."""
DIM: Final = "xrelay.dim"
"""The name of a dimension, on the argument of `@main` that is its size; `convert-topi-to-loop` sets it."""
IN_PLACE: Final = "loop.in_place"
"""On a kernel: the numbers of an input and an output that may share a buffer; `loop-compute-in-place` sets it."""
COPIED: Final = "loop.copied"
"""On a call that copies a part of a whole: the reason for the copy, as text; `loop-elide-copies` sets it."""
EXTENTS: Final = "loop.extents"
"""On a buffer argument: the number of the `index` argument for each `?`; `convert-topi-to-loop` sets it."""
OUTPUT_PLACE: Final = "loop.place"
"""On a buffer that `@main` returns: its number among all outputs; `convert-topi-to-loop` sets it."""
SIZE: Final = "loop.size"
"""The least, greatest and typical value of an `index` argument of a kernel, -1 if unknown; `convert-topi-to-loop` sets
it."""
VERSION: Final = "loop.version"
"""The kernel that a function is a version of, the sizes and the reason (`dialects/loop/versions.py`);
`topi-add-versions` sets it."""
ARENA: Final = "loop.arena"
"""Marks the argument of `@main` that is the arena; `loop-plan-memory` sets it."""
SCHEDULE: Final = "loop.schedule"
"""The `#loop.schedule` of a kernel; users or `loop-assign-schedules` set it, `loop-apply-schedules` removes it."""
SCHEDULE_REASON: Final = "loop.schedule_reason"
"""The reason for a kernel's schedule, as text; `loop-assign-schedules` and `loop-schedule-kernels` set it."""
SCHEDULE_CYCLES: Final = "loop.schedule_cycles"
"""The cycles that the cost model expects for a kernel with its schedule; the same passes set it."""
WORK: Final = "loop.work"
"""The operations and the bytes of a kernel before it was scheduled, as two texts; `loop-schedule-kernels` sets it."""
BLOCK_SOURCE: Final = "loop.source"
"""The named topi op that a `loop.block` computes; `convert-topi-to-loop` sets it from `topi.expanded_from`."""
POSITIVE_DIVISOR: Final = "loop.positive_divisor"
"""Marks a division of indices that does not run if its divisor, an extent, is 0; set by passes that compute indices."""
PREFETCH: Final = "loop.prefetch"
"""Marks a loop over the terms of sums whose iterations prefetch the weights of the next panel, or those of as many
iterations later as its number; the primitive `prefetch` sets it, `convert-loop-to-scf` reads it."""
LOOP_NOTE: Final = "loop.note"
"""A remark on a loop that could not be lowered as requested; `convert-loop-to-scf` sets it."""

SOURCES: Final = "xrelay.sources"
"""The names of the model's nodes that a kernel computes, in order; `convert-relay-to-topi` sets it."""

# Below the loop level, on the module: the interface for running it (see `lowering/interface.py`).

INPUTS: Final = "xrelay.inputs"
"""Names and tensor types of the inputs, the first arguments of `@main`; `convert-loop-to-scf` sets it."""
OUTPUTS: Final = "xrelay.outputs"
"""Names and tensor types of the outputs, the arguments of `@main` after the inputs; `convert-loop-to-scf` sets it."""
WEIGHTS: Final = "xrelay.weights"
"""Names, types and values of the weights, arguments of `@main` after the outputs; `convert-loop-to-scf` sets it."""
ARENA_SIZE: Final = "xrelay.arena_size"
"""Bytes of the arena, the last argument of `@main`; `convert-loop-to-scf` sets it."""
MEMORY: Final = "xrelay.memory"
"""The bytes that a run needs in addition to the arena, and the uncounted items: the `loop.needs` of `@main`;
`convert-loop-to-scf` sets it."""
DIMS: Final = "xrelay.dims"
"""The names whose sizes are the last arguments of `@main`; `convert-loop-to-scf` sets it if there are any."""
POLLS: Final = "xrelay.polls"
"""Marks a module that polls, in loops or between kernels, whether to continue the run; `convert-loop-to-scf` sets
it."""
STRAIGHT: Final = "xrelay.straight"
"""Marks such a module that consists of kernel calls and counted loops, so that sizes determine the approximate run
time; `convert-loop-to-scf` sets it."""
CHECKS: Final = "xrelay.checks"
"""Text, requirement and sources of the assertions of `@main`, by their numbers in a status; `convert-func-to-llvm` sets
it."""
KERNELS: Final = "xrelay.kernels"
"""Symbols and sources of the kernels, in the order of their numbers in a status; `convert-func-to-llvm` sets it."""
CALLS: Final = "xrelay.calls"
"""Calls whose nodes differ from those of their kernel, numbered after the kernels; `convert-func-to-llvm` sets it."""

# Below the loop level, on functions and ops.

PART_OF_KERNEL: Final = "xrelay.kernel"
"""The kernel that an outlined function is a part of; `convert-scf-parallel-to-calls` sets it."""
MAY_FAIL: Final = "xrelay.may_fail"
"""On a kernel declaration: it may return a status other than 0; set when kernels are split off a module."""
GRAPH_FUNCTION: Final = "xrelay.graph"
"""Marks a function between kernels that allocates or frees dynamic buffers; `convert-loop-to-scf` sets it."""
NOALIAS: Final = "llvm.noalias"
"""Marks an argument whose buffer overlaps no other argument's; `loop-plan-memory` sets it."""
ALIGN: Final = "llvm.align"
"""The alignment of the buffer of an argument, in bytes; users set it, `convert-memref-to-llvm` reads it."""
ALWAYS_INLINE: Final = "llvm.always_inline"
"""Marks a `func.func` that is inlined into every caller; on an `llvm.func` the name has no prefix."""
LOOP_ANNOTATION: Final = "llvm.loop_annotation"
"""The `#llvm.loop_annotation` of an scf loop or a cf branch; `convert-loop-to-scf` sets it."""
