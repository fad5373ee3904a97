"""Pictures of the KV cache: what it keeps, what heads share, what steps cost."""
