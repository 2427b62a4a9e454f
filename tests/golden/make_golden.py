#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden values that the C++ tests compare with, computed by PyTorch itself.

    python3 tests/golden/make_golden.py

needs Python's torch (written with 1.13) and rewrites the JSON files beside this script:

    mlp.json         outputs, loss and gradients of a small MLP in every option
    optimizers.json  parameters after each of five updates of every optimizer
    training.json    losses, gradient norms and parameters of a short training
    autocast_bf16.json  outputs and gradients of the MLP under torch.autocast in bf16
    autocast_fp16.json  the same in fp16; with PyTorch 2 the script writes only this (2.6)
    schedules.json   learning rates of every schedule (float64)
    embeddings.json  outputs, loss and gradients of an MLP behind embeddings (nn.Embedding)
    realmlp.json     the same of a RealMLP, and its parameters after five steps (float64)
    tabm.json        the same of a TabM-mini, and what its members predict together (float64)
    contributions.json  integrated gradients by autograd, of MLPs and a TabM-mini (float64)

The other numbers are float32 with nine significant digits, which is exact. Tensors have the names
that include/trainer/model/mlp.h states. Another version of PyTorch or another CPU may change the
last bits, less than the tolerance of the tests.
"""

from __future__ import annotations

import fnmatch
import functools
import json
import math
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any, Callable

import torch
from torch import nn

FOLDER = pathlib.Path(__file__).resolve().parent
NORMS = {"none": None, "batch": nn.BatchNorm1d, "layer": nn.LayerNorm}
BATCH, FEATURES, HIDDEN, OUTPUTS = 6, 5, [4, 4], 3
TABLES = [(4, 3), (7, 2)]  # of the last two features


class Mish(nn.Module):
    """As nn.Mish, in float32: PyTorch 1.13 has none in bfloat16 on the CPU."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return nn.functional.mish(values.float()).to(values.dtype)


ACTIVATIONS = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "tanh": nn.Tanh,
    "selu": nn.SELU,
    "mish": Mish,
}

Tensors = dict[str, torch.Tensor]  # by name
Case = dict[str, Any]  # options, and what PyTorch computes with them
Data = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # features, classes, values


class Mlp(nn.Module):
    """Linear, norm, activation; with residuals all hidden layers but the first add their input."""

    def __init__(
        self,
        activation: str = "relu",
        norm: str = "none",
        residual: bool = False,
        inputs: int = FEATURES,
    ) -> None:
        super().__init__()
        widths = [inputs, *HIDDEN, OUTPUTS]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        make_norm = NORMS[norm]
        self.norms = nn.ModuleList(make_norm(width) for width in HIDDEN) if make_norm else None
        self.activation = ACTIVATIONS[activation]()
        self.residual = residual

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        for i, layer in enumerate(self.layers[:-1]):
            following = layer(hidden)
            if self.norms:
                following = self.norms[i](following)
            following = self.activation(following)
            hidden = hidden + following if self.residual and i > 0 else following
        return self.layers[-1](hidden)


