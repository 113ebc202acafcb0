"""The report on one's own graph: one page that says what is known, how good it is, and what to distrust."""

from featprop.web.report.composition import Report, report

__all__ = ["Report", "report"]
