"""Pictures and controls of the sampling page."""
