"""Kernels that are wrong as published reports say: scripts/published-bugs offers them one by one.

    ASSAY_BUG="triton#3281" assay run --check-only --kernels tests/published/bugs.py --filter /sum/
    ASSAY_BUG="right:triton#3281" assay run ...    the same code without the defect: must pass
"""
import functools
import os

import numpy as np

import assay
from collection import bugs

chosen = os.environ.get("ASSAY_BUG", "")
broken = not chosen.startswith("right:")
name = chosen.removeprefix("right:")
if name not in bugs:
    raise ValueError(f"ASSAY_BUG={chosen!r} names no bug; choose among {', '.join(sorted(bugs))}")
np.seterr(all="ignore")  # test data overflow on purpose
bug = bugs[name]
assay.provider(chosen)
assay.kernel(bug.op, bug.dtypes, "numpy", views=bug.views)(functools.partial(bug.kernel, broken=broken))
