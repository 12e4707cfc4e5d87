"""Which cases are compared: the ops that PyTorch has too, at sizes that fill a machine, in f32 and bf16."""
from __future__ import annotations

from dataclasses import dataclass

DTYPES = ("f32", "bf16")
N = 1 << 24

GROUPS = {
    "elementwise": "fill copy cast neg abs add sub mul div fma scale square sqrt relu min max less equal where",
    "function": "exp log tanh sigmoid gelu gelu_tanh pow",
    "reduction": "sum prod mean reduce_min reduce_max argmax dot norm2",
    "scan": "scan",
    "sort": "sort",
    "rowwise": "softmax layernorm",
    "layout": "transpose gather",
    "batched_matmul": "batched_matmul",
    "linear": "linear",
}

# Not the same work: in no mean.
UNLIKE = {
    "sort": "torch returns the permutation as well",
    "layernorm": "torch cannot write its result to a given tensor: a copy of it is timed as well",
}

SHAPES = {
    "sort": f"n={1 << 20}",
    "softmax": "rows=16384,cols=1024",
    "layernorm": "rows=16384,cols=1024",
    "transpose": "rows=4096,cols=4096",
    "gather": "rows=30522,cols=768,count=21845",  # 16 Mi elements of BERT's embedding
    "batched_matmul": "batch=96,m=128,n=128,k=64",
}

# Batch, in, out. Those of the suite, but for its three largest, whose batch is smaller here: without bf16
# instructions torch takes some 20 s for one bf16 product of theirs.
LINEAR_SHAPES = (
    (1, 4096, 1000), (1, 4096, 11008), (16, 4096, 32000), (64, 1024, 1024), (128, 784, 512), (128, 4096, 11008),
    (128, 11008, 4096), (256, 4096, 4096), (512, 768, 3072), (512, 3072, 768), (512, 4096, 4096), (4096, 1024, 1024),
)
LINEAR_ACTIVATED = (((512, 768, 3072), "gelu"), ((4096, 1024, 1024), "relu"))


@dataclass(frozen=True)
class Case:
    id: str
    op: str
    dtype: str

    @property
    def group(self) -> str:
        return next(group for group, ops in GROUPS.items() if self.op in ops.split())

    @property
    def unlike(self) -> str:
        return UNLIKE.get(self.op, "")


def all_cases() -> list[Case]:
    cases = []
    for dtype in DTYPES:
        for op in " ".join(ops for group, ops in GROUPS.items() if group != "linear").split():
            shape = SHAPES.get(op, f"n={N}")
            if op == "cast":
                shape = f"to={'bf16' if dtype == 'f32' else 'f32'},n={N}"
            cases.append(Case(f"tensor_ops/{op}/{dtype}/{shape}", op, dtype))
        shapes = [(shape, "none") for shape in LINEAR_SHAPES] + list(LINEAR_ACTIVATED)
        cases += [Case(f"linear/{dtype}/batch={batch},in={fan_in},out={out},bias=1,act={act}", "linear", dtype)
                  for (batch, fan_in, out), act in shapes]
    return cases