class EmbeddingMlp(nn.Module):
    """The last features are rows of tables, which take their place."""

    def __init__(self, activation: str, norm: str, residual: bool = False) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(rows, size) for rows, size in TABLES)
        inputs = FEATURES - len(TABLES) + sum(size for _, size in TABLES)
        self.mlp = Mlp(activation, norm, residual, inputs)

    def inputs(self, features: torch.Tensor) -> torch.Tensor:
        first = features.shape[1] - len(TABLES)
        looked_up = [
            table(features[:, first + i].long()) for i, table in enumerate(self.embeddings)
        ]
        return torch.cat([features[:, :first], *looked_up], 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.mlp(self.inputs(features))

    def named_parameters(self, *options: Any) -> Iterator[tuple[str, nn.Parameter]]:
        for name, parameter in super().named_parameters(*options):
            yield name.removeprefix("mlp."), parameter


def initial_parameters(model: nn.Module | None = None) -> Tensors:
    """Values for every parameter that some option has; norms away from 1 and 0."""
    model = model or Mlp(norm="layer")
    values = {}
    for name, parameter in model.named_parameters():
        around = 1.0 if name.startswith("norms.") and name.endswith("weight") else 0.0
        values[name] = around + 0.5 * torch.randn(parameter.shape)
    return values


def set_parameters(model: nn.Module, values: Tensors) -> None:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(values[name])


def plain(tensor: torch.Tensor) -> Any:
    """Nested lists of numbers with the nine digits that name a float32 exactly."""
    if tensor.dim() > 0:
        return [plain(part) for part in tensor]
    return tensor.item() if tensor.dtype == torch.int64 else float(f"{tensor.item():.9g}")


def named(tensors: Iterable[tuple[str, torch.Tensor]]) -> dict[str, Any]:
    return {name: plain(tensor.detach()) for name, tensor in tensors}


def write(name: str, content: dict[str, Any]) -> None:
    """One line a tensor: short files whose differences can be read."""

    def text(value: Any, indent: int) -> str:
        if isinstance(value, dict):
            inner = ",\n".join(
                f'{" " * (indent + 1)}"{key}": {text(item, indent + 1)}'
                for key, item in value.items()
            )
            return "{\n" + inner + "\n" + " " * indent + "}"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            inner = ",\n".join(" " * (indent + 1) + text(item, indent + 1) for item in value)
            return "[\n" + inner + "\n" + " " * indent + "]"
        return json.dumps(value)

    (FOLDER / name).write_text(text(content, 0) + "\n")


def loss_of(
    case: Case, outputs: torch.Tensor, classes: torch.Tensor, values: torch.Tensor
) -> torch.Tensor:
    if case["loss"] == "mse":
        return nn.functional.mse_loss(outputs, values)
    smoothing = case["label_smoothing"]
    return nn.functional.cross_entropy(outputs, classes, label_smoothing=smoothing)


def mlp_cases() -> list[Case]:
    cases: list[Case] = []
    for activation in ACTIVATIONS:
        for norm in NORMS:
            for residual in (False, True):
                # The loss does not meet the hidden layers: it need not be crossed with them.
                kind = ("cross_entropy", "mse")[len(cases) % 2]
                smoothing = 0.1 if len(cases) % 4 == 0 else 0.0
                cases.append(
                    {
                        "activation": activation,
                        "norm": norm,
                        "residual": residual,
                        "loss": kind,
                        "label_smoothing": smoothing,
                    }
                )
    # Residual networks would otherwise see the mean squared error only.
    for smoothing in (0.0, 0.1):
        cases.append(
            {
                "activation": "gelu",
                "norm": "layer",
                "residual": True,
                "loss": "cross_entropy",
                "label_smoothing": smoothing,
            }
        )
    return cases


def make_mlp(data: Data, parameters: Tensors) -> None:
    features, classes, values = data
    cases = mlp_cases()
    for case in cases:
        model = Mlp(case["activation"], case["norm"], case["residual"])
        set_parameters(model, parameters)
        outputs = model(features)
        loss = loss_of(case, outputs, classes, values)
        loss.backward()
        case["outputs"] = plain(outputs.detach())
        case["mean_loss"] = plain(loss.detach())
        case["gradients"] = named((n, p.grad) for n, p in model.named_parameters())
        if case["norm"] == "batch":
            case["buffers"] = named((n, b) for n, b in model.named_buffers() if "running" in n)
            case["inference_outputs"] = plain(model.eval()(features).detach())
    write(
        "mlp.json",
        {
            "features": plain(features),
            "classes": plain(classes),
            "values": plain(values),
            "parameters": named(parameters.items()),
            "cases": cases,
        },
    )


def make_autocast(data: Data, parameters: Tensors, dtype: torch.dtype, file: str) -> None:
    features, classes, _ = data
    cases = []
    for activation in ACTIVATIONS:
        for residual in (False, True):
            case: Case = {"activation": activation, "residual": residual}
            model = Mlp(activation, "none", residual)
            set_parameters(model, parameters)
            with torch.autocast("cpu", dtype=dtype):
                outputs = model(features)
            assert outputs.dtype == dtype
            nn.functional.cross_entropy(outputs.float(), classes).backward()
            case["outputs"] = plain(outputs.detach().float())
            case["gradients"] = named((n, p.grad) for n, p in model.named_parameters())
            cases.append(case)
    write(
        file,
        {
            "features": plain(features),
            "classes": plain(classes),
            "parameters": named(parameters.items()),
            "cases": cases,
        },
    )


def make_embeddings(data: Data) -> None:
    features, classes, _ = data
    # Some rows of the tables are named several times, some never.
    features = features.clone()
    features[:, -2] = torch.tensor([0, 3, 1, 3, 3, 0])
    features[:, -1] = torch.tensor([6, 5, 2, 0, 2, 2])
    parameters = initial_parameters(EmbeddingMlp("relu", "layer"))
    cases = []
    for options in (
        ("relu", "none", False),
        ("tanh", "none", True),
        ("gelu", "layer", True),
        ("silu", "layer", False),
    ):
        model = EmbeddingMlp(*options)
        set_parameters(model, parameters)
        outputs = model(features)
        loss = nn.functional.cross_entropy(outputs, classes)
        loss.backward()
        cases.append(
            {
                **dict(zip(("activation", "norm", "residual"), options)),
                "outputs": plain(outputs.detach()),
                "mean_loss": plain(loss.detach()),
                "gradients": named((n, p.grad) for n, p in model.named_parameters()),
            }
        )
    write(
        "embeddings.json",
        {
            "features": plain(features),
            "classes": plain(classes),
            "tables": TABLES,
            "parameters": named(parameters.items()),
            "cases": cases,
        },
    )


class RealMlp(nn.Module):
    """Section 3 of arXiv:2407.04491, from its formulas: periodic embeddings (PBLD) of the first
    features, an input scale, linear layers in the NTK parametrization, parametric activations.
    Weights of linear layers are sqrt(inputs) times those of the golden file."""

    def __init__(self, activation: str, parameters: Tensors) -> None:
        super().__init__()
        self.function = ACTIVATIONS[activation]()
        self.raw = nn.ParameterDict(
            {
                name.replace(".", "_"): nn.Parameter(value.double() * self.root(name, value))
                for name, value in parameters.items()
            }
        )

    @staticmethod
    def root(name: str, value: torch.Tensor) -> float:
        is_ntk = name.startswith("layers.") and name.endswith("weight")
        return math.sqrt(value.shape[1]) if is_ntk else 1.0

    def parameter(self, name: str) -> nn.Parameter:
        return self.raw[name.replace(".", "_")]

    def plain_parameters(self, names: Iterable[str]) -> Iterator[tuple[str, torch.Tensor]]:
        for name in names:
            value = self.parameter(name)
            yield name, value / self.root(name, value)

    def plain_gradients(self, names: Iterable[str]) -> Iterator[tuple[str, torch.Tensor]]:
        for name in names:
            value = self.parameter(name)
            yield name, value.grad * self.root(name, value)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        x = features.double()
        embedded = []
        for i in range(x.shape[1]):
            frequencies = self.parameter("numeric_embeddings.frequencies")[i]
            angles = 2 * math.pi * x[:, i : i + 1] * frequencies
            waves = torch.cos(angles + self.parameter("numeric_embeddings.phases")[i])
            embedded.append(
                waves @ self.parameter("numeric_embeddings.weight")[i]
                + self.parameter("numeric_embeddings.bias")[i]
            )
        hidden = torch.cat([x, *embedded], 1) * self.parameter("input_scale.weight")
        for i in range(len(HIDDEN) + 1):
            weight = self.parameter(f"layers.{i}.weight")
            hidden = hidden @ weight.t() / math.sqrt(weight.shape[1]) + self.parameter(
                f"layers.{i}.bias"
            )
            if i < len(HIDDEN):
                mix = self.parameter(f"activations.{i}.weight")
                hidden = hidden + (self.activate(hidden) - hidden) * mix
        return hidden

    def activate(self, values: torch.Tensor) -> torch.Tensor:
        return (
            values * torch.tanh(nn.functional.softplus(values))
            if isinstance(self.function, Mish)
            else self.function(values)
        )


def realmlp_shapes(frequencies: int, size: int) -> dict[str, list[int]]:
    shapes = {
        "numeric_embeddings.frequencies": [FEATURES, frequencies],
        "numeric_embeddings.phases": [FEATURES, frequencies],
        "numeric_embeddings.weight": [FEATURES, frequencies, size],
        "numeric_embeddings.bias": [FEATURES, size],
        "input_scale.weight": [FEATURES * (1 + size)],
    }
    widths = [FEATURES * (1 + size), *HIDDEN, OUTPUTS]
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        shapes[f"layers.{i}.weight"] = [outputs, inputs]
        shapes[f"layers.{i}.bias"] = [outputs]
        if i < len(HIDDEN):
            shapes[f"activations.{i}.weight"] = [outputs]
    return shapes


def make_realmlp(data: Data, steps: int = 5) -> None:
    features, classes, values = data
    shapes = realmlp_shapes(frequencies=6, size=3)
    parameters = {
        name: 0.5 * torch.randn(shape) + (1.0 if len(shape) == 1 else 0.0)
        for name, shape in shapes.items()
    }
    training: Case = {
        "learning_rate": 0.04,
        "weight_decay": 0.02,
        "beta1": 0.9,
        "beta2": 0.95,
        "epsilon": 1e-3,
        "label_smoothing": 0.1,
        "lr_factors": [
            "input_scale.weight=6",
            "*.bias=0.1",
            "numeric_embeddings.*=0.1",
            "activations.*=0.1",
        ],
    }
    cases: list[Case] = []
    for activation, kind in (("selu", "cross_entropy"), ("mish", "mse")):
        model = RealMlp(activation, parameters)
        optimizer = torch.optim.AdamW(
            [
                {
                    "params": [model.parameter(name)],
                    "lr": training["learning_rate"] * lr_factor(training, name),
                    "weight_decay": training["weight_decay"]
                    * (not name.endswith(("bias", "phases"))),
                }
                for name in shapes
            ],
            lr=training["learning_rate"],
            betas=(training["beta1"], training["beta2"]),
            eps=training["epsilon"],
        )
        case: Case = {
            "activation": activation,
            "loss": kind,
            "parameters": named(parameters.items()),
            "mean_losses": [],
        }
        for step in range(steps):
            optimizer.zero_grad()
            outputs = model(features)
            loss = loss_of({**training, **case}, outputs, classes, values.double())
            loss.backward()
            if step == 0:
                case["outputs"] = plain(outputs.detach())
                case["gradients"] = named(model.plain_gradients(shapes))
            case["mean_losses"].append(plain(loss.detach()))
            optimizer.step()
        case["after"] = named(model.plain_parameters(shapes))
        cases.append(case)
    write(
        "realmlp.json",
        {
            "features": plain(features),
            "classes": plain(classes),
            "values": plain(values),
            "frequencies": 6,
            "size": 3,
            **training,
            "cases": cases,
        },
    )


class TabMini(nn.Module):
    """TabM-mini of arXiv:2410.24210, section 3, member by member: each multiplies the features by
    numbers of its own, goes through the hidden layers of all and has an output layer of its own."""

    def __init__(
        self, activation: str, parameters: Tensors, edges: list[list[float]] | None = None
    ) -> None:
        super().__init__()
        self.function = ACTIVATIONS[activation]()
        self.edges = edges
        self.raw = nn.ParameterDict(
            {
                name.replace(".", "_"): nn.Parameter(value.double())
                for name, value in parameters.items()
            }
        )

    def parameter(self, name: str) -> nn.Parameter:
        return self.raw[name.replace(".", "_")]

    def embedded(self, features: torch.Tensor) -> torch.Tensor:
        """With piecewise-linear embeddings (arXiv:2203.05556) of the features behind them."""
        columns = [features]
        for feature, edges in enumerate(self.edges or []):
            x = features[:, feature]
            embedding = (
                x[:, None] * self.parameter("numeric_embeddings.slope")[feature]
                + self.parameter("numeric_embeddings.bias")[feature]
            )
            bins = [(low, high) for low, high in zip(edges, edges[1:]) if high > low]
            for i, (low, high) in enumerate(bins):
                part = (x - low) / (high - low)
                if i > 0:
                    part = part.clamp(min=0)
                if i + 1 < len(bins):
                    part = part.clamp(max=1)
                weight = self.parameter("numeric_embeddings.weight")[feature, i]
                embedding = embedding + part[:, None] * weight
            columns.append(embedding)
        return torch.cat(columns, 1)

    def member(self, index: int, inputs: torch.Tensor) -> torch.Tensor:
        hidden = inputs * self.parameter("input_scale.weight")[index]
        for i in range(len(HIDDEN)):
            hidden = self.function(
                nn.functional.linear(
                    hidden, self.parameter(f"layers.{i}.weight"), self.parameter(f"layers.{i}.bias")
                )
            )
        weight = self.parameter(f"layers.{len(HIDDEN)}.weight")[index]
        return nn.functional.linear(
            hidden, weight, self.parameter(f"layers.{len(HIDDEN)}.bias")[index]
        )

    def members(self, inputs: torch.Tensor) -> list[torch.Tensor]:
        members = self.parameter("input_scale.weight").shape[0]
        return [self.member(i, inputs) for i in range(members)]

    def forward(self, features: torch.Tensor) -> list[torch.Tensor]:
        return self.members(self.embedded(features.double()))


def tabm_shapes(members: int, bins: int, size: int) -> dict[str, list[int]]:
    """With embeddings of this size, if it is not 0."""
    shapes = {}
    if size > 0:
        shapes = {
            "numeric_embeddings.slope": [FEATURES, size],
            "numeric_embeddings.weight": [FEATURES, bins, size],
            "numeric_embeddings.bias": [FEATURES, size],
        }
    widths = [FEATURES * (1 + size), *HIDDEN, OUTPUTS]
    shapes["input_scale.weight"] = [members, widths[0]]
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        own = [members] if i == len(HIDDEN) else []
        shapes[f"layers.{i}.weight"] = [*own, outputs, inputs]
        shapes[f"layers.{i}.bias"] = [*own, outputs]
    return shapes


def make_tabm(data: Data, members: int = 3, steps: int = 5) -> None:
    features, classes, values = data
    # The last feature has three bins only, the one before it none.
    edges = [[-1.5, -0.7, -0.1, 0.6, 1.2]] * (FEATURES - 2) + [
        [0.5] * 5,
        [-0.5, 0.25, 0.75, 1.0, 1.0],
    ]
    training: Case = {
        "learning_rate": 0.02,
        "weight_decay": 0.03,
        "beta1": 0.9,
        "beta2": 0.999,
        "epsilon": 1e-3,
        "label_smoothing": 0.0,
        "lr_factors": [],
    }
    cases: list[Case] = []
    for activation, kind, size in (
        ("relu", "cross_entropy", 0),
        ("silu", "mse", 0),
        ("relu", "cross_entropy", 3),
        ("silu", "mse", 3),
    ):
        shapes = tabm_shapes(members, len(edges[0]) - 1, size)
        parameters = {name: 0.7 * torch.randn(shape) for name, shape in shapes.items()}
        model = TabMini(activation, parameters, edges if size > 0 else None)
        optimizer = torch.optim.AdamW(
            [
                {
                    "params": [model.parameter(name)],
                    "weight_decay": training["weight_decay"]
                    * (not name.endswith(("bias", "slope"))),
                }
                for name in shapes
            ],
            lr=training["learning_rate"],
            betas=(training["beta1"], training["beta2"]),
            eps=training["epsilon"],
        )
        case: Case = {
            "activation": activation,
            "loss": kind,
            "embedding_size": size,
            "parameters": named(parameters.items()),
            "mean_losses": [],
        }
        for step in range(steps):
            optimizer.zero_grad()
            outputs = model(features)
            loss = torch.stack(
                [
                    loss_of({**training, **case}, member, classes, values.double())
                    for member in outputs
                ]
            ).mean()
            loss.backward()
            if step == 0:
                case["outputs"] = plain(torch.stack(outputs, 1).flatten(0, 1).detach())
                case["gradients"] = named((name, model.parameter(name).grad) for name in shapes)
            case["mean_losses"].append(plain(loss.detach()))
            optimizer.step()
        case["after"] = named((name, model.parameter(name).detach()) for name in shapes)
        mean = (
            torch.stack(model(features)).mean(0)
            if kind == "mse"
            else torch.stack([torch.softmax(member, 1) for member in model(features)]).mean(0).log()
        )
        case["mean_outputs"] = plain(mean.detach())
        cases.append(case)
    write(
        "tabm.json",
        {
            "features": plain(features),
            "classes": plain(classes),
            "values": plain(values),
            "members": members,
            "edges": edges,
            **training,
            "cases": cases,
        },
    )


def integrated_gradients(
    value: Callable[[torch.Tensor], torch.Tensor],
    start: torch.Tensor,
    end: torch.Tensor,
    steps: int = 20_000,
) -> torch.Tensor:
    """Of `value` `[rows] -> [rows]` along the straight way, by the midpoint rule (float64)."""
    places = ((torch.arange(steps, dtype=torch.float64) + 0.5) / steps)[:, None]
    inputs = (start + places * (end - start)).requires_grad_()
    value(inputs).sum().backward()
    return (end - start) * inputs.grad.mean(0)


def log_odds(logits: torch.Tensor, label: int) -> torch.Tensor:
    others = [i for i in range(logits.shape[1]) if i != label]
    return logits[:, label] - torch.logsumexp(logits[:, others], 1)


def log_odds_of(model: nn.Module, label: int, inputs: torch.Tensor) -> torch.Tensor:
    return log_odds(model(inputs), label)


def make_contributions(data: Data) -> None:
    """The way is straight in the inputs of the first layer; contributions are those of features."""
    row = data[0][:1].double()
    baseline = torch.tensor([[0.1, -0.2, 0.3, 0.4, -0.5]], dtype=torch.float64)
    cases: list[Case] = []

    def add(
        case: Case,
        value: Callable[[torch.Tensor], torch.Tensor],
        start: torch.Tensor,
        end: torch.Tensor,
        features: list[int],
    ) -> None:
        parts = integrated_gradients(value, start, end)
        case["contributions"] = plain(
            torch.zeros(FEATURES, dtype=torch.float64).index_add_(
                0, torch.tensor(features), parts[0].detach()
            )
        )
        case["at_row"], case["at_baseline"] = (
            float(value(inputs).detach()) for inputs in (end, start)
        )
        cases.append(case)

    indexed = row.clone()
    indexed[0, -2:] = torch.tensor([1.0, 4.0])
    unknown = baseline.clone()  # the last rows of the tables
    unknown[0, -2:] = torch.tensor([rows - 1.0 for rows, _ in TABLES])
    in_tables = [
        FEATURES - len(TABLES) + i for i, (_, size) in enumerate(TABLES) for _ in range(size)
    ]
    for activation, norm, residual in (("gelu", "layer", True), ("silu", "batch", False)):
        model = EmbeddingMlp(activation, norm, residual)
        set_parameters(model, initial_parameters(EmbeddingMlp(activation, norm, residual)))
        buffers = {
            name: torch.rand(tensor.shape) + 0.5
            for name, tensor in model.named_buffers()
            if tensor.dim() > 0
        }
        model.load_state_dict(buffers, strict=False)
        model.double().eval()
        label = int(model(indexed).argmax())
        add(
            {
                "activation": activation,
                "norm": norm,
                "residual": residual,
                "label": label,
                "row": plain(indexed[0]),
                "baseline": plain(unknown[0]),
                "parameters": named(
                    [
                        *model.named_parameters(),
                        *((n.removeprefix("mlp."), b) for n, b in buffers.items()),
                    ]
                ),
            },
            functools.partial(log_odds_of, model.mlp, label),
            model.inputs(unknown).detach(),
            model.inputs(indexed).detach(),
            [*range(FEATURES - len(TABLES)), *in_tables],
        )
    members, size = 3, 3
    edges = [[-1.5, -0.7, -0.1, 0.6, 1.2]] * FEATURES
    for kind in ("cross_entropy", "mse"):
        parameters = {
            name: 0.7 * torch.randn(shape)
            for name, shape in tabm_shapes(members, len(edges[0]) - 1, size).items()
        }
        tabm = TabMini("silu", parameters, edges)
        label = int(torch.softmax(torch.stack(tabm(row)), 2).mean(0).argmax())

        def value(
            inputs: torch.Tensor, model: TabMini = tabm, kind: str = kind, at: int = label
        ) -> torch.Tensor:
            outputs = torch.stack(model.members(inputs))
            if kind == "mse":
                return outputs.mean(0)[:, 0]
            return log_odds(torch.softmax(outputs, 2).mean(0).log(), at)

        add(
            {
                "activation": "silu",
                "members": members,
                "size": size,
                "edges": edges,
                "loss": kind,
                "label": label,
                "row": plain(row[0]),
                "baseline": plain(baseline[0]),
                "parameters": named(parameters.items()),
            },
            value,
            tabm.embedded(baseline).detach(),
            tabm.embedded(row).detach(),
            [*range(FEATURES), *(i for i in range(FEATURES) for _ in range(size))],
        )
    write("contributions.json", {"cases": cases})


def optimizer_cases() -> list[Case]:
    sgd = {
        "optimizer": "sgd",
        "learning_rate": 0.1,
        "weight_decay": 0.0,
        "momentum": 0.0,
        "nesterov": False,
        "decay_bias_and_norm": False,
    }
    adam = {
        "optimizer": "adam",
        "learning_rate": 0.01,
        "weight_decay": 0.1,
        "beta1": 0.9,
        "beta2": 0.99,
        "epsilon": 1e-8,
        "decay_bias_and_norm": False,
    }
    rmsprop = {
        "optimizer": "rmsprop",
        "learning_rate": 0.01,
        "weight_decay": 0.1,
        "momentum": 0.0,
        "beta2": 0.98,
        "epsilon": 1e-6,
        "decay_bias_and_norm": False,
    }
    return [
        {"name": "sgd", **sgd},
        {"name": "sgd_momentum", **sgd, "momentum": 0.9},
        {"name": "sgd_nesterov", **sgd, "momentum": 0.9, "nesterov": True},
        {"name": "sgd_momentum_decay", **sgd, "momentum": 0.9, "weight_decay": 0.1},
        {
            "name": "sgd_nesterov_decay_all",
            **sgd,
            "momentum": 0.9,
            "nesterov": True,
            "weight_decay": 0.1,
            "decay_bias_and_norm": True,
        },
        {"name": "adam", **adam, "weight_decay": 0.0},
        {"name": "adam_decay", **adam},
        {"name": "adamw_decay", **adam, "optimizer": "adamw"},
        {"name": "adamw_decay_all", **adam, "optimizer": "adamw", "decay_bias_and_norm": True},
        {
            "name": "adamw_factors",
            **adam,
            "optimizer": "adamw",
            "lr_factors": ["norms.*=6", "*.bias=0.1", "layers.1.weight=0.5"],
        },
        {
            "name": "sgd_factors",
            **sgd,
            "momentum": 0.9,
            "weight_decay": 0.1,
            "lr_factors": ["*.bias=0.1"],
        },
        {"name": "rmsprop", **rmsprop},
        {"name": "rmsprop_momentum", **rmsprop, "momentum": 0.9},
        {"name": "rmsprop_factors", **rmsprop, "momentum": 0.9, "lr_factors": ["layers.*=0.5"]},
    ]


def lr_factor(case: Case, name: str) -> float:
    """That of the first pattern that matches."""
    for text in case.get("lr_factors", []):
        pattern, factor = text.split("=")
        if fnmatch.fnmatchcase(name, pattern):
            return float(factor)
    return 1.0


def make_optimizer(case: Case, model: nn.Module) -> torch.optim.Optimizer:
    groups = []
    for name, parameter in model.named_parameters():
        is_weight = name.startswith("layers.") and name.endswith("weight")
        is_decayed = is_weight or case["decay_bias_and_norm"]
        groups.append(
            {
                "params": [parameter],
                "weight_decay": case["weight_decay"] if is_decayed else 0.0,
                "lr": case["learning_rate"] * lr_factor(case, name),
            }
        )
    if case["optimizer"] == "sgd":
        return torch.optim.SGD(
            groups, lr=case["learning_rate"], momentum=case["momentum"], nesterov=case["nesterov"]
        )
    if case["optimizer"] == "rmsprop":
        return torch.optim.RMSprop(
            groups,
            lr=case["learning_rate"],
            alpha=case["beta2"],
            eps=case["epsilon"],
            momentum=case["momentum"],
        )
    make = torch.optim.Adam if case["optimizer"] == "adam" else torch.optim.AdamW
    return make(
        groups, lr=case["learning_rate"], betas=(case["beta1"], case["beta2"]), eps=case["epsilon"]
    )


def make_optimizers(parameters: Tensors, clip_norm: float = 1.0) -> None:
    gradients = [
        {name: scale * torch.randn(value.shape) for name, value in parameters.items()}
        for scale in (0.05, 1.0, 0.08, 0.5, 0.02)
    ]
    cases = optimizer_cases()
    for case in cases:
        model = Mlp(norm="layer")
        set_parameters(model, parameters)
        optimizer = make_optimizer(case, model)
        norms, after = [], []
        for gradient in gradients:
            for name, parameter in model.named_parameters():
                parameter.grad = gradient[name].clone()
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), clip_norm))
            optimizer.step()
            after.append(named(model.named_parameters()))
        assert min(norms) < clip_norm < max(norms), "clipping has to be active on some steps only"
        case["after_step_1"], case["after_step_5"] = after[0], after[4]
    write(
        "optimizers.json",
        {
            "parameters": named(parameters.items()),
            "clip_norm": clip_norm,
            "gradients": [named(gradient.items()) for gradient in gradients],
            "grad_norms": [plain(norm) for norm in norms],
            "cases": cases,
        },
    )


