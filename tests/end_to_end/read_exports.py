# SPDX-License-Identifier: Apache-2.0
"""The Python side of export_test.cpp.

read_exports.py probe                  exits with 0 when PyTorch is installed
read_exports.py torchscript JOBS.json  runs the models of the jobs
  JOBS.json: [{"model": FILE, "inputs": {"features": {"type", "dims", "data"}}}, ...]
  prints [{"names": [...], "labels": [...], "data": [...]}, ...]
read_exports.py safetensors FILE       reads the file
  prints {"metadata": {...}, "tensors": {NAME: {"shape", "data"}}}
"""

import json
import struct
import sys
from typing import Any


def run_torchscript(job: dict[str, Any]) -> dict[str, Any]:
    import torch

    files = {"trainer.json": ""}
    model = torch.jit.load(job["model"], _extra_files=files)
    assert not model.training and not model.train().eval().training
    features = job["inputs"]["features"]
    dtype = getattr(torch, features["type"])
    x = torch.tensor(features["data"], dtype=dtype).reshape(features["dims"])
    with torch.no_grad():
        y = model(x)
    return {
        "names": list(model.state_dict()),
        "labels": json.loads(files["trainer.json"]).get("labels", []),
        "data": y.flatten().tolist(),
    }


def read_safetensors(file: str) -> dict[str, Any]:
    """Written after the format's description, not after trainer's reader."""
    with open(file, "rb") as stream:
        content = stream.read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length].decode("utf-8"))
    data = content[8 + length :]
    assert (8 + length) % 8 == 0
    metadata = header.pop("__metadata__", {})
    assert all(isinstance(text, str) for text in metadata.values())
    tensors = {}
    covered = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32" and begin == covered
        covered = end
        values = struct.unpack("<%df" % ((end - begin) // 4), data[begin:end])
        tensors[name] = {"shape": entry["shape"], "data": values}
    assert covered == len(data)
    return {"metadata": metadata, "tensors": tensors}


def main() -> None:
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "probe":
        import torch  # noqa: F401
    elif command == "torchscript":
        with open(arguments[0], encoding="utf-8") as file:
            print(json.dumps([run_torchscript(job) for job in json.load(file)]))
    else:
        print(json.dumps(read_safetensors(arguments[0])))


if __name__ == "__main__":
    main()
