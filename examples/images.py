"""No graph at hand? Join each of 1,797 handwritten digits to the most similar ones."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

import featprop as fp

images = load_digits()
pixels, digit = images.data / 16, images.target
alike = NearestNeighbors(n_neighbors=10, algorithm="kd_tree").fit(pixels).kneighbors_graph()
graph = fp.Graph.from_scipy(alike, pixels)
print(graph)

picks = fp.select(graph, budget=40)
print("label these first:", *picks.nodes[:10])

labels = digit[picks.nodes]  # a person would look at 40 images
model = fp.GraphRidge().fit(graph, picks.nodes, labels)
others = np.setdiff1d(np.arange(len(digit)), picks.nodes)
right = np.mean(model.predict(graph)[others] == digit[others])
print(f"{right:.0%} of the other {len(others):,} digits are predicted correctly")
print("estimated from the labels:", fp.evaluate.estimate(graph, model))

slip = labels.copy()
slip[7] = (slip[7] + 1) % 10  # a person mistypes one label
found = fp.evaluate.diagnose(graph, fp.GraphRidge().fit(graph, picks.nodes, slip))
print(f"mistyped: image {picks.nodes[7]}; most suspect label:\n  {found.wrong_labels[0]}")
