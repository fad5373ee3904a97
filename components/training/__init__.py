"""Pictures of the training page."""
