"""What people say of nodes: the label log."""

from featprop.labelling.log import Act, LabelLog

__all__ = ["Act", "LabelLog"]
