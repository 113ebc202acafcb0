"""Mutation testing of the numerical core: ``python -m mutants``, or ``make mutants``."""
