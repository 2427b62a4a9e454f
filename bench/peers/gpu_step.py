#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps on a GPU: this program and PyTorch in its forms, alternately.

    python3 bench/peers/gpu_step.py [--trainer build/release/bin/trainer] [--device cuda]

Epochs of 200 steps on data that is resident on the device: rows of a random order, forward pass,
cross entropy, backward pass, clipping, AdamW. PyTorch runs eagerly, compiled, as one CUDA graph,
and both, with the fused AdamW; the fastest one counts. Milliseconds a step, median over epochs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

import works
from pytorch_eager import make_model

STEPS = 200
FORMS = ["eager", "graph", "compile", "compile+graph"]


class Work(NamedTuple):
    layers: list[int]  # widths, from the features to the classes
    batch: int
    members: int = 1


WORKS = {name: Work(list(work.layers), work.batch_size) for name, work in works.WORKS.items()}
WORKS["tabm"] = Work([64, 256, 256, 10], 256, 16)


class Members(nn.Module):
    """TabM-mini (arXiv:2410.24210): an input scale and an output layer for each member."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        features, *hidden, classes = work.layers
        self.scale = nn.Parameter(torch.randn(work.members, features))
        modules: list[nn.Module] = []
        for width, next_width in zip([features, *hidden], hidden):
            modules += [nn.Linear(width, next_width), nn.ReLU(), nn.Dropout(0.1)]
        self.hidden = nn.Sequential(*modules)
        self.weight = nn.Parameter(
            torch.randn(work.members, hidden[-1], classes) / hidden[-1] ** 0.5
        )
        self.bias = nn.Parameter(torch.zeros(work.members, 1, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.hidden(x.unsqueeze(1) * self.scale)
        return torch.baddbmm(self.bias, hidden.transpose(0, 1), self.weight).flatten(0, 1)


class TorchSteps:
    """Epochs of one form."""

    def __init__(self, work: Work, form: str, precision: str, device: str) -> None:
        torch.manual_seed(0)
        rows = STEPS * work.batch
        self.work, self.device = work, device
        self.x = torch.randn(rows, work.layers[0], device=device)
        self.y = torch.randint(work.layers[-1], (rows,), device=device)
        self.rows = torch.arange(work.batch, device=device)
        self.total = torch.zeros((), device=device)
        model = Members(work) if work.members > 1 else make_model(work.layers)
        self.model = model.to(device)
        self.parameters = list(self.model.parameters())
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=1e-3, fused=True, capturable=device == "cuda"
        )

        def loss_of_rows() -> torch.Tensor:
            y = self.y.index_select(0, self.rows)
            if work.members > 1:
                y = y.repeat(work.members)
            with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
                return nn.functional.cross_entropy(self.model(self.x.index_select(0, self.rows)), y)

        self.loss: Callable[[], torch.Tensor] = loss_of_rows
        if form.startswith("compile"):
            self.loss = torch.compile(loss_of_rows)
        self.graph = self.capture() if form.endswith("graph") else None

    def step(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0, foreach=True)
        self.optimizer.step()
        self.total += loss.detach()

    def capture(self) -> Any:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self.step()
        return graph

    def epoch(self) -> float:
        """Milliseconds a step."""
        start = time.perf_counter()
        for rows in torch.randperm(len(self.x), device=self.device).split(self.work.batch):
            self.rows.copy_(rows)
            if self.graph is None:
                self.step()
            else:
                self.graph.replay()
        self.total.item()  # waits for the device
        return 1e3 * (time.perf_counter() - start) / STEPS


def time_trainer(
    trainer: Path, work: Work, precision: str, device: str, epochs: int
) -> list[float]:
    """Milliseconds a step, of each epoch but the first two."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                trainer,
                "-q",
                *("--device", device, "--precision", precision, "--epochs", str(epochs + 2)),
                *("--batch-size", str(work.batch), "--output-dir", folder),
                "device_fallback=false",
                "data.source=synthetic",
                f"data.synthetic.num_samples={STEPS * work.batch}",
                f"data.synthetic.num_features={work.layers[0]}",
                f"data.synthetic.num_classes={work.layers[-1]}",
                "data.synthetic.separation=0.05",
                "data.validation_fraction=0",
                "data.test_fraction=0",
                f"model.hidden_sizes={work.layers[1:-1]}",
                f"model.ensemble_size={work.members}",
                f"model.dropout={0.1 if work.members > 1 else 0}",
                "training.schedule.name=constant",
                "training.gradient_clip_norm=1",
                "training.best_metric=loss",
                "training.calibrate=false",
            ],
            check=True,
            timeout=120,
        )
        lines = (Path(folder) / "latest/metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    speeds = [r["samples_per_second"] for r in records if "time_seconds" in r][2:]
    return [1e3 * work.batch / speed for speed in speeds]


def measure(given: argparse.Namespace, name: str, precision: str) -> dict[str, Any]:
    work = WORKS[name]
    times: dict[str, list[float]] = {"trainer": []}
    failures: dict[str, str] = {}
    steps: dict[str, TorchSteps] = {}
    for form in FORMS:
        if given.device != "cuda" and form.endswith("graph"):
            continue
        if given.no_compile and form.startswith("compile"):
            continue
        try:
            steps[form] = TorchSteps(work, form, precision, given.device)
            steps[form].epoch()
            steps[form].epoch()
            times[form] = []
        except Exception as e:  # a form that fails here is left out and named
            failures[form] = str(e).splitlines()[0] if str(e) else repr(e)
            steps.pop(form, None)
    for _ in range(given.rounds):
        times["trainer"] += time_trainer(given.trainer, work, precision, given.device, given.epochs)
        for form, form_steps in steps.items():
            times[form] += [form_steps.epoch() for _ in range(given.epochs)]
    medians = {form: statistics.median(values) for form, values in times.items()}
    return {"work": name, "precision": precision, "ms": medians, "failures": failures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--trainer", type=Path, default=root / "build/release/bin/trainer")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--works", default="tiny,mid,large,tabm")
    parser.add_argument("--precisions", default="fp32,bf16")
    parser.add_argument("--epochs", type=int, default=5, help="of each form in a round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--json", type=Path, help="write the results here as they come")
    given = parser.parse_args()
    where = torch.cuda.get_device_name() if given.device == "cuda" else given.device
    print(f"Milliseconds a step, PyTorch {torch.__version__}, {where}; medians")
    print(
        f"{'work':6} {'':4} {'trainer':>8} " + " ".join(f"{form:>13}" for form in FORMS) + "  best"
    )
    results = []
    for name in given.works.split(","):
        for precision in given.precisions.split(","):
            result = measure(given, name, precision)
            results.append(result)
            ms = result["ms"]
            best = min(value for form, value in ms.items() if form != "trainer")
            cells = " ".join(f"{ms[f]:13.4f}" if f in ms else f"{'-':>13}" for f in FORMS)
            print(f"{name:6} {precision} {ms['trainer']:8.4f} {cells}  {best / ms['trainer']:.2f}x")
            for form, failure in result["failures"].items():
                print(f"  {form}: {failure}", file=sys.stderr)
            sys.stdout.flush()
            if given.json:
                given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
