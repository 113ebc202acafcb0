"""The report: one HTML page on how good the predictions of a graph are and what to review."""

from featprop.web.report.build import Report, report

__all__ = ["Report", "report"]