def make_training(data: Data, parameters: Tensors, steps: int = 5, clip_norm: float = 0.5) -> None:
    features, classes, _ = data
    case = {
        "optimizer": "adamw",
        "learning_rate": 0.02,
        "weight_decay": 0.1,
        "beta1": 0.9,
        "beta2": 0.99,
        "epsilon": 1e-8,
        "decay_bias_and_norm": False,
    }
    # Not batch norm: biases before it have the gradient 0, and Adam makes steps of its rounding.
    model = Mlp("gelu", "layer", residual=True)
    set_parameters(model, parameters)
    optimizer = make_optimizer(case, model)
    losses, norms = [], []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features), classes, label_smoothing=0.1)
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), clip_norm))
        optimizer.step()
        losses.append(loss.detach())
    write(
        "training.json",
        {
            "features": plain(features),
            "classes": plain(classes),
            "parameters": named(parameters.items()),
            **case,
            "clip_norm": clip_norm,
            "label_smoothing": 0.1,
            "mean_losses": [plain(loss) for loss in losses],
            "grad_norms": [plain(norm) for norm in norms],
            "after": named(model.named_parameters()),
        },
    )


def no_optimizer(learning_rate: float) -> torch.optim.Optimizer:
    return torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=learning_rate)


def make_scheduler(case: Case, optimizer: torch.optim.Optimizer) -> Any:
    """The schedule as PyTorch composes it: the warm-up, then the schedule from its start."""
    peak, warmup, total = case["peak"], case["warmup_steps"], case["total_steps"]
    final = case.get("final_factor", 0.0)
    schedulers = torch.optim.lr_scheduler
    if case["name"] == "one_cycle":
        initial = case["initial_factor"]
        return schedulers.OneCycleLR(
            optimizer,
            peak,
            total,
            pct_start=case["rise_fraction"],
            div_factor=1 / initial,
            final_div_factor=initial / final,
        )
    makers: dict[str, Callable[[], Any]] = {
        "constant": lambda: schedulers.ConstantLR(optimizer, factor=1.0),
        "linear": lambda: schedulers.LinearLR(optimizer, 1.0, final, total - warmup),
        "cosine": lambda: schedulers.CosineAnnealingLR(optimizer, total - warmup, final * peak),
        "step": lambda: schedulers.StepLR(optimizer, case["drop_steps"], case["gamma"]),
    }
    make = makers[case["name"]]
    if warmup == 0:
        return make()
    rise = schedulers.LinearLR(optimizer, 1 / warmup, 1.0, warmup - 1)
    return schedulers.SequentialLR(optimizer, [rise, make()], [warmup])


