"""From the last vector to a score for every token of the vocabulary."""
