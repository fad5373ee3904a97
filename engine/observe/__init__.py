"""Hooks that record and change a forward pass, and the edits that can be made."""
