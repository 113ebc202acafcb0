"""Labels: one record (`Annotation`), the label log, reading and writing of files, agreement."""

from featprop.labels.agreement import Consensus, consensus, krippendorff_alpha
from featprop.labels.annotation import Annotation, Kind
from featprop.labels.exporting import export_labels, label_studio_config
from featprop.labels.importing import Imported, import_labels
from featprop.labels.log import LabelLog
from featprop.labels.predictions import write_predictions
from featprop.labels.reading import Labels, read, read_ids

__all__ = [
    "Annotation",
    "Consensus",
    "Imported",
    "Kind",
    "LabelLog",
    "Labels",
    "consensus",
    "export_labels",
    "import_labels",
    "krippendorff_alpha",
    "label_studio_config",
    "read",
    "read_ids",
    "write_predictions",
]
