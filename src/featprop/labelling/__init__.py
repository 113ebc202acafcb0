"""What people say of nodes: the label log, how far people agree, and the way to other tools and back."""

from featprop.labelling.acts import Act
from featprop.labelling.exchange import Imported, export_labels, import_labels
from featprop.labelling.log import LabelLog

__all__ = ["Act", "Imported", "LabelLog", "export_labels", "import_labels"]
