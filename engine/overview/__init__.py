"""One pass through the whole pipeline, reduced to the facts of the overview picture."""
