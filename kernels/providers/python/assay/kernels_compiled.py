"""The Model of a problem by torch.compile: `assay run --problem FILE.py --kernels compiled`. _solutions.py makes it."""
from assay._source import Refusal

raise Refusal("'compiled' is the Model of a problem by torch.compile: name the problem by --problem FILE.py")
