"""Train your own PyTorch Geometric network on selected nodes instead of random ones."""

import torch
import torch_geometric.transforms as T
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.utils import stochastic_blockmodel_graph

from featprop import FeatPropSplit

SIZES, FEATURES, BUDGET, SEEDS = (160, 100, 60, 40, 24, 16), 16, 18, 3


def made_data() -> Data:
    """Return a graph of six classes, with most edges within a class and noisy features."""
    torch.manual_seed(0)
    y = torch.repeat_interleave(torch.arange(len(SIZES)), torch.tensor(SIZES))
    x = torch.randn(len(SIZES), FEATURES)[y] + 2 * torch.randn(len(y), FEATURES)
    chances = torch.full((len(SIZES), len(SIZES)), 0.003).fill_diagonal_(0.06)
    return Data(x=x, y=y, edge_index=stochastic_blockmodel_graph(list(SIZES), chances))


class Net(torch.nn.Module):
    """Two graph convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first = GCNConv(FEATURES, 16, cached=True)
        self.second = GCNConv(16, len(SIZES), cached=True)

    def forward(self, data: Data) -> torch.Tensor:
        """Return a score for each node and class."""
        hidden = self.first(data.x, data.edge_index).relu()
        return self.second(torch.dropout(hidden, 0.5, self.training), data.edge_index)


def accuracy(data: Data, seed: int) -> float:
    """Train on ``data.train_mask`` and return the accuracy on the other nodes."""
    torch.manual_seed(seed)
    net = Net()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.02, weight_decay=5e-4)
    for _ in range(50):
        optimiser.zero_grad()
        scores, labels = net(data)[data.train_mask], data.y[data.train_mask]
        torch.nn.functional.cross_entropy(scores, labels).backward()
        optimiser.step()
    net.eval()
    rest = ~data.train_mask
    return float((net(data).argmax(dim=1)[rest] == data.y[rest]).float().mean())


data = made_data()
print(data)
drawn, chosen = [], []
for seed in range(SEEDS):
    torch.manual_seed(seed)
    by_chance = T.RandomNodeSplit(num_val=0, num_test=data.num_nodes - BUDGET)
    drawn.append(accuracy(by_chance(data.clone()), seed))
    chosen.append(accuracy(FeatPropSplit(budget=BUDGET, random_state=seed)(data.clone()), seed))
for name, scores in ("RandomNodeSplit", drawn), ("FeatPropSplit", chosen):
    mean, low, high = sum(scores) / SEEDS, min(scores), max(scores)
    print(f"{name:15} {BUDGET} labels: accuracy {mean:.0%}, from {low:.0%} to {high:.0%}")
