"""Pictures and controls of the generation page."""
