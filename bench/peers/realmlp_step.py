#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training step of RealMLP (arXiv:2407.04491) in eager PyTorch and here, alternately.

    python3 bench/peers/realmlp_step.py [--bench build/release/bin/bench_step]

Batches of 256 rows of 64 numbers and 10 classes, three layers of 256: periodic embeddings, input
scale, NTK parametrization, parametric SELU, dropout, label smoothing, Adam with a learning rate and
a decay for each kind of tensor. PyTorch gets its best setting: of its loops over tensors (plain or
foreach) and its numbers of threads the fastest one counts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

ROWS, FEATURES, WIDTH, CLASSES, BATCH = 10_240, 64, 256, 10, 256
LEARNING_RATE, DECAY = 0.04, 0.02
WORKLOAD = "realmlp_64-256-256-256-10/batch_256"


class Periodic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.frequencies = nn.Parameter(0.1 * torch.randn(FEATURES, 1, 16))
        self.phases = nn.Parameter(math.pi * (2 * torch.rand(FEATURES, 1, 16) - 1))
        self.weight = nn.Parameter(torch.empty(FEATURES, 16, 3).uniform_(-0.25, 0.25))
        self.bias = nn.Parameter(torch.empty(FEATURES, 1, 3).uniform_(-0.25, 0.25))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        angles = 2 * math.pi * x.t().unsqueeze(2) * self.frequencies + self.phases
        embedded = torch.baddbmm(self.bias, angles.cos(), self.weight)
        return torch.cat([x, embedded.transpose(0, 1).flatten(1)], 1)


class NtkLinear(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs))
        self.bias = nn.Parameter(torch.randn(outputs))
        self.factor = 1 / math.sqrt(inputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.addmm(self.bias, x, self.weight, alpha=self.factor)


class ParametricSelu(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.lerp(x, nn.functional.selu(x), self.mix)


class Scale(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale


def make_model() -> nn.Module:
    width = 4 * FEATURES
    layers: list[nn.Module] = [Periodic(), Scale(width)]
    for _ in range(3):
        layers += [NtkLinear(width, WIDTH), ParametricSelu(), nn.Dropout(0.15)]
        width = WIDTH
    return nn.Sequential(*layers, NtkLinear(width, CLASSES))


def make_optimizer(model: nn.Module, foreach: bool) -> torch.optim.Optimizer:
    """Tensors with the same factors form a group."""
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        kind = name.split(".")[-1]
        embeds = name.startswith("0.")
        factor = 6 if kind == "scale" else 0.1 if embeds or kind in ("mix", "bias") else 1
        decay = 0.0 if kind in ("bias", "phases") else DECAY
        groups.setdefault((factor, decay), []).append(parameter)
    return torch.optim.AdamW(
        [
            {"params": parameters, "lr": LEARNING_RATE * factor, "weight_decay": decay}
            for (factor, decay), parameters in groups.items()
        ],
        lr=LEARNING_RATE,
        betas=(0.9, 0.95),
        foreach=foreach,
    )


def time_steps(threads: int, foreach: bool) -> float:
    """The median of the seconds of a step, of one epoch after another one."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    x, y = torch.randn(ROWS, FEATURES), torch.randint(CLASSES, (ROWS,))
    model = make_model()
    optimizer = make_optimizer(model, foreach)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)
    seconds = []
    for epoch in range(2):
        for rows in torch.randperm(ROWS).split(BATCH):
            start = time.perf_counter()
            optimizer.zero_grad(set_to_none=True)
            loss_of(model(x[rows]), y[rows]).backward()
            optimizer.step()
            if epoch > 0:
                seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def time_own_steps(bench: Path, threads: int) -> float:
    """Seconds of a fused step."""
    output = subprocess.run(
        [
            bench,
            f"--benchmark_filter=^fused/{WORKLOAD}/threads_{threads}/",
            "--benchmark_format=json",
            "--benchmark_min_time=0.3",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    result: dict[str, Any] = json.loads(output)["benchmarks"][0]
    return float(result["real_time"]) * 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--bench", type=Path, default=root / "build/release/bin/bench_step")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    threads = sorted({1, len(os.sched_getaffinity(0))})
    own: dict[int, list[float]] = {n: [] for n in threads}
    eager: dict[tuple[int, bool], list[float]] = {
        (n, foreach): [] for n in threads for foreach in (False, True)
    }
    for _ in range(given.rounds):
        for n in threads:
            own[n].append(time_own_steps(given.bench, n))
            for foreach in (False, True):
                eager[n, foreach].append(time_steps(n, foreach))
    print(f"RealMLP, batch {BATCH}, {FEATURES} inputs, 3 x {WIDTH}; medians of {given.rounds}")
    for n in threads:
        ours = statistics.median(own[n])
        best = min(statistics.median(eager[n, foreach]) for foreach in (False, True))
        print(
            f"{n} thread{'s' * (n > 1)}: trainer {1e3 * ours:.2f} ms, PyTorch "
            f"{torch.__version__} {1e3 * best:.2f} ms, ratio {best / ours:.2f}"
        )


if __name__ == "__main__":
    main()
