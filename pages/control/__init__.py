"""Control: where the outcome can be changed, and where the probabilities came from."""
