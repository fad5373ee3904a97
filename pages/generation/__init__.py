"""The generation page."""
