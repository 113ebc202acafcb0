"""What people say of nodes: the label log, how far people agree, and the way to other tools and back."""

from featprop.labels.acts import Act
from featprop.labels.exchange import Imported, export_labels, import_labels
from featprop.labels.log import LabelLog

__all__ = ["Act", "Imported", "LabelLog", "export_labels", "import_labels"]
