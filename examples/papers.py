"""What are these papers about? You have titles, years and citations, and look up a few fields.

The papers are synthetic: some title words are shared by all fields, others belong to one, and most
citations stay within a field.
"""

import numpy as np
import pandas as pd

import featprop as fp

PAPERS = 900
FIELDS = {
    "vision": "image camera pixel segmentation object scene texture face",
    "language": "sentence translation grammar speech dialogue corpus parser word",
    "robotics": "robot arm grasp control motion planning sensor navigation",
    "theory": "bound proof complexity convex regret optimal lower random",
    "graphs": "node edge community embedding link spectral walk degree",
}
SHARED = "learning deep model data fast robust new method analysis large neural approach efficient "
SHARED += "towards"


def made_papers(seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Return papers, citations and the field of each paper."""
    draw = np.random.default_rng(seed)
    names = list(FIELDS)
    field = draw.choice(len(names), PAPERS, p=[0.35, 0.25, 0.2, 0.12, 0.08])
    words = [text.split() for text in FIELDS.values()]
    titles = []
    for own in field:
        other = draw.integers(len(names))
        title = [*draw.choice(SHARED.split(), 4)]
        title += [draw.choice(words[own]), draw.choice(words[other])]
        titles.append(" ".join(draw.permutation(title)).capitalize())
    years = draw.integers(2010, 2026, PAPERS)
    papers = pd.DataFrame({"id": range(PAPERS), "title": titles, "year": years})
    cited = [
        (paper, draw.choice(np.flatnonzero((field == field[paper]) | (draw.random(PAPERS) < 0.2))))
        for paper in range(PAPERS)
        for _ in range(3)
    ]
    return papers, pd.DataFrame(cited, columns=["citing", "cited"]), np.array(names)[field]


papers, citations, field = made_papers()
graph = fp.Graph.from_tables(papers, citations, source="citing", target="cited")
print(graph)
print(papers["title"].iloc[0], "->", field[0])


def accuracy(strategy: str, labels: int, seed: int = 0) -> float:
    """Label in rounds, and return the accuracy on the other papers."""
    learner = fp.ActiveLearner(graph, strategy, random_state=seed)
    while (known := len(learner.labels)) < labels:
        picks = learner.ask(min(max(10, known // 2), labels - known))
        learner.tell({paper: field[paper] for paper in picks})
    others = np.setdiff1d(np.arange(PAPERS), list(learner.labels))
    return float(np.mean(learner.predict()[others] == field[others]))


print("labels  default  random (mean of 5)")
for labels in (15, 30, 60, 120):
    by_chance = np.mean([accuracy("random", labels, seed) for seed in range(5)])
    print(f"{labels:6}  {accuracy('featprop-diffused', labels):7.0%}  {by_chance:6.0%}")
