"""Pictures and controls of the LM head page."""
