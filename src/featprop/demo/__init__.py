"""The digits demonstration: FeatProp beside random choice, from selection to a page to look at."""
