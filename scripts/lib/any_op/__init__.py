"""The parts of scripts/any-op-table: how often right kernels of any op are refused, and wrong ones missed."""
