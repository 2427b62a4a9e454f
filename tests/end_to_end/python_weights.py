# SPDX-License-Identifier: Apache-2.0
"""The Python side of resume_test.cpp.

python_weights.py probe                    exits with 0 when PyTorch is installed
python_weights.py predict CHECKPOINT CSV   a module loads it and is right for 98 % of CSV
python_weights.py write KIND FILE          saves the state dict of a module or an nn.Sequential
python_weights.py compare FILE CHECKPOINT  the linear layers in both are the same
"""

import csv
import sys
from typing import Any, Callable


def make_module(sizes: list[int], torch: Any) -> Any:
    """What trainer's names stand for, as one would write it in Python."""
    from torch import nn

    class Mlp(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            pairs = list(zip(sizes, sizes[1:]))
            self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in pairs])
            self.norms = nn.ModuleList([nn.BatchNorm1d(b) for _, b in pairs[:-1]])

        def forward(self, x: Any) -> Any:
            for layer, norm in zip(self.layers, self.norms):
                x = torch.relu(norm(layer(x)))
            return self.layers[-1](x)

    return Mlp()


def make_sequential(sizes: list[int], torch: Any) -> Any:
    nn = torch.nn
    modules: list[Any] = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        modules += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU()]
    return nn.Sequential(*modules, nn.Linear(sizes[-2], sizes[-1]))


def predict(checkpoint_file: str, csv_file: str, torch: Any) -> None:
    checkpoint = torch.load(checkpoint_file)
    state = checkpoint["model"]
    weights = [t for name, t in state.items() if name.startswith("layers.") and t.dim() == 2]
    model = make_module([weights[0].shape[1]] + [w.shape[0] for w in weights], torch)
    model.load_state_dict(state)  # strict: no name may be missing or left over
    model.eval()

    schema = checkpoint["schema"]
    with open(csv_file, newline="") as file:
        rows = list(csv.DictReader(file))
    x = torch.tensor([[float(row[name]) for name in schema["feature_names"]] for row in rows])
    with torch.no_grad():
        predicted = model((x - schema["shift"]) * schema["scale"]).argmax(1)
    labels = [schema["labels"][i] for i in predicted]
    right = sum(label == row[schema["target_names"][0]] for label, row in zip(labels, rows))
    assert right >= 0.98 * len(rows), "%d of %d are right" % (right, len(rows))


def write(kind: str, file: str, torch: Any) -> None:
    make = make_module if kind == "module" else make_sequential
    torch.manual_seed(3)
    torch.save(make([10, 16, 8, 2], torch).state_dict(), file)


def compare(file: str, checkpoint_file: str, torch: Any) -> None:
    def linear(state: dict[str, Any]) -> list[Any]:
        return [t for name, t in state.items() if t.dim() == 2]

    ours = linear(torch.load(checkpoint_file)["model"])
    theirs = linear(torch.load(file))
    assert len(ours) == len(theirs) == 3
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs))


def main() -> None:
    import torch

    command, arguments = sys.argv[1], sys.argv[2:]
    if command != "probe":
        commands: dict[str, Callable[..., None]] = {
            "predict": predict,
            "write": write,
            "compare": compare,
        }
        commands[command](*arguments, torch)


if __name__ == "__main__":
    main()
