"""Where the input cases that broke other tools are tested, if not in test_cases.py, and why some don't apply."""

INVARIANTS = "tests/metrics/test_invariants.py"
ORACLE = "tests/metrics/test_oracle_collab.py"
CONDA = "tests/metrics/test_conda_joint.py"
DIA = "tests/metrics/test_dia_safety_rate_cases.py"
INTERVALS = "tests/core/test_intervals.py"
RUNS = "tests/test_systems.py"

#: Case -> "file::function" that tests it.
TESTED_BY = {
    "label-17-unstable-schema": f"{INVARIANTS}::test_keys_never_depend_on_the_data",
    "auc-03-zero-hides-misuse": f"{ORACLE}::test_case_one_class",
    "auc-04-inconsistent-pair": f"{ORACLE}::test_case_one_class",
    "auc-05-ap-no-positives": f"{ORACLE}::test_case_one_class",
    "auc-12-prob-rows": f"{ORACLE}::test_case_columns_that_do_not_sum_to_one",
    "oracle-01-fraction-one": f"{ORACLE}::test_case_accuracy",
    "oracle-02-exact-small": f"{ORACLE}::test_case_accuracy",
    "oracle-04-non-default-threshold": f"{ORACLE}::test_case_two_columns_and_another_threshold",
    "oracle-05-budget-rounding": f"{ORACLE}::test_case_budget_rounding",
    "oracle-06-ties-order": f"{ORACLE}::test_case_accuracy",
    "oracle-07-monotone-transform": f"{ORACLE}::test_case_monotone_transform",
    "oracle-12-bin-zero": f"{ORACLE}::test_case_first_and_last_bin",
    "oracle-13-dropped-tail": f"{ORACLE}::test_case_first_and_last_bin",
    "label-18-superset-labels": f"{CONDA}::test_case_label_18_superset_labels",
    "conda-02-single-letter-tags": f"{CONDA}::test_case",
    "conda-04-pad-string": f"{CONDA}::test_refused_case",
    "conda-05-minus-100": f"{CONDA}::test_case",
    "conda-06-mask-by-reference-only": f"{CONDA}::test_case",
    "conda-07-lenient-scheme": f"{CONDA}::test_refused_case",
    "conda-08-false-positive-class": f"{CONDA}::test_case",
    "conda-10-empty-slot-list": f"{CONDA}::test_case",
    "conda-12-definition-unclear": f"{CONDA}::test_case_conda_12_definition_unclear",
    "conda-13-truncation": f"{CONDA}::test_refused_case",
    "conda-16-seq-accuracy-masks": f"{CONDA}::test_case",
    "conda-17-padding-inflates": f"{CONDA}::test_case",
    "batch-02-entity-f1": f"{CONDA}::test_case_batch_02_entity_f1",
    "data-07-hidden-test": f"{CONDA}::test_refused_case",
    "label-09-target-names-crash": f"{DIA}::test_case_label_09_target_names_crash",
    "label-23-taxonomy-mismatch": f"{DIA}::test_case_label_23_taxonomy_mismatch",
    "dia-04-denominator": f"{DIA}::test_case_dia_04_denominator",
    "dia-05-verdict-parsing": f"{DIA}::test_case_dia_05_verdict_parsing",
    "dia-06-partial-category-filter": f"{DIA}::test_case_dia_06_partial_category_filter",
    "dia-07-toxic-label-missing": f"{DIA}::test_case_dia_07_toxic_label_missing",
    "dia-08-classifier-or-generator": f"{DIA}::test_case_dia_08_classifier_or_generator",
    "dia-09-rate-interval": f"{DIA}::test_case_dia_09_rate_interval",
    "ci-05-group-missing": f"{DIA}::test_case_ci_05_group_missing",
    "out-06-classwise-logging": f"{DIA}::test_case_out_06_classwise_logging",
    "conda-15-subtoken-shift": "tests/test_subtokens.py::test_the_first_sub_token_speaks_for_the_word",
    "batch-01-macro-per-batch": f"{INVARIANTS}::test_any_split_into_batches_gives_the_result_of_one_compute",
    "out-01-int64": f"{INVARIANTS}::test_complete_valid_data_give_no_warning",
    "out-02-seqeval-json": f"{INVARIANTS}::test_values_are_plain_numbers_that_json_takes",
    "out-05-best-metric-key": "tests/test_cards.py::test_tables_list_what_compute_returns",
    "out-08-own-serializer": f"{INVARIANTS}::test_values_are_plain_numbers_that_json_takes",
    "load-04-concurrent": "tests/test_load.py::test_processes_side_by_side_in_one_home",
    "load-05-multinode": f"{INVARIANTS}::test_merging_states_is_associative_and_commutative",
    "load-06-umask": "tests/test_load.py::test_two_processes_give_the_result_of_one",
    "load-07-orphans": f"{INVARIANTS}::test_no_file_is_written",
    "load-08-stuck-lock": "tests/test_load.py::test_processes_side_by_side_in_one_home",
    "load-13-wrong-function-named": "tests/metrics/test_refusals.py::test_no_column_at_all",
    "seed-01-mean-of-f": f"{RUNS}::test_case_seed_01_mean_of_f",
    "seed-02-ddof": f"{RUNS}::test_case_seed_02_ddof",
    "seed-04-std-of-what": f"{RUNS}::test_case_seed_04_std_of_what",
    "seed-05-one-run": f"{RUNS}::test_case_seed_05_one_run",
    "seed-06-runs-misaligned": f"{RUNS}::test_case_seed_06_runs_misaligned",
    "ci-02-nan-bootstrap": f"{INTERVALS}::test_case_ci_02_nan_bootstrap",
    "ci-03-stratify-request": f"{INTERVALS}::test_case_ci_03_stratify_request",
    "ci-04-hardcoded": f"{INTERVALS}::test_case_ci_04_hardcoded",
    "ci-06-slow-naive": f"{INTERVALS}::test_case_ci_06_slow_naive",
    "ci-07-seed": f"{INTERVALS}::test_case_ci_07_seed",
    "ci-08-mcnemar-identical": f"{RUNS}::test_case_ci_08_mcnemar_identical",
}

