#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares TabM-mini, which trainer has, with full TabM and with members that see rows of their
own, all in PyTorch with the settings of `recipe: tabm`. docs/quality.md has the results.

TabM (arXiv:2410.24210): k members share the weights. In the mini variant they differ in the factors
of the inputs and in the output layers; in the full one each hidden layer also has factors of its
inputs (r), of its outputs (s) and a bias for each member. "own rows": each member goes through the
training rows in an order of its own.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
import torch
from compare_tables import tables
from learners import categorical_columns, validation_part
from public_tables import DATA, Split, export_tables, make_split
from quality_report import geometric_mean
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer
from torch import nn

MEMBERS, WIDTH, BINS, EMBEDDING = 16, 256, 48, 16
PATIENCE = 16
VARIANTS = {
    "mini": (False, True),
    "mini, own rows": (False, False),
    "full": (True, True),
    "full, own rows": (True, False),
}


def encode(split: Split) -> tuple[np.ndarray, np.ndarray, int]:
    """Numbers by the normal scores of their quantiles, then categories one-hot."""
    texts = categorical_columns(split)
    numbers = [name for name in split.train.columns if name not in [*texts, split.target]]
    quantiles = max(min(len(split.train) // 30, 1000), 10)
    encoder = make_column_transformer(
        (
            make_pipeline(
                SimpleImputer(strategy="median"),
                QuantileTransformer(n_quantiles=quantiles, output_distribution="normal"),
            ),
            numbers,
        ),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts),
    )
    return (
        encoder.fit_transform(split.train).astype(np.float32),
        encoder.transform(split.test).astype(np.float32),
        len(numbers),
    )


class PiecewiseLinear(nn.Module):
    """Version B of rtdl_num_embeddings: x w + b + the parts of the bins times V."""

    def __init__(self, numbers: torch.Tensor) -> None:
        super().__init__()
        edges = torch.quantile(numbers, torch.linspace(0, 1, BINS + 1), dim=0).T
        self.left = edges[:, :-1].contiguous()
        width = edges[:, 1:] - self.left
        self.inverse = torch.where(width > 0, 1 / width, torch.zeros(()))
        lowest = torch.zeros_like(width)
        highest = torch.ones_like(width)
        lowest[:, 0], highest[:, -1] = -math.inf, math.inf
        self.bounds = (lowest, highest)
        count = numbers.shape[1]
        bound = EMBEDDING**-0.5
        self.slope = nn.Parameter(torch.empty(count, EMBEDDING).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(count, EMBEDDING).uniform_(-bound, bound))
        self.values = nn.Parameter(torch.zeros(count, BINS, EMBEDDING))

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # [n, count] -> [n, count * EMBEDDING]
        parts = torch.maximum(
            torch.minimum((x.unsqueeze(-1) - self.left) * self.inverse, self.bounds[1]),
            self.bounds[0],
        )
        binned = torch.einsum("nft,fte->nfe", parts, self.values)
        return (binned + x.unsqueeze(-1) * self.slope + self.bias).flatten(1)


class TabM(nn.Module):
    """`[n, k, features]` -> `[n, k, outputs]`; of n rows that are the same for all, k = 1 too."""

    def __init__(
        self, rows: torch.Tensor, num_numbers: int, num_outputs: int, is_full: bool
    ) -> None:
        super().__init__()
        self.num_numbers = num_numbers
        self.embedding = PiecewiseLinear(rows[:, :num_numbers]) if num_numbers > 0 else None
        sizes = [EMBEDDING] * num_numbers + [1] * (rows.shape[1] - num_numbers)
        self.input_scale = nn.Parameter(
            torch.cat([torch.randn(MEMBERS, 1).expand(MEMBERS, size) for size in sizes], 1).clone()
        )
        self.layers = nn.ModuleList([nn.Linear(sum(sizes), WIDTH), nn.Linear(WIDTH, WIDTH)])
        self.is_full = is_full
        if is_full:
            self.r = nn.Parameter(torch.ones(MEMBERS, WIDTH))  # of the second layer
            self.s = nn.ParameterList([nn.Parameter(torch.ones(MEMBERS, WIDTH)) for _ in range(2)])
            self.biases = nn.ParameterList(
                [
                    nn.Parameter(layer.bias.detach().expand(MEMBERS, WIDTH).clone())
                    for layer in self.layers
                ]
            )
        bound = WIDTH**-0.5
        self.head = nn.Parameter(torch.empty(MEMBERS, WIDTH, num_outputs).uniform_(-bound, bound))
        self.head_bias = nn.Parameter(torch.empty(MEMBERS, num_outputs).uniform_(-bound, bound))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        x = rows.flatten(0, 1)
        if self.embedding is not None:
            x = torch.cat([self.embedding(x[:, : self.num_numbers]), x[:, self.num_numbers :]], 1)
        x = x.view(*rows.shape[:2], -1) * self.input_scale
        for i, layer in enumerate(self.layers):
            if self.is_full:
                x = (x if i == 0 else x * self.r) @ layer.weight.T * self.s[i] + self.biases[i]
            else:
                x = layer(x)
            x = nn.functional.dropout(torch.relu(x), 0.1, self.training)
        return torch.einsum("nkw,kwo->nko", x, self.head) + self.head_bias


def batch_size(num_rows: int) -> int:
    for rows, size in [(2800, 32), (4500, 64), (6400, 128), (32000, 256), (108000, 512)]:
        if num_rows <= rows:
            return size
    return 1024


def mean_loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The mean loss of rows and members; `targets` are `[n, k]`, of a regression floats."""
    if targets.is_floating_point():
        return nn.functional.mse_loss(outputs.squeeze(-1), targets)
    return nn.functional.cross_entropy(outputs.flatten(0, 1), targets.flatten())


def predict(model: TabM, features: torch.Tensor, is_regression: bool) -> torch.Tensor:
    """Mean numbers `[n]` or mean probabilities `[n, classes]` of the members."""
    model.eval()
    parts = []
    with torch.no_grad():
        for rows in features.split(2048):
            outputs = model(rows.unsqueeze(1))
            parts.append(
                outputs.squeeze(-1).mean(1) if is_regression else outputs.softmax(-1).mean(1)
            )
    return torch.cat(parts)


def orders(num_rows: int, are_shared: bool) -> torch.Tensor:
    """`[rows, k]` which rows each member sees, one after the other; k = 1 if they are the same."""
    return torch.stack([torch.randperm(num_rows) for _ in range(1 if are_shared else MEMBERS)], 1)


def train_epoch(
    model: TabM,
    optimizer: torch.optim.Optimizer,
    features: torch.Tensor,
    targets: torch.Tensor,
    are_shared: bool,
) -> None:
    model.train()
    for rows in orders(len(features), are_shared).split(batch_size(len(features))):
        loss = mean_loss(model(features[rows]), targets[rows].expand(-1, MEMBERS))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def fit(split: Split, is_full: bool, are_shared: bool) -> float:
    """The error on the test rows of the epoch that validates best."""
    torch.manual_seed(split.number)
    features, test, num_numbers = encode(split)
    targets = split.train[split.target].to_numpy()
    labels, mean, scale = np.empty(0), 0.0, 1.0
    if split.is_regression:
        mean, scale = targets.mean(), targets.std()
        targets = ((targets - mean) / scale).astype(np.float32)
    else:
        labels, targets = np.unique(targets.astype(str), return_inverse=True)
    parts = validation_part(split, features, targets)
    train, valid, train_targets, valid_targets = (torch.from_numpy(part) for part in parts)
    model = TabM(train, num_numbers, 1 if split.is_regression else len(labels), is_full)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.002, weight_decay=0.0003)
    best, waited, answer = math.inf, 0, np.empty(0)
    while waited <= PATIENCE:
        train_epoch(model, optimizer, train, train_targets, are_shared)
        said = predict(model, valid, split.is_regression)
        error = (
            float(((said - valid_targets) ** 2).mean())
            if split.is_regression
            else float((said.argmax(1) != valid_targets).float().mean())
        )
        waited += 1
        if error < best:
            best, waited = error, 0
            answer = predict(model, torch.from_numpy(test), split.is_regression).numpy()
    return split.error(answer * scale + mean if split.is_regression else labels[answer.argmax(1)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument(
        "--tables",
        type=tables,
        default="ames,churn,concrete,credit,salaries,vowel",
        help="tables, separated by commas (default: %(default)s)",
    )
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    export_tables(DATA)
    ratios: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    print(f"{'error':<14}" + "".join(f"{name:>18}" for name in VARIANTS))
    for table in arguments.tables:
        for number in range(1, arguments.splits + 1):
            split = make_split(DATA, table, number)
            errors = [fit(split, *variant) for variant in VARIANTS.values()]
            print(
                f"{table + ' ' + str(number):<14}" + "".join(f"{e:18.4f}" for e in errors),
                flush=True,
            )
            for name, error in zip(VARIANTS, errors):
                ratios[name].append(error / errors[0])
    print(f"{'by mini':<14}" + "".join(f"{geometric_mean(r):18.3f}" for r in ratios.values()))


if __name__ == "__main__":
    main()
