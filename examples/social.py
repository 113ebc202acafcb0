"""Who sides with whom? Zachary's karate club: 34 members, their meetings, and a quarrel.

Members have no attributes, so each one gets a separate feature column.
"""

import networkx as nx
import numpy as np

import featprop as fp

club = nx.karate_club_graph()  # edges have weights: in how many places two members meet
for member, row in zip(club, np.eye(len(club)), strict=True):
    club.nodes[member]["x"] = row

graph = fp.Graph.from_networkx(club, features="x")
print(graph)

picks = fp.select(graph, budget=4)
asked = {member: club.nodes[member]["club"] for member in picks}  # ask four of them
for member, side in asked.items():
    print(f"member {member} sides with {side}")

model = fp.GraphRidge().fit(graph, list(asked), list(asked.values()))
sides = dict(zip(club, model.predict(graph), strict=True))
nx.set_node_attributes(club, sides, "predicted")
wrong = [member for member, side in sides.items() if side != club.nodes[member]["club"]]
print(f"{len(club) - len(wrong)} of {len(club)} members are predicted correctly; wrong:", *wrong)
