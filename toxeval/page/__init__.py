"""The demo page every metric shows."""
