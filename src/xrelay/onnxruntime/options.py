"""Options of sessions and of runs, under onnxruntime's names.

Options about memory, logging and execution order have no effect, because compiled models have one memory plan and one
order, and log through Python's `logging`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from os import PathLike
from typing import TYPE_CHECKING, Final, TypedDict

from xrelay.arguments import MAX_OPT_LEVEL, checked_integer
from xrelay.onnxruntime.errors import InvalidArgument, NotSupported, Refused

if TYPE_CHECKING:
    from xrelay.arguments import GivenShapes
    from xrelay.target.target import Target

SAVED_WEIGHTS: Final = "save the weights in the model, or as external data next to it"
PLUGIN: Final = "write a plug-in package with converters for the operators: `xrelay new-plugin`, docs/extending.md"
PROFILE: Final = "`xrelay profile` and `CompiledModel.profile` measure the kernels of a model"


class GraphOptimizationLevel(IntEnum):
    """The level of graph optimisations. Each level corresponds to an `opt_level` of `xrelay.compile`."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(IntEnum):
    """Without effect: the threads of a run share each kernel."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(IntEnum):
    """Without effect: a compiled model has one order."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class CompileOptions(TypedDict, total=False):
    """Options of `xrelay.compile`."""

    target: str | Target | None
    opt_level: int | None
    threads: int | None
    shapes: GivenShapes | None
    cache: bool
    memory_limit: int | None
    integers: bool
    exact: bool
    trust: bool
    specialize: bool
    records: str | PathLike[str] | None


class IgnoredArguments(TypedDict, total=False):
    """Arguments of onnxruntime's sessions that have no effect."""

    enable_fallback: object
    read_config_from_model: object
    disabled_optimizers: object


class SessionArguments(CompileOptions, IgnoredArguments):
    """Keyword arguments of a session."""


@dataclass(slots=True)
class SessionOptions:
    """Options of a session, read when it is created.

    - `intra_op_num_threads` is the maximum number of threads of a run; 0 is the number of cores.
    - `graph_optimization_level` selects `opt_level`.
    - `use_deterministic_compute` turns off versions for frequent sizes, whose results may be rounded differently.
    - `enable_profiling` and `optimized_model_filepath` are refused when the session is created.

    The other fields have no effect.
    """

    intra_op_num_threads: int = 0
    inter_op_num_threads: int = 0
    graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL
    execution_mode: ExecutionMode = ExecutionMode.ORT_SEQUENTIAL
    execution_order: ExecutionOrder = ExecutionOrder.DEFAULT
    enable_cpu_mem_arena: bool = True
    enable_mem_pattern: bool = True
    enable_mem_reuse: bool = True
    use_deterministic_compute: bool = False
    use_per_session_threads: bool = True
    log_severity_level: int = -1
    log_verbosity_level: int = 0
    logid: str = ""
    enable_profiling: bool = False
    profile_file_prefix: str = "onnxruntime_profile_"
    optimized_model_filepath: str | PathLike[str] = ""
    sizes_by_name: dict[str, int] = field(default_factory=dict[str, int])
    """The sizes of dynamic dimensions by name."""
    sizes_by_denotation: dict[str, int] = field(default_factory=dict[str, int])
    """The sizes of dynamic dimensions by denotation."""
    config_entries: dict[str, str] = field(default_factory=dict[str, str])
    """The entries of `add_session_config_entry`."""

    register_custom_ops_library = Refused(PLUGIN)
    add_initializer = Refused(SAVED_WEIGHTS)
    add_external_initializers = Refused(SAVED_WEIGHTS)
    add_external_initializers_from_files_in_memory = Refused(SAVED_WEIGHTS)

    def add_free_dimension_override_by_name(self, dim_name: str, dim_value: int) -> None:
        """Fixes the size of the dynamic dimensions with this name."""
        self.sizes_by_name[dim_name] = checked_integer(dim_name, dim_value)

    def add_free_dimension_override_by_denotation(self, dim_denotation: str, dim_value: int) -> None:
        """Fixes the size of the dynamic dimensions with this denotation, such as `DATA_BATCH`."""
        self.sizes_by_denotation[dim_denotation] = checked_integer(dim_denotation, dim_value)

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Stores an entry, which has no effect."""
        self.config_entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """Returns a stored entry. Raises `InvalidArgument` for an unknown key."""
        return _entry(self.config_entries, key)

    def compile_options(self, given: SessionArguments) -> CompileOptions:
        """Returns the options of `xrelay.compile`; those in `given` take precedence over the fields.

        Raises `NotSupported` for fields that are refused.
        """
        if self.enable_profiling:
            raise NotSupported("SessionOptions.enable_profiling is not supported", help=PROFILE)
        if self.optimized_model_filepath:
            help = "xrelay.compile(…).save(path) saves the compiled model, and dump_stages= the program at each stage"
            raise NotSupported("SessionOptions.optimized_model_filepath is not supported", help=help)
        options: SessionArguments = {
            "threads": None if self.intra_op_num_threads == 0 else self.intra_op_num_threads,
            "opt_level": min(checked_integer("graph_optimization_level", self.graph_optimization_level), MAX_OPT_LEVEL),
            "specialize": not self.use_deterministic_compute,
            **given,
        }
        for name in IgnoredArguments.__optional_keys__:
            options.pop(name, None)
        return options


@dataclass(slots=True)
class RunOptions:
    """Options of a run.

    A run raises `Fail` if `terminate` is set when it begins. The other fields have no effect.
    """

    terminate: bool = False
    only_execute_path_to_fetches: bool = False
    log_severity_level: int = -1
    log_verbosity_level: int = 0
    logid: str = ""
    config_entries: dict[str, str] = field(default_factory=dict[str, str])
    """The entries of `add_run_config_entry`."""

    add_active_adapter = Refused("merge the adapter into the weights of the model")

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Stores an entry, which has no effect."""
        self.config_entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """Returns a stored entry. Raises `InvalidArgument` for an unknown key."""
        return _entry(self.config_entries, key)


def _entry(entries: dict[str, str], key: str) -> str:
    if key not in entries:
        raise InvalidArgument(f"there is no entry {key!r}")
    return entries[key]
