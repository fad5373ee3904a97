"""The guardrails page."""
