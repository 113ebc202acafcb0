"""Mutation runs: the numerical core with one change at a time, which its tests must notice."""
