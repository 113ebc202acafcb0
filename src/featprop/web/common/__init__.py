"""Pieces shared by the labelling page, the report and the experiments: node cards, drawings, colours, templates."""
