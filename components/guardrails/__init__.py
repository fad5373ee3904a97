"""Pictures and controls of the guardrails page."""
