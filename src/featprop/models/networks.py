"""The PyTorch networks of the models, and the loop that trains them.

A network holds the weights of one model or of several. The weights of several models are concatenated along the first
dimension, and their inputs stand on the diagonal of one block matrix, so the models are independent but share one
forward pass. (`featprop.experiments.training` trains several seeds at once in this way.)
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from featprop.errors import ParameterError
from featprop.matrix import Features
from featprop.progress import tracked


class Constant:
    """A constant matrix, dense or sparse, that multiplies weights from the left.

    With gradients, PyTorch computes the product, and the transpose is kept instead of being built at every step.
    Without, on a CPU, SciPy computes a sparse product, which needs no copy of the matrix.
    """

    def __init__(self, matrix: Features, device: torch.device) -> None:
        self.matrix, self.device = matrix, device
        self._tensors: tuple[Tensor, Tensor] | None = None

    def __matmul__(self, weights: Tensor) -> Tensor:
        if not sp.issparse(self.matrix):
            return self._both()[0] @ weights
        if self.device.type == "cpu" and not (weights.requires_grad and torch.is_grad_enabled()):
            return torch.from_numpy(self.matrix @ weights.detach().numpy())
        product: Tensor = _Product.apply(weights, *self._both())  # type: ignore[no-untyped-call]
        return product

    def _both(self) -> tuple[Tensor, Tensor]:
        """Return the matrix and, if it is sparse, its transpose as tensors."""
        if self._tensors is None and sp.issparse(self.matrix):
            self._tensors = _sparse(self.matrix, self.device), _sparse(sp.csr_array(self.matrix.T), self.device)
        elif self._tensors is None:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
                dense = torch.from_numpy(np.ascontiguousarray(self.matrix)).to(self.device)
            self._tensors = dense, dense
        return self._tensors


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, weights: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
        context.transposed = transposed
        return matrix @ weights

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return context.transposed @ gradient, None, None


@dataclass(frozen=True)
class Inputs:
    """Inputs of a network for some nodes.

    Attributes
    ----------
    matrices
        What `featprop.models.neural.NeuralClassifier.matrices` returns; block-diagonal for several networks.
    rows
        Number of rows of the first matrix that belong to each network.
    """

    matrices: tuple[Constant, ...]
    rows: tuple[int, ...]

    @classmethod
    def of(cls, matrices: Sequence[Features], device: torch.device) -> Inputs:
        """Return the inputs of one network."""
        return cls(tuple(Constant(matrix, device) for matrix in matrices), (matrices[0].shape[0],))


class Network(nn.Module, ABC):
    """The weights of one network, or of several."""

    per_class: ClassVar[tuple[str, ...]]
    """Parameters whose last dimension is the number of classes."""

    def __init__(self, dropout: float = 0.0, **weights: Tensor) -> None:
        super().__init__()
        self.dropout = dropout
        for name, weight in weights.items():
            self.register_parameter(name, nn.Parameter(weight.contiguous()))

    @classmethod
    @abstractmethod
    def initialise(
        cls, n_features: int, n_classes: int, settings: Mapping[str, Any], generator: torch.Generator
    ) -> Self:
        """Return one network with random weights."""

    @abstractmethod
    def forward(self, inputs: Inputs, generators: Sequence[torch.Generator] = ()) -> Tensor:
        """Return the logits, shape (networks, nodes, classes); in training, each network has its own generator."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the weights of one network without the dimension of the networks, laid out as in PyG."""
        found = {}
        for name, weights in self.named_parameters():
            matrix = weights.detach().cpu().numpy().reshape(-1, weights.shape[-1])
            found[name] = np.array(matrix.ravel() if name.startswith("bias") else matrix.T, order="C")
        return found

    def load_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Load the weights that `to_arrays` returned."""
        self.load_state_dict(
            {
                name: torch.from_numpy(np.array(arrays[name].T)).reshape(weights.shape)
                for name, weights in self.named_parameters()
            }
        )


class TwoLayers(Network):
    """S · dropout(relu(S X W1 + b1)) · W2 + b2, with layers initialised as in PyG's `GCNConv`."""

    per_class = ("weight2", "bias2")
    weight1: Tensor
    bias1: Tensor
    weight2: Tensor
    bias2: Tensor

    @classmethod
    def initialise(
        cls, n_features: int, n_classes: int, settings: Mapping[str, Any], generator: torch.Generator
    ) -> TwoLayers:
        """Return one network with random weights."""
        width = settings["hidden"]
        first, second = _glorot(width, n_features, generator), _glorot(n_classes, width, generator)
        return cls(
            settings["dropout"],
            weight1=first.T,
            bias1=torch.zeros(1, width),
            weight2=second.T[None],
            bias2=torch.zeros(1, 1, n_classes),
        )

    def forward(self, inputs: Inputs, generators: Sequence[torch.Generator] = ()) -> Tensor:
        """Return the logits of the nodes of these receptive fields; dropout applies only in training."""
        hidden = self.hidden(inputs)
        if self.training and self.dropout > 0:
            width = hidden.shape[1]
            drawn = [torch.rand((rows, width), generator=g) for rows, g in zip(inputs.rows, generators, strict=True)]
            hidden = hidden * (torch.cat(drawn) >= self.dropout).to(hidden.device) / (1.0 - self.dropout)
        mixed = (inputs.matrices[1] @ hidden).view(len(inputs.rows), -1, hidden.shape[1])
        return torch.baddbmm(self.bias2, mixed, self.weight2)

    def hidden(self, inputs: Inputs) -> Tensor:
        """Return relu(S X W1 + b1), the activations of the hidden layer before propagation."""
        network_of_row = torch.repeat_interleave(torch.arange(len(inputs.rows)), torch.tensor(inputs.rows))
        return torch.relu(inputs.matrices[0] @ self.weight1 + self.bias1[network_of_row.to(self.bias1.device)])


