"""What the YAML files beside this one name; lm-evaluation-harness looks for it here."""

from toxeval.harness.lm_eval import named_in_yaml

globals().update(named_in_yaml())
