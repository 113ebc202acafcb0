"""The labelling page and the reports."""
