"""Models that are PyTorch networks. PyTorch is loaded when one of them learns or predicts, and not before."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from featprop.errors import MissingExtraError, ModelError
from featprop.matrix import Features
from featprop.models.base import NodeClassifier
from featprop.options import Above, AtLeast, Between
from featprop.propagation import Propagation

if TYPE_CHECKING:
    from types import ModuleType

    import torch

    from featprop.models.networks import Inputs, Network

__all__ = ["NeuralClassifier"]

LARGEST_SEED = 2**64 - 1
"""That PyTorch takes."""


@dataclass(eq=False, repr=False)
class NeuralClassifier(NodeClassifier):
    """A network trained with Adam on the cross entropy of the labelled nodes; the last epoch is the model.

    A model of this kind says of which class of `featprop.models.networks` it is and what the network needs of a graph.

    Parameters
    ----------
    learning_rate, weight_decay, epochs
        Of Adam.
    seed
        Of the initial weights and of dropout; on a CPU the same seed gives the same model.
    device
        Where PyTorch computes, such as ``"cpu"`` or ``"cuda"``.

    Attributes
    ----------
    network_
        The trained network; None before `fit`.
    """

    learning_rate: Annotated[float, Above(0)] = field(default=0.01, kw_only=True)
    weight_decay: Annotated[float, AtLeast(0)] = field(default=5e-4, kw_only=True)
    epochs: Annotated[int, AtLeast(1)] = field(default=200, kw_only=True)
    seed: Annotated[int, Between(0, LARGEST_SEED)] = field(default=0, kw_only=True)
    device: str = field(default="cpu", kw_only=True)
    network_: Any = field(default=None, init=False)

    network_kind: ClassVar[str]

    @abstractmethod
    def matrices(self, propagation: Propagation, nodes: NDArray[np.intp] | None = None) -> tuple[Features, ...]:
        """Return all that the network needs of the graph for the logits of `nodes`, or of every node if not given."""

    def build(self, n_features: int, n_classes: int, generator: torch.Generator) -> Network:
        """Return a fresh network."""
        kind: type[Network] = getattr(self._networks(), self.network_kind)
        return kind.fresh(n_features, n_classes, self.get_params(), generator)

    def learn(self, propagation: Propagation, nodes: NDArray[np.intp], targets: NDArray[np.int64]) -> None:
        """Train a fresh network on the receptive field of the nodes."""
        torch, networks = self._torch(), self._networks()
        device = networks.device_of(self.device)
        generator = torch.Generator(device="cpu").manual_seed(self.seed)
        network = self.build(self.n_features_in_, len(self.classes_), generator).to(device)
        inputs = networks.Inputs.of(self.matrices(propagation, nodes), device)
        networks.train(network, inputs, torch.from_numpy(targets).to(device), self, [generator])
        if not all(torch.isfinite(weight).all() for weight in network.parameters()):
            found, cure = (
                f"{self!r}, whose weights grew beyond all bounds",
                "lower the learning rate, or scale the features",
            )
            raise ModelError("Training", "must end with finite weights", found, cure)
        self.network_ = network

    def start(self, propagation: Propagation) -> None:  # noqa: ARG002
        """Take fresh weights: training on one class would only shrink them to zero.

        Fresh ones at least keep the hidden representation a random projection of the propagated features.
        """
        generator = self._torch().Generator(device="cpu").manual_seed(self.seed)
        self.network_ = self.build(self.n_features_in_, len(self.classes_), generator)

    def scores(self, propagation: Propagation) -> NDArray[np.float32]:
        """Return the logits of every node."""
        return self.computed(propagation, lambda network, inputs: network(inputs)[0])

    def computed(self, propagation: Propagation, compute: Callable[[Any, Inputs], torch.Tensor]) -> NDArray[np.float32]:
        """Return what `compute` makes of the trained network and its inputs for every node."""
        networks = self._networks()
        device = networks.device_of(self.device)
        network = self._trained()
        inputs = networks.Inputs.of(self.matrices(propagation), device)
        with self._torch().no_grad():
            rows: NDArray[np.float32] = compute(network.to(device).eval(), inputs).cpu().numpy()
        return rows

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the weights, laid out as PyG lays them out."""
        return self._trained().tensors()

    def restore(self, tensors: Mapping[str, NDArray[Any]]) -> None:
        """Take up saved weights."""
        network = self.build(self.n_features_in_, len(self.classes_), self._torch().Generator())
        network.take(tensors)
        self.network_ = network

    def _trained(self) -> Network:
        if self.network_ is None:
            raise ModelError("The model", "must be fitted before it is used", "an unfitted one", "call fit first")
        network: Network = self.network_
        return network

    def _networks(self) -> ModuleType:
        try:
            from featprop.models import networks
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"Model {self.name}", "train", error.name or "torch") from error
        return networks

    def _torch(self) -> Any:
        return self._networks().torch
