"""Errors, checks, arrays, distributions and statistics that every other package uses. No torch."""
