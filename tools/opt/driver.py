"""The driver of `xrelay-opt`: reads, verifies, runs passes and prints; every failure is reported on one line."""

from __future__ import annotations

import json
import sys
import traceback
from argparse import ArgumentParser
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.universe import Universe
from xdsl.utils.diagnostic import Diagnostic as xDSLDiagnostic
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from xrelay import __version__, environment
from xrelay.dialects import with_replaced
from xrelay.errors import ParseError, PassError, XRelayError, printable
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pipeline import run_on_functions, run_pipeline
from xrelay.passes.infra.source import decode_text, one_line, parse_module, read_text, write_text
from xrelay.passes.infra.verify import verification_errors
from xrelay.passes.instruments.print_ir import DumpIR, PrintDiff, PrintIR
from xrelay.passes.instruments.timing import PassTiming, TimeTree
from xrelay.passes.instruments.verify import Verify
from xrelay.tools.command_line import (
    discard_standard_output,
    excerpt,
    plain_warnings,
    read_standard_input,
    standard_output,
)
from xrelay.tools.opt.arguments import add_arguments
from xrelay.tools.opt.catalogue import print_catalogue
from xrelay.tools.opt.diagnostics import (
    Chunk,
    Diagnostic,
    collecting_remarks,
    error_diagnostics,
    find_expectations,
    mismatches,
    split_chunks,
)
from xrelay.tools.opt.pass_flags import Plan, own_name, pass_instruments, plan_pipeline
from xrelay.tools.opt.side_files import keep_weights, load_weights
from xrelay.tools.opt.targets import AssemblyTarget, LLVMIRTarget, TextTarget

_Error = TypeVar("_Error", bound=XRelayError)

INTERRUPTED = 130
"""The exit code after Ctrl-C, as in shells."""
MAX_ERRORS = 20
"""The maximum number of errors reported for one piece of input."""


@contextmanager
def restored_classes() -> Generator[None]:
    """Restores the classes that xDSL's driver changes for `--disable-verify` and `--syntax-highlight`."""
    verify, is_colored = Attribute.__post_init__, xDSLDiagnostic.colored
    try:
        yield
    finally:
        Attribute.__post_init__, xDSLDiagnostic.colored = verify, is_colored


