"""Mutation testing of the numerical core."""
