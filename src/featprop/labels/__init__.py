"""Labels: one record (`Annotation`), the label log, reading and writing of files, agreement."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from featprop.labels.agreement import Consensus as Consensus
    from featprop.labels.agreement import consensus as consensus
    from featprop.labels.agreement import krippendorff_alpha as krippendorff_alpha
    from featprop.labels.annotation import Annotation as Annotation
    from featprop.labels.annotation import Kind as Kind
    from featprop.labels.exporting import export_labels as export_labels
    from featprop.labels.exporting import label_studio_config as label_studio_config
    from featprop.labels.log import Imported as Imported
    from featprop.labels.log import LabelLog as LabelLog
    from featprop.labels.predictions import write_predictions as write_predictions
    from featprop.labels.reading import Labels as Labels
    from featprop.labels.reading import import_labels as import_labels
    from featprop.labels.reading import read as read
    from featprop.labels.reading import read_ids as read_ids
    from featprop.labels.sheets import write_labels as write_labels

_MODULE_OF = {
    "Annotation": "annotation",
    "Consensus": "agreement",
    "Imported": "log",
    "Kind": "annotation",
    "LabelLog": "log",
    "Labels": "reading",
    "consensus": "agreement",
    "export_labels": "exporting",
    "import_labels": "reading",
    "krippendorff_alpha": "agreement",
    "label_studio_config": "exporting",
    "read": "reading",
    "read_ids": "reading",
    "write_labels": "sheets",
    "write_predictions": "predictions",
}

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"featprop.labels.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'featprop.labels' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
