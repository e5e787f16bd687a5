"""Options of sessions are applied, have no effect, or are refused by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from unit.onnxruntime.models import denoted_relu, scaled_sum

import xrelay.onnxruntime as ort
from xrelay.onnxruntime.errors import InvalidArgument, NotSupported
from xrelay.onnxruntime.options import GraphOptimizationLevel


def test_the_fields_and_their_defaults_are_those_of_onnxruntime() -> None:
    peer = pytest.importorskip("onnxruntime")
    for own, other in ((ort.SessionOptions(), peer.SessionOptions()), (ort.RunOptions(), peer.RunOptions())):
        for name in dir(other):
            wanted = None if name.startswith("_") else getattr(other, name)
            if wanted is not None and not callable(wanted):
                found = getattr(own, name)
                assert (int(found), int(wanted)) if hasattr(wanted, "value") else found == wanted, name


def test_threads_level_and_versions_follow_the_fields() -> None:
    options = ort.SessionOptions()
    assert options.compile_options({}) == {"threads": None, "opt_level": 3, "specialize": True}
    options.intra_op_num_threads, options.use_deterministic_compute = 2, True
    options.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_BASIC
    assert options.compile_options({}) == {"threads": 2, "opt_level": 1, "specialize": False}
    assert options.compile_options({"opt_level": 0, "enable_fallback": 1})["opt_level"] == 0
    session = ort.InferenceSession(scaled_sum(), options)
    assert session.get_session_options() is options


def test_dimensions_are_fixed_by_name() -> None:
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("batch", 2)
    session = ort.InferenceSession(scaled_sum(), options)
    assert [each.shape for each in session.get_inputs()] == [[2, 3], [2, 3]]
    x = np.ones((3, 3), np.float32)
    with pytest.raises(InvalidArgument):
        session.run(None, {"x": x, "y": x})
    assert session.run(["sum"], {"x": x[:2], "y": x[:2]})[0].shape == (2, 3)


def test_dimensions_are_fixed_by_denotation_and_the_others_stay_dynamic() -> None:
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_denotation("DATA_BATCH", 2)
    session = ort.InferenceSession(denoted_relu(), options)
    assert [each.shape for each in (*session.get_inputs(), *session.get_outputs())] == [[2, "n"], [2, "n"]]
    assert session.run(None, {"x": np.ones((2, 5), np.float32)})[0].shape == (2, 5)
    with pytest.raises(InvalidArgument):
        session.run(None, {"x": np.ones((3, 5), np.float32)})


def test_functions_without_effect() -> None:
    for function in (ort.set_default_logger_severity, ort.set_default_logger_verbosity):
        function(3)
    for function in (ort.disable_telemetry_events, ort.enable_telemetry_events, ort.preload_dlls):
        function()
    session = ort.InferenceSession(scaled_sum())
    session.disable_fallback()
    session.enable_fallback()


def test_unsupported_options_are_refused_by_name() -> None:
    options = ort.SessionOptions()
    with pytest.raises(NotSupported, match=r"SessionOptions\.register_custom_ops_library"):
        options.register_custom_ops_library("libcustom.so")
    with pytest.raises(NotSupported, match=r"RunOptions\.add_active_adapter"):
        ort.RunOptions().add_active_adapter(None)
    options.enable_profiling = True
    with pytest.raises(NotSupported, match="enable_profiling"):
        ort.InferenceSession(scaled_sum(), options)
    options = ort.SessionOptions(optimized_model_filepath="optimized.onnx")
    with pytest.raises(NotSupported, match="optimized_model_filepath"):
        ort.InferenceSession(scaled_sum(), options)
    with pytest.raises(AttributeError, match=r"xrelay\.quantize"):
        _ = ort.quantization
    with pytest.raises(AttributeError):
        options.inter_op_threads = 1  # pyright: ignore


def test_entries_are_stored() -> None:
    for add, get in (
        ("add_session_config_entry", "get_session_config_entry"),
        ("add_run_config_entry", "get_run_config_entry"),
    ):
        options = ort.SessionOptions() if "session" in add else ort.RunOptions()
        getattr(options, add)("key", "1")
        assert getattr(options, get)("key") == "1"
        with pytest.raises(InvalidArgument):
            getattr(options, get)("other")


def test_other_providers_cause_a_warning() -> None:
    with pytest.warns(UserWarning, match="CUDAExecutionProvider"):
        session = ort.InferenceSession(
            scaled_sum(), providers=["CUDAExecutionProvider", ("CPUExecutionProvider", {"arena": 1})]
        )
    assert session.get_provider_options() == {"CPUExecutionProvider": {"arena": 1}}
    assert session.get_providers() == ort.get_available_providers() == ["CPUExecutionProvider"]
    session.set_providers(["CPUExecutionProvider"], [{}])
    assert session.get_provider_options() == {"CPUExecutionProvider": {}}
    with pytest.raises(InvalidArgument):
        session.set_providers(["CPUExecutionProvider"], [])
    with pytest.raises(InvalidArgument, match="list"):
        session.set_providers("CPUExecutionProvider")


def test_a_program_imports_it_as_onnxruntime() -> None:
    script = """
import sys
import xrelay.onnxruntime

sys.modules["onnxruntime"] = xrelay.onnxruntime
import onnxruntime as rt
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument, NotImplemented
from onnxruntime.capi.onnxruntime_inference_collection import OrtValue
from onnxruntime.capi import _pybind_state as C

assert C.get_available_providers() == rt.get_available_providers() and C.NotImplemented is NotImplemented

assert OrtValue is rt.OrtValue and rt.get_device() == "CPU" and rt.get_version_string() == rt.__version__
try:
    rt.InferenceSession(sys.stdin.buffer.read()).run(None, {})
except InvalidArgument as error:
    assert "missing input" in str(error)
"""
    run = subprocess.run([sys.executable, "-c", script], input=scaled_sum(), capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