def coslog_rates(case: Case) -> list[float]:
    """Not of PyTorch: the formula of arXiv:2407.04491."""
    total, cycles = case["total_steps"], case["cycles"]
    phases = [math.log2(1 + (2**cycles - 1) * step / total) for step in range(total)]
    return [case["peak"] * 0.5 * (1 - math.cos(2 * math.pi * phase)) for phase in phases]


def make_step_schedules() -> list[Case]:
    cases: list[Case] = []
    for warmup in (0, 4):
        common: Case = {"peak": 0.3, "warmup_steps": warmup, "total_steps": 20}
        cases += [
            {"name": "constant", **common},
            {"name": "linear", **common, "final_factor": 0.2},
            {"name": "cosine", **common, "final_factor": 0.05},
            {"name": "step", **common, "drop_steps": 5, "gamma": 0.3},
        ]
    for total, rise, initial, final in (
        (20, 0.3, 0.04, 4e-6),
        (33, 0.45, 0.2, 0.01),
        (7, 0.0, 0.5, 0.1),
        (9, 1.0, 0.5, 0.1),
        (1, 0.3, 0.5, 0.1),
    ):
        cases.append(
            {
                "name": "one_cycle",
                "peak": 0.3,
                "warmup_steps": 0,
                "total_steps": total,
                "rise_fraction": rise,
                "initial_factor": initial,
                "final_factor": final,
            }
        )
    for cycles in (1, 4):
        cases.append(
            {"name": "coslog", "peak": 0.3, "warmup_steps": 0, "total_steps": 40, "cycles": cycles}
        )
    for case in cases:
        if case["name"] == "coslog":
            case["rates"] = coslog_rates(case)
            continue
        optimizer = no_optimizer(case["peak"])
        scheduler = make_scheduler(case, optimizer)
        case["rates"] = []
        for step in range(case["total_steps"]):
            case["rates"].append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            if step + 1 < case["total_steps"]:
                scheduler.step()
    return cases


