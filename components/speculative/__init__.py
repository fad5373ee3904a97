"""Pictures of the page on speculative decoding."""
