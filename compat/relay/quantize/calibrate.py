"""Calibration: determines the bounds of the tensors to quantise by running the float program on data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xrelay.api.arrays import as_numpy
from xrelay.api.compile import compile
from xrelay.api.interface import main_function
from xrelay.api.model import CompiledModel
from xrelay.errors import InputError, XRelayError, with_article
from xrelay.passes.qnn.quantization_points import Bounds, Choice, is_float_tensor
from xrelay.passes.qnn.quantize_annotate import note_bounds, points_of
from xrelay.relay.analysis.modules import return_values
from xrelay.relay.quantize.config import KL_DIVERGENCE, MAX, QConfig
from xrelay.relay.quantize.histogram import Histogram, kl_threshold, percentile_threshold
from xrelay.runtime.inputs import InputSpec

ANY_BOUNDS = Bounds(-1.0, 1.0)
"""The bounds of a tensor before they are known."""


def calibrate_module(module: ModuleOp, choice: Choice, config: QConfig, dataset: object) -> ModuleOp:
    """Returns a copy of `module` whose ops have the bounds of tensors to quantise in `relay.calibrated`.

    `dataset` is an iterable of mappings from input names to arrays, which is iterated once. Only a histogram of each
    tensor is stored. Values in branches, loops and other functions than `@main` are not calibrated. Tensors with
    non-finite values have no bounds: their users stay in floats.

    Raises `InputError` for a dataset that is invalid or empty, or with a batch that does not fit. The message names the
    batch and the error.
    """
    copy = module.clone()
    main = main_function(copy)
    own = main.body.block

    def bounds_of(value: SSAValue) -> Bounds | None:
        block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
        return ANY_BOUNDS if block is own and is_float_tensor(value) else None

    points = points_of(copy, choice, bounds_of).measured
    values = list(dict.fromkeys(point.value for point in points if not point.is_weight))
    histograms = dict(zip(values, _histograms(copy, main, values, config, dataset), strict=True))
    bounds = {value: _bounds(histogram, config) for value, histogram in histograms.items() if histogram.is_finite}
    found: dict[Operation, dict[int, Bounds]] = {}
    for point in points:
        if point.value in bounds:
            found.setdefault(point.op, {})[point.index] = bounds[point.value]
    for op, own in found.items():
        note_bounds(op, own)
    return copy


def _bounds(histogram: Histogram, config: QConfig) -> Bounds:
    if config.calibrate_mode == KL_DIVERGENCE:
        return histogram.bounds(kl_threshold(histogram, 2 ** (config.nbit_input - 1)))
    if config.calibrate_mode == MAX:
        return histogram.bounds(histogram.most)
    return histogram.bounds(percentile_threshold(histogram))


# --- running -------------------------------------------------------------------------------------------------------


def _histograms(
    module: ModuleOp, main: FuncOp, values: Sequence[SSAValue], config: QConfig, dataset: object
) -> list[Histogram]:
    """Returns the histograms of `values` of `main` over the dataset."""
    batches = _batches(dataset, config.calibrate_mode)
    size = len(values) if config.calibrate_chunk_by == -1 else config.calibrate_chunk_by
    chunks = [values[start : start + size] for start in range(0, len(values), max(size, 1))]
    models = [_returning(module, main, chunk) for chunk in chunks]
    histograms = [Histogram() for _ in values]
    count = 0
    for number, batch in enumerate(batches):
        count += 1
        _add_batch(models, histograms, _Batch(number, batch))
    if not count:
        raise InputError("the dataset is empty", help="pass an iterable of batches, each a dictionary of arrays")
    return histograms


def _batches(dataset: object, mode: str) -> Iterable[object]:
    if dataset is None:
        raise InputError(
            f"calibrate_mode {mode!r} needs a dataset", help="pass dataset=, or choose the mode 'global_scale'"
        )
    if isinstance(dataset, Mapping | str | bytes | np.ndarray) or not isinstance(dataset, Iterable):
        kind = with_article(type(cast("object", dataset)).__name__)
        raise InputError(f"the dataset is {kind}", help="pass an iterable of batches, each a dictionary of arrays")
    return dataset


def _returning(module: ModuleOp, main: FuncOp, values: Sequence[SSAValue]) -> CompiledModel:
    """Returns a compiled copy of the program that returns only `values`."""
    copies: dict[SSAValue, SSAValue] = {}
    copy = module.clone(copies)
    return_values(main_function(copy), [copies[value] for value in values])
    return compile(copy)


def _add_batch(models: Sequence[CompiledModel], histograms: Sequence[Histogram], batch: _Batch) -> None:
    """Adds the results of the models for one batch to the histograms."""
    remaining = iter(histograms)
    for model in models:
        inputs = batch.inputs(model)
        try:
            outputs = model.run(inputs)
        except XRelayError as error:
            raise InputError(f"{batch}: {error.message}", location=error.location, help=error.help) from error
        for output in outputs:
            next(remaining).add(np.asarray(output))


class _Batch:
    """A batch of the dataset with its number."""

    def __init__(self, number: int, values: object):
        self._number = number
        if not isinstance(values, Mapping):
            raise InputError(f"{self} is {with_article(type(values).__name__)}", help="pass arrays by name of input")
        self._values = {str(name): value for name, value in cast("Mapping[object, object]", values).items()}

    def __str__(self) -> str:
        return f"batch {self._number} of the dataset"

    def inputs(self, model: CompiledModel) -> dict[str, NDArray[Any]]:
        """Returns the arrays of the model's inputs. Other arrays of the batch, such as labels, are ignored."""
        return {spec.name: self._array(InputSpec(spec)) for spec in model.inputs}

    def _array(self, spec: InputSpec) -> NDArray[Any]:
        name = spec.spec.name
        if name not in self._values:
            names = ", ".join(self._values) or "nothing"
            raise InputError(f"{self} has no input {name!r}", help=f"it has {names}")
        try:
            array = spec.cast(as_numpy(self._values[name]))
        except XRelayError as error:
            raise InputError(f"{self}: {error.message}", help=error.help) from error
        if array.dtype.kind not in "iubO" and not np.isfinite(array.astype(np.float64)).all():
            raise InputError(f"{self}: input {name!r} contains non-finite numbers", help="omit such batches")
        return array
