"""The page that shows the whole pipeline."""
