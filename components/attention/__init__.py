"""Pictures and controls of the attention page."""
