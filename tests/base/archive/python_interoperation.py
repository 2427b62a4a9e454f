# SPDX-License-Identifier: Apache-2.0
"""The Python side of archive_test.cpp.
Usage: python_interoperation.py probe|check|restricted|unzip|write FILE

probe: exits with 0 when PyTorch is installed.
check: FILE, written by the C++ test, holds what it should.
restricted: the reader of plain values and tensors alone opens FILE, which has no floats.
unzip: FILE is a zip file whose records have the right CRC-32.
write: writes FILE for the C++ test to read.
"""

import collections
import os
import sys
import zipfile
from typing import Any

DTYPES = "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()


def check_values(loaded: dict[str, Any], torch: Any) -> None:
    assert list(loaded) == ["none", "flags", "integers", "floats", "texts", "tensors", "nested"]
    assert loaded["none"] is None
    assert loaded["flags"] == [True, False] and loaded["flags"][0] is True
    limits = [0, 255, 256, -1, 65536, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63)]
    assert loaded["integers"] == limits, loaded["integers"]
    assert loaded["floats"][:3] == [0.1, -2.5, float("inf")]
    assert loaded["floats"][3] != loaded["floats"][3]
    assert loaded["texts"] == ["", "h\u00e9 \u20ac", "line\nend\0"]
    assert os.fsencode(loaded["nested"]["path"]) == b"caf\xe9", "bytes that are not UTF-8"
    assert loaded["nested"]["deep"] == {"a": [[], {}, [1, [2]]]}
    check_tensors(loaded["tensors"], torch)


def check_tensors(tensors: dict[str, Any], torch: Any) -> None:
    for name in DTYPES:
        expected = torch.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(torch, name))
        assert tensors[name].dtype == expected.dtype and torch.equal(tensors[name], expected), name
        assert tensors[name].is_contiguous() and not tensors[name].requires_grad
    assert tensors["scalar"].shape == () and tensors["scalar"].item() == 1.5
    assert tensors["empty"].shape == (0, 3)


def check(path: str) -> None:
    import torch

    check_values(torch.load(path), torch)
    # The restricted reader of PyTorch 1.13 knows no floats.
    if int(torch.__version__.split(".")[0]) >= 2:
        check_values(torch.load(path, weights_only=True), torch)


def write(path: str) -> None:
    import torch

    matrix = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(matrix)
        layer.bias.copy_(torch.tensor([6.0, 7.0]))
    shared = [1, 2]
    value = {
        "none": None,
        "flags": [True, False],
        "integers": [0, 255, 65535, 65536, -1, 2**31, 2**63 - 1, -(2**63)],
        "floats": [0.1, float("-inf")],
        "text": "h\u00e9 \u20ac",
        "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
        "ordered": collections.OrderedDict(b=1, a=2),
        "shared": [shared, shared],
        "model": layer.state_dict(),
        "parameter": layer.bias,
        "dtypes": {name: matrix.to(getattr(torch, name)) for name in DTYPES},
        "scalar": torch.tensor(1.5),
        "empty": torch.empty(0, 3),
        "transposed": matrix.t(),
        "slice": matrix[:, 1:],
        "row": matrix[1],
        "expanded": torch.tensor([[7.0]]).expand(2, 3),
    }
    torch.save(value, path)


def main() -> None:
    command = sys.argv[1]
    if command == "probe":
        import torch  # noqa: F401
    elif command == "check":
        check(sys.argv[2])
    elif command == "restricted":
        import torch

        check_tensors(torch.load(sys.argv[2], weights_only=True)["tensors"], torch)
    elif command == "unzip":
        with zipfile.ZipFile(sys.argv[2]) as archive:
            assert archive.testzip() is None
    else:
        write(sys.argv[2])


if __name__ == "__main__":
    main()
