"""What goes on the Hub: a metric as a Space, a dataset as a folder of Parquet files."""
