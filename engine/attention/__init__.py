"""The attention patterns of all heads, and one head step by step."""