def make_plateaus() -> list[Case]:
    falling = [
        1.0,
        0.8,
        0.7,
        0.7,
        0.6999,
        0.71,
        0.75,
        0.72,
        0.6,
        0.65,
        0.61,
        0.6,
        0.62,
        0.63,
        0.9,
        0.5,
        0.55,
        0.56,
        0.57,
        0.58,
        0.59,
        0.6,
        0.61,
        0.62,
    ]
    kinds = [
        {"patience": 2, "threshold": 1e-4, "cooldown": 0, "min_learning_rate": 0.0},
        {"patience": 0, "threshold": 0.1, "cooldown": 0, "min_learning_rate": 0.01},
        {"patience": 1, "threshold": 0.0, "cooldown": 2, "min_learning_rate": 1e-3},
        {"patience": 30, "threshold": 1e-4, "cooldown": 0, "min_learning_rate": 0.0},
    ]
    cases: list[Case] = [
        {"better": better, "peak": 0.3, "gamma": 0.25, **kind}
        for kind in kinds
        for better in ("lower", "higher")
    ]
    for case in cases:
        optimizer = no_optimizer(case["peak"])
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer,
            "min" if case["better"] == "lower" else "max",
            case["gamma"],
            case["patience"],
            case["threshold"],
            "rel",
            case["cooldown"],
            case["min_learning_rate"],
            eps=0,
        )
        case["metrics"] = [x if case["better"] == "lower" else round(1.5 - x, 6) for x in falling]
        case["rates"] = []
        for metric in case["metrics"]:
            optimizer.step()
            scheduler.step(metric)
            case["rates"].append(optimizer.param_groups[0]["lr"])
    return cases


def make_schedules() -> None:
    write("schedules.json", {"by_step": make_step_schedules(), "plateaus": make_plateaus()})


def main() -> None:
    torch.manual_seed(20)
    torch.set_num_threads(1)
    parameters = initial_parameters()
    data = (
        torch.randn(BATCH, FEATURES),
        torch.tensor([0, 2, 1, 2, 0, 1]),
        torch.randn(BATCH, OUTPUTS),
    )
    makers: list[Callable[[], None]] = [
        lambda: make_mlp(data, parameters),
        lambda: make_optimizers(parameters),
        lambda: make_training(data, parameters),
        lambda: make_autocast(data, parameters, torch.bfloat16, "autocast_bf16.json"),
        make_schedules,
        lambda: make_embeddings(data),
        lambda: make_realmlp(data),
        lambda: make_tabm(data),
        lambda: make_contributions(data),
    ]
    if int(torch.__version__.split(".")[0]) > 1:  # earlier ones have no fp16 on the CPU
        makers = [lambda: make_autocast(data, parameters, torch.float16, "autocast_fp16.json")]
    for make in makers:
        torch.manual_seed(21)  # so that a new case changes no other file
        make()


if __name__ == "__main__":
    main()
