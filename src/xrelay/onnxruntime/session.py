"""`InferenceSession`: a compiled model with the calls of onnxruntime's session."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from os import PathLike
from typing import TypeAlias, Unpack

import numpy as np

from xrelay.api.declared_outputs import declared_values
from xrelay.api.model import CompiledModel
from xrelay.errors import XRelayError, did_you_mean
from xrelay.onnxruntime.binding import IOBinding
from xrelay.onnxruntime.errors import Fail, InvalidArgument, Refused, translate
from xrelay.onnxruntime.opening import opened
from xrelay.onnxruntime.options import PROFILE, RunOptions, SessionArguments, SessionOptions
from xrelay.onnxruntime.signature import ModelMetadata, NodeArg
from xrelay.onnxruntime.values import OrtValue
from xrelay.runtime.lists import Listed

PROVIDER = "CPUExecutionProvider"
"""The only execution provider."""

Feeds: TypeAlias = Mapping[str, Listed]
"""Inputs by name."""


class InferenceSession:
    """A model that is compiled when the session is created.

    Dynamic extents are free in each run. Several threads may run a session at once.
    """

    get_profiling_start_time_ns = Refused(PROFILE)
    end_profiling = Refused(PROFILE)

    def __init__(
        self,
        path_or_bytes: str | PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[str | tuple[str, Mapping[str, object]]] | None = None,
        provider_options: Sequence[Mapping[str, object]] | None = None,
        **options: Unpack[SessionArguments],
    ):
        """Compiles a model, or finds it in the cache.

        `path_or_bytes` is the path of an ONNX model or of a file that `CompiledModel.save` wrote, or the bytes of an
        ONNX model. Other providers than `CPUExecutionProvider` cause a warning. `options` are those of
        `xrelay.compile`, and take precedence over `sess_options`.

        Raises `NoSuchFile`, `InvalidProtobuf`, `InvalidGraph` for an invalid model, `NotSupported` for a model or an
        option that is not supported, and `InvalidArgument` for a wrong option.
        """
        self._options = SessionOptions() if sess_options is None else sess_options
        self._provider_options = _cpu_options(providers, provider_options)
        given = self._options.compile_options(options)
        self._model, self._signature = opened(path_or_bytes, self._options, given)
        self._positions = {each.name: number for number, each in enumerate(self._signature.outputs)}
        self._zips = {
            self._positions[name]: keys for name, keys in self._signature.zip_keys.items() if name in self._positions
        }
        self._are_lists = [each.type.startswith(("seq(tensor", "optional(seq")) for each in self._signature.outputs]
        self._texts = np.array(self._signature.texts, np.object_)
        self._are_texts = [each.type == "tensor(string)" for each in self._signature.outputs]
        self._left_out = {each.name for each in self._signature.inputs} - {*self._model.input_names}
        """Declared inputs that the compiled model does not read."""
        self._optional = [spec.name for spec in self._model.inputs if spec.containers[:1] == ("optional",)]
        self._names: AbstractSet[str] = frozenset(self._model.input_names)

    @property
    def model(self) -> CompiledModel:
        """The compiled model of the session, for example to save it or to cancel its runs."""
        return self._model

    def run(
        self, output_names: Sequence[str] | None, input_feed: Feeds, run_options: RunOptions | None = None
    ) -> list[Listed]:
        """Runs the model; returns the outputs in the order of `output_names`, all of them if it is empty or `None`.

        An input is an array, an `OrtValue`, or a list of arrays; an optional input may be `None` or absent. Raises
        `InvalidArgument` for a wrong name, type, rank or extent and for a missing input, and `RuntimeException` if the
        run fails.
        """
        if run_options is not None and run_options.terminate:
            raise Fail("the run was terminated: RunOptions.terminate is set")
        positions = None if not output_names else [self._position(name) for name in output_names]
        try:
            values = self._model.run(self._feeds(input_feed))
        except XRelayError as error:
            raise translate(error) from error
        values = self._declared(values)
        return values if positions is None else [values[position] for position in positions]

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """Same as `run`, for values."""
        feeds = {name: value.to_python() for name, value in input_dict_ort_values.items()}
        return [OrtValue(value) for value in self.run(output_names, feeds, run_options)]

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs the model on bound inputs, and stores the bound outputs."""
        if iobinding.outputs:
            iobinding.store(self.run_with_ort_values(list(iobinding.outputs), iobinding.inputs, run_options))

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Feeds,
        callback: Callable[[list[Listed], object, str], object],
        user_data: object,
        run_options: RunOptions | None = None,
    ) -> None:
        """Runs the model in a thread of its own, which calls `callback(results, user_data, error)`.

        `error` is empty, or the message of a failed run, whose results are empty.
        """

        def run() -> None:
            try:
                results, message = self.run(output_names, input_feed, run_options), ""
            except XRelayError as error:
                results, message = list[Listed](), str(error)
            callback(results, user_data, message)

        threading.Thread(target=run, name="xrelay-run-async", daemon=True).start()

    def io_binding(self) -> IOBinding:
        """Returns a new binding."""
        return IOBinding(self)

    def get_inputs(self) -> list[NodeArg]:
        """Returns the inputs that a run needs."""
        return self._signature.inputs

    def get_outputs(self) -> list[NodeArg]:
        """Returns the outputs."""
        return self._signature.outputs

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Returns the weights that are also listed as inputs.

        They are constants, unless `shapes=` of the session names them; then they are inputs of each run.
        """
        return self._signature.overridable_initializers

    def get_modelmeta(self) -> ModelMetadata:
        """Returns the description of the model by its producer."""
        return self._signature.metadata

    def get_session_options(self) -> SessionOptions:
        """Returns the options of the session."""
        return self._options

    def get_providers(self) -> list[str]:
        """Returns the execution provider, that of the CPU."""
        return [PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, object]]:
        """Returns the options of the provider, which have no effect."""
        return {PROVIDER: dict(self._provider_options)}

    def set_providers(
        self,
        providers: Sequence[str | tuple[str, Mapping[str, object]]] | None = None,
        provider_options: Sequence[Mapping[str, object]] | None = None,
    ) -> None:
        """Stores the options of the provider; other providers cause a warning."""
        self._provider_options = _cpu_options(providers, provider_options)

    def enable_fallback(self) -> None:
        """Does nothing, because there is only one provider."""

    def disable_fallback(self) -> None:
        """Does nothing, because there is only one provider."""

    def _declared(self, values: list[Listed]) -> list[Listed]:
        """Returns the declared outputs, with lists, dictionaries and texts, for those of the compiled model."""
        if any(self._are_lists):
            values = declared_values(self._are_lists, self._model.outputs, values)
        for position, keys in self._zips.items():
            values[position] = [dict(zip(keys, row, strict=True)) for row in values[position].tolist()]
        if any(self._are_texts):
            pairs = zip(values, self._are_texts, strict=True)
            values = [self._texts[value] if is_text else value for value, is_text in pairs]
        return values

    def _position(self, name: str) -> int:
        """Returns the number of an output. Raises `InvalidArgument` for an unknown name."""
        position = self._positions.get(name)
        if position is None:
            hint = did_you_mean(name, self._positions, f"the outputs are {', '.join(self._positions)}")
            raise InvalidArgument(f"the model has no output '{name}'", help=hint)
        return position

    def _feeds(self, feeds: Feeds) -> Feeds:
        """Returns the inputs of the compiled model. Raises `InvalidArgument` for a weight."""
        if feeds.keys() == self._names:
            return feeds
        for each in self._signature.overridable_initializers:
            if each.name in feeds and each.name not in self._names:
                help = f"create the session with shapes={{{each.name!r}: …}}, which makes it an input of each run"
                raise InvalidArgument(f"'{each.name}' is a weight, which was compiled as a constant", help=help)
        used = {name: value for name, value in feeds.items() if name not in self._left_out}
        return {**dict.fromkeys(self._optional), **used}


def _cpu_options(
    providers: Sequence[str | tuple[str, Mapping[str, object]]] | None,
    provider_options: Sequence[Mapping[str, object]] | None,
) -> Mapping[str, object]:
    """Returns the options for the CPU, and warns of other providers.

    Raises `InvalidArgument` for a text, and if the numbers of providers and of their options differ.
    """
    if isinstance(providers, str):
        raise InvalidArgument(f"providers is the text {providers!r}", help=f"pass a list: [{PROVIDER!r}]")
    if provider_options is not None and (providers is None or len(providers) != len(provider_options)):
        raise InvalidArgument("providers and provider_options must have the same length")
    none: Mapping[str, object] = {}
    found = none
    for number, provider in enumerate(() if providers is None else providers):
        name, options = (provider, none) if isinstance(provider, str) else provider
        if name == PROVIDER:
            found = options if provider_options is None else provider_options[number]
        else:
            warnings.warn(f"the provider {name!r} is not available: the model runs on the CPU", stacklevel=3)
    return found
