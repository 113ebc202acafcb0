"""The labelling page: a node, its neighbourhood, and one key to label it."""
