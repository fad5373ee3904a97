"""Page scripts of one section of the pipeline."""
