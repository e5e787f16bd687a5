"""Serves single requests in batches: waiting requests of several threads run as one batch of any size."""

from concurrent.futures import Future, ThreadPoolExecutor
from queue import Queue
from threading import Thread

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import xrelay

LARGEST = 8  # the largest batch


def dense_layer() -> bytes:
    """Returns a model of a dense layer with a dynamic batch."""
    weight = np.random.default_rng(0).normal(size=(64, 10)).astype(np.float32)
    rows, scores = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", width])
        for name, width in (("x", 64), ("y", 10))
    )
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "dense", [rows], [scores], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


model = xrelay.compile(dense_layer(), shapes={"batch": (1, LARGEST, LARGEST)})  # minimum, maximum and typical size
requests: Queue[tuple[np.ndarray, Future[np.ndarray]] | None] = Queue()
sizes: list[int] = []


def serve() -> None:
    """Runs batches until a request is None."""
    while (first := requests.get()) is not None:
        batch = [first]
        while len(batch) < LARGEST and not requests.empty() and (request := requests.get()) is not None:
            batch.append(request)
        (results,) = model.run([np.stack([row for row, _ in batch])])
        sizes.append(len(batch))
        for result, (_, answer) in zip(results, batch, strict=True):
            answer.set_result(result)


def request(row: np.ndarray) -> np.ndarray:
    """Returns the result for a row."""
    answer: Future[np.ndarray] = Future()
    requests.put((row, answer))
    return answer.result()


server = Thread(target=serve)
server.start()
with ThreadPoolExecutor(16) as clients:
    rows = np.random.default_rng(1).normal(size=(100, 64)).astype(np.float32)
    answers = list(clients.map(request, rows))
requests.put(None)
server.join()
assert sum(sizes) == len(answers) == 100
print(f"100 requests in {len(sizes)} batches")
