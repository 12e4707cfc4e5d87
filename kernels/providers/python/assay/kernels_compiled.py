"""The Model of a problem, or the reference of an op, by torch.compile: _solutions.py and _own_kernels.py make it."""
from assay._source import Refusal

raise Refusal("'compiled' is a reference in PyTorch by torch.compile: name its file by --problem or --own-ops")
