"""Pictures and controls of the page on embedding and position."""
