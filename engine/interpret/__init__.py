"""Logit lens, attribution and knock-out: what an interpretability engineer looks for."""
