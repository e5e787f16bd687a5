"""`xrelay explore`: levels, graph, decisions and times in the page."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tools.explored import explore, write_model

import xrelay

CONV, RELU, SOFTMAX = "/stem/conv/Conv", "/stem/act/Relu", "/head/Softmax"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the small model."""
    folder = tmp_path_factory.mktemp("explore")
    write_model(folder / "two.onnx")
    explore(folder / "two.onnx", folder / "two.html")
    return (folder / "two.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def data(page: str) -> dict[str, Any]:
    """The data in the page."""
    return data_of(page)


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="data"[^>]*>([^<]*)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def ids(data: dict[str, Any], *names: str) -> set[int]:
    return {data["names"].index(name) for name in names}


def lines_of(level: dict[str, Any], wanted: set[int]) -> list[str]:
    """The lines of a level that are linked to any of the nodes, by themselves or by their functions."""
    lines = level["text"].split("\n")
    within = {line for first, last, nodes in level["spans"] if wanted & set(nodes) for line in range(first, last + 1)}
    return [
        lines[line]
        for line in sorted(within | {int(at) for at, nodes in level["nodes"].items() if wanted & set(nodes)})
    ]


def test_levels_from_onnx_to_assembly(data: dict[str, Any]) -> None:
    names = [level["name"] for level in data["levels"]]
    assert names[:2] == ["onnx", "imported"]
    assert names[-5:] == ["scheduled", "scf", "llvm", "llvm-ir", "assembly"]


def test_node_has_lines_in_every_level(data: dict[str, Any]) -> None:
    conv = ids(data, CONV)
    for level in data["levels"]:
        assert lines_of(level, conv), level["name"]


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("onnx", "= Conv["),
        ("imported", "relay.nn.conv2d"),
        ("scheduled", "func private @fused_nn_conv2d_nn_relu("),
        ("llvm-ir", "@fused_nn_conv2d_nn_relu("),
        ("assembly", "fused_nn_conv2d_nn_relu:"),
    ],
)
def test_lines_of_a_node_compute_it(data: dict[str, Any], level: str, text: str) -> None:
    (found,) = (each for each in data["levels"] if each["name"] == level)
    assert any(text in line for line in lines_of(found, ids(data, CONV)))
    assert not any(text in line for line in lines_of(found, ids(data, SOFTMAX)))


@pytest.mark.parametrize("level", ["scheduled", "scf", "llvm-ir", "assembly"])
def test_instructions_lead_to_single_nodes_of_their_kernel(data: dict[str, Any], level: str) -> None:
    (found,) = (each for each in data["levels"] if each["name"] == level)
    lines = found["text"].split("\n")
    (conv,), (relu,) = ids(data, CONV), ids(data, RELU)
    linked = [(lines[int(at)], nodes) for at, nodes in found["nodes"].items()]
    products = [nodes for text, nodes in linked if re.search(r"mulf|fmul|vmulps|vfmadd|call .*fmuladd", text)]
    maxima = [nodes for text, nodes in linked if re.search(r"maximumf|llvm\.maximum|llvm\.maxnum|vmaxps", text)]
    assert [conv] in products
    assert [relu] not in products
    assert [relu] in maxima


def test_kernels_with_equal_code_lead_to_the_nodes_of_all_calls(tmp_path: Path) -> None:
    text = """func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = relay.nn.softmax(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = relay.nn.softmax(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %b : tensor<8x8xf32>
}
"""
    (tmp_path / "m.mlir").write_text(text, encoding="utf-8")
    explore(tmp_path / "m.mlir", tmp_path / "m.html", "--no-run")
    data = data_of((tmp_path / "m.html").read_text(encoding="utf-8"))
    both = ids(data, "line 2", "line 3")
    for level in data["levels"][-4:]:
        linked = [
            set(level["nodes"].get(str(line), ())) for first, last, _ in level["spans"] for line in range(first, last)
        ]
        assert both in linked
        assert all(nodes in (both, set()) for nodes in linked), level["name"]


def test_graph_groups_fused_ops(data: dict[str, Any]) -> None:
    nodes = data["graph"]["nodes"]
    kernels = [node for node in nodes if ids(data, CONV) & set(node["nodes"])]
    assert any(ids(data, RELU) <= set(node["nodes"]) and "nn.conv2d" in node["ops"] for node in kernels)
    inputs = {to for start, to, _ in data["graph"]["edges"] if nodes[start]["kind"] == "input"}
    assert inputs
    assert all(nodes[number]["kind"] == "kernel" for number in inputs)


def test_calls_have_times(data: dict[str, Any]) -> None:
    seconds = [node["seconds"] for node in data["graph"]["nodes"] if node["kind"] == "kernel"]
    assert all(each > 0 for each in seconds)
    assert sum(seconds) <= data["profile"]["seconds"]


def test_stories_and_schedules(data: dict[str, Any]) -> None:
    assert any("nn.relu" in story for story in data["fusion"][RELU])
    called = {node["name"] for node in data["graph"]["nodes"] if node["kind"] == "kernel"}
    assert called & data["schedules"].keys()
    assert all(any(each["chosen"] for each in kernel["ranking"]) for kernel in data["schedules"].values())


def test_buffers_in_use_together_do_not_overlap(data: dict[str, Any]) -> None:
    buffers = data["memory"]["buffers"]
    assert buffers
    for number, one in enumerate(buffers):
        for other in buffers[:number]:
            if one["first"] <= other["last"] and other["first"] <= one["last"] and one["offset"] != other["offset"]:
                ends = one["offset"] + one["size"], other["offset"] + other["size"]
                assert ends[0] <= other["offset"] or ends[1] <= one["offset"]


