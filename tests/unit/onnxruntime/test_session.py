"""Sessions have onnxruntime's calls, and return its results."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from unit.onnxruntime.models import classifier, joined, nearest_name, optional, scaled_sum, single, split

import xrelay
import xrelay.onnxruntime as ort
from xrelay.onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    NotImplemented,
)

X, Y = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)


@pytest.fixture(scope="module")
def session() -> ort.InferenceSession:
    return xrelay.InferenceSession(scaled_sum())


def test_outputs_are_in_the_requested_order(session: ort.InferenceSession) -> None:
    both = session.run(None, {"y": Y, "x": X})
    assert np.array_equal(both[0], 2 * X + Y)
    assert np.array_equal(both[1], 2 * X)
    twice, again = session.run(["twice", "sum"], {"x": X, "y": Y})
    assert np.array_equal(twice, both[1])
    assert np.array_equal(again, both[0])
    (alone,) = session.run(["twice"], {"x": ort.OrtValue.ortvalue_from_numpy(X), "y": Y.tolist()}, ort.RunOptions())
    assert np.array_equal(alone, both[1])


def test_dynamic_extents_are_free_in_each_run(session: ort.InferenceSession) -> None:
    for rows in (1, 5, 0):
        x = np.ones((rows, 3), np.float32)
        assert session.run(["sum"], {"x": x, "y": x})[0].shape == (rows, 3)


def test_it_describes_the_model_as_onnxruntime_does() -> None:
    peer = pytest.importorskip("onnxruntime")
    for model in (scaled_sum(), joined(), split(), optional(), classifier(), classifier("a", "b", "c")):
        own, other = ort.InferenceSession(model), peer.InferenceSession(model, providers=["CPUExecutionProvider"])
        for function in ("get_inputs", "get_outputs", "get_overridable_initializers"):
            pairs = zip(getattr(own, function)(), getattr(other, function)(), strict=True)
            for found, wanted in pairs:
                assert (found.name, found.type) == (wanted.name, wanted.type)
                assert list(found.shape) == list(wanted.shape), (function, found.name)
        for name in ("producer_name", "domain", "version", "description", "graph_name", "graph_description"):
            assert getattr(own.get_modelmeta(), name) == getattr(other.get_modelmeta(), name)
        assert own.get_modelmeta().custom_metadata_map == other.get_modelmeta().custom_metadata_map
        assert own.get_providers() == other.get_providers()


def test_wrong_inputs_raise_the_classes_of_onnxruntime(session: ort.InferenceSession) -> None:
    wrong: list[dict[str, Any]] = [
        {"x": X, "z": Y},
        {"x": X},
        {"x": X.astype(np.float64), "y": Y},
        {"x": X[0], "y": Y},
        {"x": X[:, :2], "y": Y},
        {"x": X, "y": Y, "scale": np.ones(1, np.float32)},
    ]
    for feeds in wrong:
        with pytest.raises(InvalidArgument):
            session.run(None, feeds)
    with pytest.raises(ValueError, match="'y'"):
        session.run(None, {"x": X})
    with pytest.raises(InvalidArgument, match="'summ'"):
        session.run(["summ"], {"x": X, "y": Y})
    with pytest.raises(Fail):
        session.run(None, {"x": X, "y": Y}, ort.RunOptions(terminate=True))


def test_wrong_models_raise_the_classes_of_onnxruntime(tmp_path: Path) -> None:
    with pytest.raises(NoSuchFile):
        ort.InferenceSession(tmp_path / "absent.onnx")
    with pytest.raises(FileNotFoundError):
        ort.InferenceSession(str(tmp_path / "absent.bin"))
    with pytest.raises(Fail):
        ort.InferenceSession(tmp_path)
    with pytest.raises(InvalidProtobuf):
        ort.InferenceSession(scaled_sum()[:40])
    with pytest.raises(InvalidGraph):
        ort.InferenceSession(single("NoSuchOp"))
    with pytest.raises(NotImplemented):
        ort.InferenceSession(single("NoSuchOp", domain="com.acme"))
    with pytest.raises(NotImplemented):
        ort.InferenceSession(tmp_path / "model.ort")
    with pytest.raises(InvalidArgument):
        ort.InferenceSession(scaled_sum(), opt_level=7)


def test_paths_of_any_name_and_saved_models_are_read(tmp_path: Path) -> None:
    path, other = tmp_path / "model.onnx", tmp_path / "model.bin"
    path.write_bytes(scaled_sum())
    other.write_bytes(scaled_sum())
    ort.InferenceSession(path).model.save(tmp_path / "model.xrelay")
    for place in (str(path), other, tmp_path / "model.xrelay"):
        session = ort.InferenceSession(place)
        assert np.array_equal(session.run(["sum"], {"x": X, "y": Y})[0], 2 * X + Y)
        assert session.get_inputs()[0].shape == ["batch", 3]
    (tmp_path / "model.xrelay").write_bytes(b"")
    with pytest.raises(Fail):
        ort.InferenceSession(tmp_path / "model.xrelay")


def test_a_weight_that_shapes_names_is_an_input() -> None:
    session = ort.InferenceSession(scaled_sum(), shapes={"scale": (1,)})
    feeds = {"x": X, "y": Y, "scale": np.array([3], np.float32)}
    assert np.array_equal(session.run(["sum"], feeds)[0], 3 * X + Y)


def test_sequences_are_lists_and_optional_inputs_may_be_absent() -> None:
    (rows,) = ort.InferenceSession(split()).run(None, {"x": X[:1]})
    assert isinstance(rows, list)
    assert np.array_equal(rows, [X[:1]])
    session = ort.InferenceSession(optional())
    for feeds, wanted in (({"given": Y[0]}, Y[0]), ({"given": None}, X[0]), ({}, X[0])):
        (found,) = session.run(None, {"x": X[0], **feeds})
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("labels", [(), ("cat", "dog", "owl")])
def test_probabilities_are_dictionaries(labels: tuple[str, ...]) -> None:
    peer = pytest.importorskip("onnxruntime")
    feeds = {"x": X[:, :2]}
    sessions = (ort.InferenceSession(classifier(*labels)), peer.InferenceSession(classifier(*labels)))
    (label, found), (wanted_label, wanted) = (session.run(None, feeds) for session in sessions)
    assert np.array_equal(label, wanted_label)
    assert label.dtype == wanted_label.dtype
    assert [list(each) for each in found] == [list(each) for each in wanted]
    assert [list(each.values()) for each in found] == [pytest.approx(list(each.values())) for each in wanted]


def test_texts_that_are_only_moved_are_outputs() -> None:
    peer = pytest.importorskip("onnxruntime")
    model = nearest_name(helper.make_node("Flatten", ["row"], ["name"], axis=0))
    (found,), (wanted,) = (engine.InferenceSession(model).run(None, {"x": X}) for engine in (ort, peer))
    assert found.tolist() == wanted.tolist() == [["cedar", "cedar"]]


def test_texts_that_are_changed_are_refused() -> None:
    model = nearest_name(helper.make_node("StringNormalizer", ["row"], ["name"], case_change_action="UPPER"))
    with pytest.raises(NotImplemented):
        ort.InferenceSession(model)


def test_threads_share_a_session(session: ort.InferenceSession) -> None:
    def run(number: int) -> bool:
        x = np.full((number + 1, 3), number, np.float32)
        return bool((session.run(["sum"], {"x": x, "y": x})[0] == 3 * number).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(40)))


def test_run_async_passes_results_or_the_error(session: ort.InferenceSession) -> None:
    done, found = threading.Event(), list[tuple[list[Any], object, str]]()

    def callback(results: list[Any], user_data: object, error: str) -> None:
        found.append((results, user_data, error))
        done.set()

    session.run_async(["twice"], {"x": X, "y": Y}, callback, "data")
    assert done.wait(60)
    done.clear()
    session.run_async(None, {"x": X}, callback, None)
    assert done.wait(60)
    ((twice,), data, error), (nothing, _, message) = found
    assert np.array_equal(twice, 2 * X)
    assert (data, error, nothing) == ("data", "", [])
    assert "'y'" in message
