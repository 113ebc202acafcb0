"""Models that are PyTorch networks. PyTorch is imported when one of them learns or predicts."""

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

MAX_SEED = 2**64 - 1
"""Largest seed that PyTorch accepts."""


@dataclass(eq=False, repr=False)
class NeuralClassifier(NodeClassifier):
    """A network trained with Adam on the cross-entropy of the labelled nodes; the last epoch is kept.

    A subclass names its network, a class of `featprop.models.networks`, and provides the inputs of the network.

    Parameters
    ----------
    learning_rate, weight_decay
        Parameters of Adam.
    epochs
        Number of training epochs.
    random_state
        Seed of the initial weights and of dropout; on a CPU, the same seed gives the same model.
    device
        PyTorch device, such as ``"cpu"`` or ``"cuda"``.

    Attributes
    ----------
    network_
        The trained network; None before `fit`.
    """

    learning_rate: Annotated[float, Above(0)] = field(default=0.01, kw_only=True)
    weight_decay: Annotated[float, AtLeast(0)] = field(default=5e-4, kw_only=True)
    epochs: Annotated[int, AtLeast(1)] = field(default=200, kw_only=True)
    random_state: Annotated[int, Between(0, MAX_SEED)] = field(default=0, kw_only=True)
    device: str = field(default="cpu", kw_only=True)
    network_: Any = field(default=None, init=False)

    network_kind: ClassVar[str]

    @abstractmethod
    def matrices(self, propagation: Propagation, nodes: NDArray[np.intp] | None = None) -> tuple[Features, ...]:
        """Return the matrices the network needs for the logits of `nodes`, or of every node by default."""

    def build(self, n_features: int, n_classes: int, generator: torch.Generator) -> Network:
        """Return a network with random weights."""
        kind: type[Network] = getattr(self._networks(), self.network_kind)
        return kind.initialise(n_features, n_classes, self.get_params(), generator)

    def learn(self, propagation: Propagation, nodes: NDArray[np.intp], targets: NDArray[np.int64]) -> None:
        """Train a new network on the receptive field of the nodes."""
        torch, networks = self._torch(), self._networks()
        device = networks.device_of(self.device)
        generator = torch.Generator(device="cpu").manual_seed(self.random_state)
        network = self.build(self.n_features_in_, len(self.class_names_), generator).to(device)
        inputs = networks.Inputs.of(self.matrices(propagation, nodes), device)
        networks.train(network, inputs, torch.from_numpy(targets).to(device), self, [generator])
        if not all(torch.isfinite(weight).all() for weight in network.parameters()):
            message = f"Training diverged: the weights of {self!r} are not finite."
            raise ModelError(message, hint="Lower `learning_rate`, or scale the features.")
        self.network_ = network

    def cold_start(self, propagation: Propagation) -> None:  # noqa: ARG002
        """Use random weights, which keep the hidden layer a random projection of the propagated features.

        Training on one class would only shrink them to zero.
        """
        generator = self._torch().Generator(device="cpu").manual_seed(self.random_state)
        self.network_ = self.build(self.n_features_in_, len(self.class_names_), generator)

    def scores(self, propagation: Propagation) -> NDArray[np.float32]:
        """Return the logits of every node."""
        return self.evaluate(propagation, lambda network, inputs: network(inputs)[0])

    def evaluate(self, propagation: Propagation, compute: Callable[[Any, Inputs], torch.Tensor]) -> NDArray[np.float32]:
        """Return the result of `compute(network, inputs)` with the inputs of every node."""
        networks = self._networks()
        device = networks.device_of(self.device)
        inputs = networks.Inputs.of(self.matrices(propagation), device)
        with self._torch().no_grad():
            rows: NDArray[np.float32] = compute(self.network_.to(device).eval(), inputs).cpu().numpy()
        return rows

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Return the weights, laid out as in PyG."""
        arrays: dict[str, NDArray[Any]] = self.network_.to_arrays()
        return arrays

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Load saved weights."""
        network = self.build(self.n_features_in_, len(self.class_names_), self._torch().Generator())
        network.load_arrays(state)
        self.network_ = network

    def _networks(self) -> ModuleType:
        try:
            from featprop.models import networks
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"The model {self.name}", "train", error.name or "torch") from error
        return networks

    def _torch(self) -> Any:
        return self._networks().torch
