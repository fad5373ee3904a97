"""The attention page and its KV cache view."""
