"""One short script a stage: read the settings, ask the engine, hand the results to components."""
