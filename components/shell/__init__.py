"""What stands around every page: the stages, the pipeline strip, the sidebar."""
