"""The benchmarks as tasks for language models, in lm-evaluation-harness and in inspect."""
