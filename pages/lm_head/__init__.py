"""The LM head page."""
