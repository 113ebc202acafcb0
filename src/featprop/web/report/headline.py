"""How good it is, in one sentence, and the two or three that go with it."""

from __future__ import annotations

import numpy as np

from featprop.evaluate.estimate import FEWEST
from featprop.graph import UNKNOWN
from featprop.web.report.findings import Findings
from featprop.web.report.subject import Subject

__all__ = ["caution", "headline", "lead"]


def headline(subject: Subject, findings: Findings) -> str:
    """Answer "how good is it" with an interval, or say why there is no answer."""
    share = findings.accuracy
    if share is not None:
        return f"About {share} of the predictions are right"
    if not np.any(subject.labelled == UNKNOWN):
        return "Every node has a label: there is nothing to predict"
    if len(subject.model.class_names_) < 2:
        return _one_class(subject)
    return f"{len(subject.labels):,} labels, and no telling yet how good the predictions are"


def lead(subject: Subject, findings: Findings) -> list[str]:
    """Return the sentences below the headline: where the answer is from, and what to do about it."""
    said = []
    share = findings.accuracy
    if findings.audit is not None and share is not None:
        size = findings.audit.size
        said.append(
            f"Checked on {size:,} node{'' if size == 1 else 's'} drawn at random that no model has learnt from; "
            f"in {100 * share.level:.0f} % of such checks the true share is in that interval."
        )
    elif findings.estimate is not None and share is not None:
        said.append(
            "Estimated from the labels and the graph, without an audit: the labels were chosen to be useful, not to be "
            f"typical. The interval is meant to hold in {100 * share.level:.0f} % of cases."
        )
        if findings.estimate.n_labels < FEWEST:
            said.append("So few labels say little: an audit of 30 nodes drawn at random is surer.")
    elif len(subject.model.class_names_) > 1 and np.any(subject.labelled == UNKNOWN):
        said.append("An audit tells: a few nodes drawn at random, labelled for checking only.")
    if findings.audit is not None and len(subject.model.class_names_) < 2:
        said.append(f"{_one_class(subject)}.")
    careful = caution(subject, findings)
    if careful is not None:
        said.append(f"{careful}.")
    if findings.advice is not None:
        said.append(findings.advice.headline)
    return said


def caution(subject: Subject, findings: Findings) -> str | None:
    """Say so if naming the commonest class everywhere may be right as often as the model is."""
    share, predicted = findings.accuracy, subject.predicted[subject.labelled == UNKNOWN]
    if share is None or not len(predicted):
        return None
    counts = np.bincount(predicted)
    commonest = int(counts.argmax())
    if counts[commonest] < share.low * len(predicted):
        return None
    named = f"{subject.class_titles[commonest]} is predicted for {counts[commonest] / len(predicted):.0%} of the nodes"
    return f"{named}: whoever always says so may be right as often, so look at each class"


def _one_class(subject: Subject) -> str:
    return f"All labels are {subject.class_titles[0]} so far: nothing can be learnt from one class"
