"""Guards around a model: filters on text, bans and formats on the logits, and how each leaks."""
