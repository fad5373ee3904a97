"""The KV cache: a pass that uses it, its size, and what each step costs with and without it."""
