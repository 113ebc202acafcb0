"""Which accounts are fraudulent? You have two tables and have not checked any account yet."""

import pandas as pd
from accounts import made_tables

import featprop as fp

accounts, payments, truth = made_tables()
graph = fp.Graph.from_tables(accounts, payments)
print(graph)

learner = fp.ActiveLearner(graph)
for budget in (20, 20, 30, 30):
    picks = learner.ask(budget)
    learner.tell({account: truth[account] for account in picks})  # a person checks them
    found = sum(label == "fraud" for label in learner.labels.values())
    print(f"{len(learner.labels):3} accounts checked, {found} of them fraudulent")
print(learner.estimate())

model = learner.model
chances = model.predict_proba(graph)[:, list(model.classes_).index("fraud")]
suspects = pd.Series(chances, index=graph.ids).drop(list(learner.labels)).nlargest(50)
right = sum(truth[account] == "fraud" for account in suspects.index)
print(f"Of the 50 most suspicious other accounts, {right} are fraudulent; chance would find about 4.")
