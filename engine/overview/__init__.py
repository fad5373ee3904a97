"""The facts of one pass through the whole pipeline, for the overview picture."""
