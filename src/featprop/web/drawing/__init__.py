"""Colours and figures that stand inside a page, shared by the demonstration and the report of experiments."""