_OTHER_PART = "belongs to a part with tests of its own, not to the metrics: "
_DATA = _OTHER_PART + "the dataset builders"

#: Case -> why it isn't a test of the metrics.
NOT_APPLICABLE = {
    "label-20-align-mapping": "an id is a position in the declared order; labels in another order are passed by name",
    "oracle-09-keras3": "nothing here uses TensorFlow or Keras; reference values are plain numbers",
    "oracle-10-missing-repo": "no external code is a dependency; figures to check against are files of numbers",
    "conda-14-tuple-predictions": _OTHER_PART + "the Trainer's compute_metrics",
    "dia-03-none-scores": "the data have no toxicity scores; a missing verdict is refused or counted, never harmless",
    "out-11-combine-clash": "keys follow scikit-learn's scorer names in every module, so that they mean what they say; "
    "evaluate.combine tells equal ones apart by force_prefix",
    "load-03-slow": "no test asserts a time; the benchmarks measure it",
    "load-17-gradio-drift": _OTHER_PART + "the demo page",
    "data-01-scripts-gone": _DATA,
    "data-02-trust-flag": _DATA,
    "data-03-null-utterance": _DATA,
    "data-04-checksum": _DATA,
    "data-05-split-sizes": _DATA,
    "data-08-zwj": _DATA,
    "data-10-pin-revision": _DATA,
    "data-11-utterance-slots": _DATA,
}

_CLI, _SPLIT = "tests/cli/test_roads.py", "tests/datasets/test_sold.py"

#: Report of a wrong number on the way of predictions to a score -> the test of it.
ROADS_TESTED_BY = {
    "road-01-process-substitution": f"{_CLI}::test_pipes_are_read_whole",
    "road-03-dev-stdin": f"{_CLI}::test_pipes_are_read_whole",
    "road-06-raw-quotes-tsv": f"{_CLI}::test_raw_quotes",
    "road-14-confidence-of-top-label": f"{_CLI}::test_confidences_of_the_predicted_label",
    "road-15-mplbackend": "tests/test_plots.py::test_the_backend_of_a_notebook_is_no_matter",
    "road-17-legend-dollar": "tests/test_plots.py::test_names_are_shown_as_they_are",
    "road-18-result-bom": f"{_CLI}::test_results_as_powershell_saves_them",
    "road-23-logged-twice": f"{_CLI}::test_a_run_that_was_logged_twice",
    "road-33-nan-group": "tests/spark/test_spark.py::test_rows_whose_key_is_no_number_are_one_group",
    "road-41-page-strips": "tests/read/test_tables.py::test_what_the_pages_once_forgave",
    "road-43-one-split": f"{_SPLIT}::test_one_split_needs_one_file",
    "road-46-other-revision": f"{_SPLIT}::test_damage_stops_with_file_and_line",
    "road-47-generations-of-ones-own": "tests/datasets/test_dia_safety.py::test_replies_of_a_chatbot_of_ones_own",
    "road-48-post-id": f"{_CLI}::test_what_a_rationale_left_empty",
}
