"""Files in and out: labelling sheets and predictions."""
