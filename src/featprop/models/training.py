"""The training loop: Adam on the cross entropy of the labelled nodes, the last epoch kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from featprop.errors import ParameterError
from featprop.progress import tracked

__all__ = ["Optimisation", "train"]


@dataclass(frozen=True)
class Optimisation:
    """The settings of Adam."""

    learning_rate: float
    weight_decay: float
    epochs: int

    def __post_init__(self) -> None:
        if not self.learning_rate > 0:
            raise ParameterError("learning_rate", "must be above 0", self.learning_rate, "the paper uses 0.01")
        if not self.weight_decay >= 0:
            raise ParameterError("weight_decay", "must be at least 0", self.weight_decay, "the paper uses 0.0005")
        if self.epochs < 1:
            raise ParameterError("epochs", "must be at least 1", self.epochs, "the paper uses 200")


def train(
    network: nn.Module, inputs: Any, targets: Tensor, optimisation: Optimisation, generator: torch.Generator
) -> None:
    """Fit `network` to the `targets` of the nodes whose `inputs` are given."""
    optimiser = torch.optim.Adam(
        network.parameters(), lr=optimisation.learning_rate, weight_decay=optimisation.weight_decay
    )
    network.train()
    for _ in tracked(range(optimisation.epochs), "training", optimisation.epochs):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(network(inputs, generator), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