class XRelayOptMain(xDSLOptMain):
    """xDSL's driver with the project's dialects, passes, targets and error reports."""

    def __init__(self, args: Sequence[str] | None = None):
        super().__init__("Run passes on programs at any level of xrelay.", args)
        self.clock = TimeTree()
        self._sources: dict[str, str] = {}
        self._warnings: list[Diagnostic] = []

    def register_all_arguments(self, arg_parser: ArgumentParser) -> None:
        """Declares the command line."""
        arg_parser.prog = "xrelay-opt"
        arg_parser.set_defaults(frontend=None)  # an option of xDSL's driver that its constructor reads
        add_arguments(arg_parser, f"xrelay-opt {__version__}")

    @cached_property
    def _universe(self) -> Universe:
        """The dialects and passes that installed packages announce to xDSL.

        Cached, since it reads a file of every package.
        """
        return Universe.get_multiverse()

    def register_all_dialects(self) -> None:
        """Registers the dialects of xDSL, xrelay and plugins, with extended versions of arith, func and llvm."""
        for name, thunk in with_replaced(self._universe.all_dialects).items():
            self.ctx.register_dialect(name, thunk)

    def register_all_passes(self) -> None:
        """Registers the passes of xDSL and xrelay, and those registered since the tables were made."""
        for name, thunk in {**self._universe.all_passes, **pass_thunks()}.items():
            self.available_passes.setdefault(name, thunk)

    def register_all_frontends(self) -> None:
        """Registers no frontend: the driver reads MLIR text with the project's parser."""

    def register_all_targets(self) -> None:
        """Adds MLIR, LLVM IR and assembly to xDSL's outputs; errors list them before the others."""
        own: dict[str, Callable[[], type[Target]]] = {
            "mlir": lambda: TextTarget,
            "llvm-ir": lambda: LLVMIRTarget,
            "asm": lambda: AssemblyTarget,
        }
        self.available_targets.update({**own, **self._universe.all_targets, **own})

    def setup_pipeline(self) -> None:
        """Does nothing: the pipeline is parsed in `execute`, where its errors are handled."""

    def execute(self) -> int:
        """Runs the command line; returns the exit code."""
        try:
            with plain_warnings():
                return self._execute()
        except KeyboardInterrupt:
            sys.stderr.write("xrelay-opt: interrupted\n")
            return INTERRUPTED
        except XRelayError as error:
            self._report(error)
        except BrokenPipeError:
            discard_standard_output()
        return 1

    def _execute(self) -> int:
        with standard_output():
            try:
                if print_catalogue(self.args, self.available_passes, self.ctx):
                    return 0
                plan = plan_pipeline(self.args, self.available_passes)
                if self.args.print_pipeline:
                    sys.stdout.write(plan.render())
                    return 0
                self._check_dump_names(plan)
            except (PassError, ParseError) as error:
                self._report(error)
                return 2
        return self._run_chunks(plan)

    def _run_chunks(self, plan: Plan) -> int:
        """Processes every piece of the input and writes the output."""
        chunks = self._read_chunks()
        expectations = [find_expectations(chunk) for chunk in chunks] if self.args.verify_diagnostics else []
        matching: bool = self.args.verify_diagnostics
        status = 0
        outputs: list[str] = []
        for number, chunk in enumerate(chunks):
            with collecting_remarks(self.args) as remarks:
                text, errors = self._process(chunk, plan)
            outputs.append(text)
            if matching:
                found = [*error_diagnostics(errors), *self._warnings, *remarks]
                problems = mismatches(chunk, expectations[number], found, all_remarks=self.args.remarks is not None)
                sys.stderr.writelines(printable(problem) + "\n" for problem in problems)
                status = max(status, int(bool(problems)))
                continue
            for diagnostic in (*self._warnings, *(remarks if self.args.remarks is not None else ())):
                self._show(diagnostic.text)
            for error in errors:
                self._report(error)
            status = max(status, int(bool(errors)))
        if status == 0 or self._output is None:
            self._write("// -----\n".join(outputs))
        if self.args.timing or self.args.timing_file is not None:
            self._write_timing()
        return status

    def _read_chunks(self) -> list[Chunk]:
        """Returns the pieces of the input file or of standard input."""
        name: str | None = self.args.input_file
        if name is None or name == "-":
            name = "<stdin>"
            text = decode_text(read_standard_input(), name)
        else:
            text = read_text(Path(name))
        self._sources[name] = text
        return split_chunks(text, name, split=self.args.split_input_file)

    def _process(self, chunk: Chunk, plan: Plan) -> tuple[str, list[XRelayError]]:
        """Returns the output for one piece, and its errors."""
        self._warnings = []
        try:
            with self.clock.step("parse"):
                module = self._parse(chunk)
            if not self.args.disable_verify:
                with self.clock.step("verify"):
                    errors = list(islice(verification_errors(module), MAX_ERRORS))
                if errors:
                    return "", [_placed(error, chunk) for error in errors]
            self._run(module, chunk, plan)
            if self._output is not None:
                keep_weights(module, self._output)
            with self.clock.step("print"):
                return self._emit(module), []
        except XRelayError as error:
            return "", [_placed(error, chunk)]

    def _parse(self, chunk: Chunk) -> ModuleOp:
        module = parse_module(
            self.ctx,
            chunk.text,
            chunk.name,
            line_offset=chunk.line_offset,
            implicit_module=not self.args.no_implicit_module,
        )
        self._warnings = load_weights(module, chunk)
        return module

    def _emit(self, module: ModuleOp) -> str:
        """Returns the program in the form of the target."""
        try:
            return self.output_resulting_program(module).rstrip("\n") + "\n"
        except XRelayError:
            raise
        except RecursionError as error:
            raise PassError("the program is nested too deeply to print", help="split the function") from error
        except Exception as error:
            message = one_line(str(error))
            raise PassError(f"target {self.args.target} failed, {type(error).__name__}: {message}") from error

    def _run(self, module: ModuleOp, chunk: Chunk, plan: Plan) -> None:
        """Runs the passes, each named pipeline as a step of the clock."""
        plan.context.instruments = self._instruments(chunk, plan)
        with self.clock.step("passes"), plan.context as entered:
            for group, on_functions, passes in plan.runs():
                run = run_on_functions if on_functions else run_pipeline
                with self.clock.step(group, merge=False) if group else nullcontext():
                    run(module, passes, context=self.ctx, instruments=entered.instruments)

    def _instruments(self, chunk: Chunk, plan: Plan) -> list[PassInstrument]:
        """Returns the instruments that the flags request; the first verifies before others see the output of a pass."""
        args = self.args
        found: list[PassInstrument] = []
        if plan.verify_each:
            found.append(Verify(before=False, clock=self.clock))
        before, after = _names(args.print_ir_before), _names(args.print_ir_after)
        found.append(
            PrintIR(
                True if args.print_ir_before_all else before,
                True if args.print_ir_after_all else after,
                on_change=args.print_ir_after_change,
                on_failure=args.print_ir_after_failure,
            )
        )
        if args.print_ir_diff:
            found.append(PrintDiff())
        if args.dump_stages is not None:
            part = f"line{chunk.line_offset + 1}" if args.split_input_file else ""
            found.append(DumpIR(Path(args.dump_stages) / part))
        return [*found, PassTiming(self.clock), *pass_instruments(args)]

    def _check_dump_names(self, plan: Plan) -> None:
        """Raises `PassError` if a printing flag names a pass outside of the pipeline, as it would have no effect."""
        running = [entry.current.name for entry in plan.running]
        named = (self.args.print_ir_before, self.args.print_ir_after, self.args.remarks)
        for name in (name for names in named for name in names or ()):
            if name and own_name(name) not in running:
                raise PassError(f"{name!r} is not in the pipeline", help=f"it runs {', '.join(running) or 'no passes'}")

    @property
    def _output(self) -> Path | None:
        """The file to write; `None` is standard output."""
        return None if self.args.output_file in (None, "-") else Path(self.args.output_file)

    def _write(self, text: str) -> None:
        """Writes the output."""
        if self._output is None:
            with standard_output():
                sys.stdout.write(text)
        else:
            write_text(self._output, text)

    def _write_timing(self) -> None:
        """Writes the time of each step."""
        as_json = self.args.timing_format == "json"
        text = json.dumps(self.clock.root.as_data()) + "\n" if as_json else self.clock.report()
        if self.args.timing_file is None:
            sys.stderr.write(text)
        else:
            write_text(Path(self.args.timing_file), text)

    def _report(self, error: XRelayError) -> None:
        """Prints an error and its notes."""
        if self.args.debug or environment.debug():
            traceback.print_exception(error)
        for line in (error.render(), *error.notes()):
            self._show(line)

    def _show(self, message: str) -> None:
        """Writes a message to stderr, with the source line that it refers to."""
        lines = printable(message), *excerpt(message, self._sources)
        sys.stderr.writelines(line + "\n" for line in lines)


def _placed(error: _Error, chunk: Chunk) -> _Error:
    """Returns the error, located in the piece's file if it has no location."""
    if error.location is None:
        error.location = chunk.name
    return error


def _names(values: list[str] | None) -> Sequence[str] | bool:
    """Returns the passes that a repeatable flag names; true means all."""
    if values is None:
        return ()
    return True if "" in values else values
