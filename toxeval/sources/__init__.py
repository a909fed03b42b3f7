"""A benchmark's own files: fetched from where they are published or taken from the user's copy, checked, and read."""
