"""What every page shares: header and footer, loading, jobs, results of the engine."""
