"""lit's configuration: `lit tests/lit` runs every `.mlir` file's RUN lines with this environment's tools."""

# ruff: noqa: F821 (lit defines config and lit_config before it runs this file)

import gc
import os
import shutil
import sys
from pathlib import Path

import lit.formats
import lit.TestRunner

config.name = "xrelay"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Output"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(Path(__file__).parents[2] / "build" / "lit")

# lit passes an empty environment to tests; the tools are those of the Python that runs lit.
bin_dir = str(Path(sys.executable).parent)
config.environment["PATH"] = os.pathsep.join([bin_dir, os.environ.get("PATH", "")])
if lit_config.params.get("tools") != "scripts":
    sys.path.append(str(Path(__file__).parents[1]))
    from importlib import import_module

    from support.tool_server.direct import served_subprocess
    from support.tool_server.launch import start

    programs = {name: Path(bin_dir) / name for name in ("xrelay-opt", "xrelay", "python")}
    folder = start(programs.values(), config.environment)
    if folder is not None:
        lit.TestRunner.subprocess = served_subprocess([folder], programs, dict(config.environment))
        config.environment["PATH"] = os.pathsep.join([folder, config.environment["PATH"]])
        # lit's workers are forks of this process.
        import_module("support.tool_server.warm")
        gc.collect()
        gc.freeze()
    else:
        lit_config.note("no tool server: every command starts its tool anew")
config.environment["XRELAY_CACHE_DIR"] = str(Path(config.test_exec_root) / "cache")
config.environment["XRELAY_WORKERS"] = "0"

try:
    import psutil  # noqa: F401

    # Kills a test that hangs; slow tests on busy machines take much less time.
    config.maxIndividualTestTime = 600
except ImportError:
    lit_config.note("psutil is not installed: tests run without a time limit")


def find_mlir_opt():
    """A current mlir-opt, or None."""
    names = [os.environ.get("MLIR_OPT"), "mlir-opt", "mlir-opt-22", "/usr/lib/llvm-22/bin/mlir-opt"]
    return next((path for name in names if name and (path := shutil.which(name))), None)


mlir_opt = find_mlir_opt()
if mlir_opt is not None:
    config.available_features.add("mlir-opt")
else:
    lit_config.note("no mlir-opt (set MLIR_OPT to one of LLVM 22): tests that REQUIRE mlir-opt are skipped")

round_trip = Path(__file__).parents[1] / "support" / "round_trip.py"
config.substitutions += [
    ("%mlir_opt", mlir_opt if mlir_opt is not None else "mlir-opt"),
    ("XRELAY_ROUNDTRIP", f"python {round_trip} %s"),
]
