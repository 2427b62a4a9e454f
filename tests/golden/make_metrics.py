#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes metrics.json, the golden values of the metrics, computed by scikit-learn.

    python3 tests/golden/make_metrics.py

needs Python's scikit-learn (written with 1.2). The logits are rounded, so that they are the same as
float32 and those of two classes are equal here and there.
"""

import json
import pathlib
import random
from typing import Any

import numpy
from sklearn import metrics

FOLDER = pathlib.Path(__file__).resolve().parent
ROWS = 60


def softmax(logits: numpy.ndarray) -> numpy.ndarray:
    powers = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def rounded(value: float, num_classes: int) -> float:
    return round(4 * value) / 4 if num_classes == 2 else round(value, 5)


def classification(num_classes: int, draw: random.Random) -> dict[str, Any]:
    targets = [draw.randrange(num_classes) for _ in range(ROWS)]
    logits = [
        [rounded(draw.gauss(1.0 if t == c else 0.0, 1.0), num_classes) for c in range(num_classes)]
        for t in targets
    ]
    scores = softmax(numpy.array(logits))
    predicted = scores.argmax(axis=1)
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(
        targets, predicted, labels=range(num_classes), zero_division=0
    )
    area = (
        metrics.roc_auc_score(targets, [b - a for a, b in logits])
        if num_classes == 2
        else metrics.roc_auc_score(targets, scores, multi_class="ovr", average="macro")
    )
    result = {
        "targets": targets,
        "logits": logits,
        "confusion": metrics.confusion_matrix(targets, predicted).flatten().tolist(),
        "accuracy": metrics.accuracy_score(targets, predicted),
        "f1": metrics.f1_score(targets, predicted, average="macro"),
        "auroc": area,
        "log_loss": metrics.log_loss(targets, scores, labels=range(num_classes)),
        "balanced_accuracy": metrics.balanced_accuracy_score(targets, predicted),
        "pr_auc": (
            metrics.average_precision_score(targets, [b - a for a, b in logits])
            if num_classes == 2
            else metrics.average_precision_score(
                numpy.eye(num_classes)[targets], scores, average="macro"
            )
        ),
        "precision": precision.tolist(),
        "recall": recall.tolist(),
        "class_f1": f1.tolist(),
        "rows": rows.tolist(),
    }
    if num_classes == 2:
        result["binary_f1"] = metrics.f1_score(targets, predicted)
    if num_classes > 2:
        result["top_2_accuracy"] = metrics.top_k_accuracy_score(targets, scores, k=2)
    return result


def regression(draw: random.Random) -> dict[str, Any]:
    targets = [[round(draw.gauss(10, 3), 2), round(draw.gauss(0, 1), 2)] for _ in range(ROWS)]
    predictions = [[round(a + draw.gauss(0, 1), 2), round(draw.gauss(0, 1), 2)] for a, _ in targets]
    return {
        "targets": targets,
        "predictions": predictions,
        "mae": metrics.mean_absolute_error(targets, predictions, multioutput="raw_values").tolist(),
        "rmse": numpy.sqrt(
            metrics.mean_squared_error(targets, predictions, multioutput="raw_values")
        ).tolist(),
        "mape": metrics.mean_absolute_percentage_error(
            targets, predictions, multioutput="raw_values"
        ).tolist(),
        "r2": metrics.r2_score(targets, predictions, multioutput="raw_values").tolist(),
    }


def main() -> None:
    draw = random.Random(7)
    golden = {
        "two_classes": classification(2, draw),
        "four_classes": classification(4, draw),
        "regression": regression(draw),
    }
    (FOLDER / "metrics.json").write_text(json.dumps(golden) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
