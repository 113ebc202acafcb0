"""Graph neural networks that learn from a few labelled nodes."""

from featprop.models.classifier import NodeClassifier, available_models, get_model
from featprop.models.gcn import GCN
from featprop.models.outputs import model_outputs
from featprop.models.saved import load_model, save_model
from featprop.models.sgc import SGC

__all__ = ["GCN", "SGC", "NodeClassifier", "available_models", "get_model", "load_model", "model_outputs", "save_model"]
