#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a checkpoint of format version 4 into one as version 1, 2 or 3 had it: without the entries
and the configuration keys that came later (docs/file-formats.md#versions). Needs PyTorch.

make_old_models.py 1|2|3 CHECKPOINT KEYS OUTPUT    KEYS: file with the keys of that time, one a line
"""

import sys
from pathlib import Path

import torch

LATER = {
    4: ["plateau", "has_fallen_back", "temperature"],
    3: ["overflowed_steps", "out_of_memory", "rows_at_once", "scaler"],
    2: ["skipped_steps", "rollbacks"],
}


def older_config(text: str, keys: set[str]) -> str:
    """The lines of keys of that time, each below the names of its sections."""
    lines: list[str] = []
    section: list[str] = []
    for line in text.splitlines():
        name = line.strip().split(":")[0]
        section = section[: (len(line) - len(line.lstrip())) // 2] + [name]
        if ".".join(section) in keys or any(k.startswith(".".join(section) + ".") for k in keys):
            lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> None:
    version, source, keys, output = int(sys.argv[1]), *sys.argv[2:5]
    root = torch.load(source)
    assert root["format_version"] == 4
    root["format_version"] = version
    root["config"] = older_config(root["config"], set(Path(keys).read_text().split()))
    root.pop("metrics", None)
    for later in range(version + 1, 5):
        for name in LATER[later]:
            root["progress"].pop(name, None)
    schema = root["schema"]
    schema["target_name"] = schema["target_names"][0]
    for name in [name for name in schema if name.startswith("target_") and name != "target_name"]:
        del schema[name]
    del schema["missing"]
    for column in schema["columns"]:
        for name in ["embedding_size", "quantiles", "profile"]:
            column.pop(name, None)
    if version < 3:
        del schema["columns"], schema["unknown_category"]
    torch.save(root, output)


if __name__ == "__main__":
    main()
