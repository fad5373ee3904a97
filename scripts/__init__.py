"""Commands of the project. Run them from its root: `python -m scripts.<name>`."""