class Linear(Network):
    """S^K X Θ + b."""

    per_class = ("weight", "bias")
    weight: Tensor
    bias: Tensor

    @classmethod
    def initialise(
        cls,
        n_features: int,
        n_classes: int,
        settings: Mapping[str, Any],  # noqa: ARG003
        generator: torch.Generator,
    ) -> Linear:
        """Return one network with random weights."""
        return cls(weight=_glorot(n_classes, n_features, generator).T, bias=torch.zeros(1, 1, n_classes))

    def forward(self, inputs: Inputs, generators: Sequence[torch.Generator] = ()) -> Tensor:  # noqa: ARG002
        """Return the logits of the nodes with these rows of S^K X."""
        product = inputs.matrices[0] @ self.weight
        return product.view(len(inputs.rows), -1, product.shape[1]) + self.bias


def train(
    network: nn.Module,
    inputs: Inputs,
    targets: Tensor,
    settings: Any,
    generators: Sequence[torch.Generator],
    closed: Tensor | None = None,
) -> None:
    """Train a network with Adam on the cross-entropy; the last epoch is kept.

    The loss of several networks is the sum of their losses, so their gradients are independent, and Adam treats each
    weight separately: up to rounding, each network is the same as if it were trained alone.

    Parameters
    ----------
    inputs, targets
        Inputs of the labelled nodes and their classes.
    settings
        Object with the attributes `learning_rate`, `weight_decay` and `epochs`.
    generators
        One generator per network.
    closed
        Added to the logits: minus infinity for classes that a network does not have.
    """
    optimiser = torch.optim.Adam(
        network.parameters(), lr=float(settings.learning_rate), weight_decay=float(settings.weight_decay), fused=True
    )
    each = len(targets) // len(generators)
    epochs = int(settings.epochs)
    network.train()
    for _ in tracked(range(epochs), "training", epochs):
        optimiser.zero_grad()
        logits = network(inputs, generators)
        logits = logits if closed is None else logits + closed
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets, reduction="sum") / each
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    network.eval()


def device_of(name: str) -> torch.device:
    """Return the PyTorch device of that name."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        message = f"PyTorch cannot use the `device` {name!r} on this machine."
        raise ParameterError(message, hint="Use 'cpu'.", parameter="device", value=name) from error
    return device


def _glorot(n_out: int, n_in: int, generator: torch.Generator) -> Tensor:
    """Return a weight matrix with uniform Glorot initialisation."""
    return nn.init.xavier_uniform_(torch.empty(n_out, n_in), generator=generator)


def _sparse(matrix: sp.csr_array, device: torch.device) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(np.array(matrix.data, dtype=np.float32)),
            size=matrix.shape,
            device=device,
            check_invariants=False,
        )
