"""Writes networks with random weights as ONNX models, for `xrelay bench --against onnxruntime,openvino`.

    python benchmarks/write_networks.py FOLDER [NAME …]

Writes FOLDER/NAME.onnx for each name, by default for all; a model that exists is kept. The light models of the onnx
package have the convolutional networks of the same time; these are MobileNet v2 and transformers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final

import onnx
from networks.llama import four_bits, llama
from networks.mobile import mobilenet_v2
from networks.transformers import bert_base, gpt2_small, vit_b16

NETWORKS: Final[dict[str, Callable[[], onnx.ModelProto]]] = {
    "mobilenet_v2": mobilenet_v2,
    "mobilenet_v2_batch8": lambda: mobilenet_v2(8),
    "bert_base": bert_base,
    "bert_base_batch8": lambda: bert_base(batch=8),
    "bert_base_dynamic": lambda: bert_base("length", "batch"),
    "gpt2_small": gpt2_small,
    "vit_b16": vit_b16,
    "llama_prompt": lambda: llama(0, 128),
    "llama_step": lambda: llama(128, 1),
    "llama_step_4bit": lambda: llama(128, 1, four_bits),
}
"""The functions that make the models, by name."""


def main() -> None:
    """Writes the models that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write the models")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NETWORKS)}")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NETWORKS]
    if unknown:
        parser.error(f"unknown network {unknown[0]}; choose from {', '.join(NETWORKS)}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or NETWORKS:
        path = arguments.folder / f"{name}.onnx"
        if not path.exists():
            path.write_bytes(NETWORKS[name]().SerializeToString())
        print(f"{path}: {path.stat().st_size / 1e6:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
