"""What every metric stands on. It needs NumPy, and nothing else of this package or of others."""
