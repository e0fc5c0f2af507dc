"""What a training loop gets from BatchWeave, beside other loaders and beside C++: ``python -m batchweave.bench``."""
