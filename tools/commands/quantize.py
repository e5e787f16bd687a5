"""`xrelay quantize`."""

from __future__ import annotations

import sys
import zlib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import one_line, printable
from xrelay.tools.command_line import add_switches
from xrelay.tools.commands.base import Command, UsageError, add_shapes, add_source, prepare_outputs

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xrelay.passes.graph.remarks import Remark

MODES = ("percentile", "kl_divergence", "max", "global_scale")


class QuantizeCommand(Command):
    """Quantise a float model to int8, calibrated on sample data.

    --data names .npz files with an array for each input, as np.savez writes them. A file is one batch; if its arrays
    have an additional leading axis, each index of that axis is a batch. Other arrays are ignored. The text of the
    quantised program is written to the output, with its weights next to it, and all tools of xrelay accept it. The
    number of quantised ops, and the reasons why other convolutions and products stay in floats, are printed to stderr.
    """

    name: ClassVar[str] = "quantize"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, the data, and the quantisation options."""
        add_source(parser, "model: .onnx or .mlir")
        add_shapes(parser)
        parser.add_argument(
            "--data", action="append", default=[], type=Path, metavar="FILE.npz", help="arrays by input; repeatable"
        )
        parser.add_argument(
            "--calibrate",
            choices=MODES,
            default=MODES[0],
            help="method that chooses the bounds of tensors (percentile); global_scale needs no data",
        )
        parser.add_argument(
            "--global-scale", type=float, metavar="X", help="bound of all tensors with --calibrate global_scale (8)"
        )
        add_switches(
            parser.add_argument,
            {
                "--per-tensor": "use one scale per weight instead of one per channel",
                "--unsigned": "use unsigned integers over the range of each tensor",
                "--skip-dense": "keep dense layers in float",
            },
        )
        parser.add_argument(
            "--skip-conv",
            action="append",
            default=[],
            type=int,
            metavar="N",
            help="keep the N-th 2-D convolution in float; counts from 0, -1 is the last; repeatable",
        )
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="output file (default: MODEL.int8.mlir)")

    def run(self, args: Namespace) -> int:
        """Calibrates, quantises and writes the model."""
        from xrelay.api.sources import load_source, save_module
        from xrelay.passes.graph.remarks import listening
        from xrelay.relay.quantize.model import quantize

        output: Path = args.output if args.output is not None else args.model.with_suffix(".int8.mlir")
        prepare_outputs(args.model, output)
        config = _config(args)
        module = load_source(args.model, shapes=dict(args.shapes))
        ranks = _input_ranks(module)
        remarks: list[Remark] = []
        with listening(remarks.append):
            found = quantize(module, _batches(args.data, ranks) if args.data else None, config=config)
        save_module(found, output)
        for line in _report(found, remarks, output):
            sys.stderr.write(printable(line) + "\n")
        return 0


def _config(args: Namespace) -> Any:
    """Returns the configuration that the flags describe."""
    from xrelay.relay.quantize.model import model_config

    needs_data = args.calibrate != "global_scale"
    if needs_data and not args.data:
        raise UsageError(f"--calibrate {args.calibrate} needs --data", help="pass a .npz file or use global_scale")
    if args.global_scale is not None and needs_data:
        raise UsageError("--global-scale needs --calibrate global_scale", help="pass both, or omit --global-scale")
    if args.global_scale is not None and not (np.isfinite(args.global_scale) and args.global_scale > 0):
        raise UsageError(f"--global-scale is {args.global_scale:g}", help="pass a number greater than 0")
    return model_config(
        calibrate_mode=args.calibrate,
        per_channel=not args.per_tensor,
        dtype_input="uint8" if args.unsigned else "int8",
        skip_dense_layer=args.skip_dense,
        skip_conv_layers=args.skip_conv,
        **({} if args.global_scale is None else {"global_scale": args.global_scale}),
    )


# --- data ----------------------------------------------------------------------------------------------------------


def _input_ranks(module: ModuleOp) -> dict[str, int]:
    """Returns the rank of each input of the model."""
    from xrelay.api.programs import input_specs, program_of

    return {spec.name: len(spec.shape) for spec in input_specs(program_of(module))}


def _batches(paths: Sequence[Path], ranks: dict[str, int]) -> Iterator[dict[str, NDArray[Any]]]:
    """Yields the batches of all files."""
    for path in paths:
        arrays = {name: array for name, array in _arrays(path).items() if name in ranks}
        missing = [name for name in ranks if name not in arrays]
        if missing:
            raise UsageError(f"no array for input {missing[0]!r}", location=str(path), help=f"pass {', '.join(ranks)}")
        if not all(array.ndim == ranks[name] + 1 for name, array in arrays.items()):
            yield arrays
            continue
        counts = {name: len(array) for name, array in arrays.items()}
        if len(set(counts.values())) > 1:
            sizes = ", ".join(f"{count} for {name!r}" for name, count in counts.items())
            raise UsageError(f"different numbers of batches: {sizes}", location=str(path))
        for number in range(next(iter(counts.values()))):
            yield {name: array[number] for name, array in arrays.items()}


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Returns the arrays in a `.npz` file."""
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError("it contains one unnamed array")
        with archive:
            return {name: archive[name] for name in archive.files}
    except OSError as error:
        raise UsageError(f"cannot read the data: {error.strerror or error}", location=str(path)) from error
    except (ValueError, EOFError, KeyError, NotImplementedError, BadZipFile, zlib.error) as error:
        raise UsageError(
            "the file contains no named arrays", location=str(path), help="write it with np.savez"
        ) from error


# --- the report ----------------------------------------------------------------------------------------------------


def _report(module: ModuleOp, remarks: Sequence[Remark], output: Path) -> Iterator[str]:
    """Yields lines about the output, and about products that stay in floats."""
    from xrelay.dialects.relay.core.quantization import Quantization
    from xrelay.dialects.relay.core.registry import relay_ops
    from xrelay.dialects.relay.ops.qnn.op_base import QnnOp
    from xrelay.passes.infra.verify import walk_ops
    from xrelay.passes.qnn import quantize_annotate, quantize_realize
    from xrelay.passes.qnn.quantization_points import is_float_tensor

    kinds = {op.name: op for op in relay_ops().values() if op.QUANTIZATION is Quantization.PRODUCT}
    floats = {name for name, op in kinds.items() if not issubclass(op, QnnOp)}
    products = [op for op in walk_ops(module) if op.name in kinds]
    integers = sum(not is_float_tensor(op.operands[0]) for op in products)
    yield f"wrote {output}: {integers} of {len(products)} convolutions and products are int8"
    sizes: set[str] = set()
    for remark in remarks:
        # Calibration compiles the model: its remarks are about the float program.
        is_ours = remark.pass_name in (quantize_annotate.NAME, quantize_realize.NAME)
        if is_ours and not remark.applied and remark.op_name in floats:
            line = one_line(f"{remark.location or 'somewhere'}: {remark.op_name} stays float: {remark.message}")
            if line not in sizes:
                sizes.add(line)
                yield line
