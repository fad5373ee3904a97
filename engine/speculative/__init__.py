"""Speculative decoding: drafts, the acceptance rule, the loop, and the proof that it is exact."""