def test_buffers_of_dynamic_size_have_the_sizes_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "net.mlir").write_text("""
func.func @main(%x: tensor<?x48xf32, #relay.dims<n>>, %w: tensor<48x48xf32>) -> !relay.incomplete {
  %a = relay.nn.dense(%x, %w) : (tensor<?x48xf32, #relay.dims<n>>, tensor<48x48xf32>) -> !relay.incomplete
  %b = relay.nn.dense(%a, %w) : (!relay.incomplete, tensor<48x48xf32>) -> !relay.incomplete
  func.return %b : !relay.incomplete
}""")
    explore(tmp_path / "net.mlir", tmp_path / "net.html", "--size", "n=5", "--exact")
    memory = data_of((tmp_path / "net.html").read_text())["memory"]
    assert (memory["sizes"], memory["dynamic"]) == ({"n": 5}, 0)
    assert {"a": 5 * 48 * 4}.items() <= {buffer["name"]: buffer["size"] for buffer in memory["buffers"]}.items()
    explore(tmp_path / "net.mlir", tmp_path / "net.html", "--no-run")
    memory = data_of((tmp_path / "net.html").read_text())["memory"]
    assert memory["sizes"] == {}
    assert memory["dynamic"] > 0


def test_passes_show_what_they_changed(data: dict[str, Any]) -> None:
    runs = {run["name"]: run for run in data["passes"]}
    assert "+" in runs["relay-fuse-ops"]["diff"]
    assert runs["relay-fuse-ops"]["changed"] > 0
    assert runs["relay-lift-closures"]["changed"] == 0


def test_page_needs_no_network(page: str) -> None:
    links = re.findall(r'(?:src|href)\s*=\s*["\'][^"\']*', page)
    assert not links
    assert not re.findall(r"url\(|@import|fetch\(|XMLHttpRequest", page)


def test_lines_of_a_text_are_its_nodes(tmp_path: Path) -> None:
    text = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
"""
    (tmp_path / "m.mlir").write_text(text, encoding="utf-8")
    explore(tmp_path / "m.mlir", tmp_path / "m.html")
    data = data_of((tmp_path / "m.html").read_text(encoding="utf-8"))
    assert data["levels"][0]["text"] == text
    for level in data["levels"]:
        assert lines_of(level, ids(data, "line 2")), level["name"]


def test_rewrites_contain_layouts(data: dict[str, Any]) -> None:
    assert any(text.startswith("relay-alter-op-layout: nn.conv2d: works in ") for text in data["rewrites"][CONV])


def test_kernels_are_under_the_roofline(data: dict[str, Any]) -> None:
    (conv,) = (node for node in data["graph"]["nodes"] if "nn.conv2d" in node["ops"] and "nn.relu" in node["ops"])
    assert conv["gflops"] > 0
    assert conv["gbytes"] > 0
    assert data["profile"]["peak"] > 0
    assert data["profile"]["bandwidths"]


def test_values_are_compared_by_node(tmp_path: Path) -> None:
    write_model(tmp_path / "m.onnx")
    explore(tmp_path / "m.onnx", tmp_path / "m.html", "--compare", "--no-run")
    data = data_of((tmp_path / "m.html").read_text(encoding="utf-8"))
    assert [(row["name"], data["names"][row["ids"][0]]) for row in data["values"][:2]] == [("a", CONV), ("b", RELU)]
    assert all(row["agrees"] for row in data["values"])
    assert {"roofline"} == data["absent"].keys()


def test_saved_model_has_kernels_with_times(tmp_path: Path) -> None:
    write_model(tmp_path / "m.onnx")
    xrelay.compile(tmp_path / "m.onnx").save(tmp_path / "m.xrelay")
    explore(tmp_path / "m.xrelay", tmp_path / "m.html")
    data = data_of((tmp_path / "m.html").read_text(encoding="utf-8"))
    kernels = [node for node in data["graph"]["nodes"] if node["kind"] == "kernel"]
    assert any(ids(data, CONV) <= set(node["nodes"]) for node in kernels)
    assert all(node["seconds"] > 0 for node in kernels)
    assert {"fusion", "rewrites", "schedule", "memory", "passes", "values"} == data["absent"].keys()


def test_page_of_a_model_whose_run_fails(tmp_path: Path) -> None:
    n, m = "tensor<?xf32, #relay.dims<n>>", "tensor<?xf32, #relay.dims<m>>"
    text = f"""func.func @main(%x: {n}, %y: {m}) -> {n} {{
  %d = relay.subtract(%x, %y) : ({n}, {m}) -> {n}
  func.return %d : {n}
}}
"""
    (tmp_path / "m.mlir").write_text(text, encoding="utf-8")
    assert "warning: the page has no times: " in explore(
        tmp_path / "m.mlir", tmp_path / "m.html", "--size", "n=2", "--size", "m=3"
    )
    data = data_of((tmp_path / "m.html").read_text(encoding="utf-8"))
    assert {"kernels", "roofline", "values"} == data["absent"].keys()


def test_names_of_nodes_are_not_html(tmp_path: Path) -> None:
    write_model(tmp_path / "<b>.onnx", "</script><script>alert(1)</script>")
    explore(tmp_path / "<b>.onnx", tmp_path / "m.html")
    text = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "alert(1)" not in text
    assert "<title>&lt;b&gt;</title>" in text
