"""Logit lens, direct logit attribution, knock-outs: how single parts contribute to an answer."""
