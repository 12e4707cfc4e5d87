"""Which cases are compared: the ops that PyTorch has too, at sizes that fill a machine, in f32 and bf16."""
from __future__ import annotations

from dataclasses import dataclass

DTYPES = ("f32", "bf16")
N = 1 << 24

GROUPS = {
    "elementwise": "fill copy cast neg abs add sub mul div fma scale square sqrt relu min max less equal where clamp floor "
                   "ceil round isnan",
    "function": "exp log tanh sigmoid gelu gelu_tanh pow",
    "broadcast": "add_broadcast mul_broadcast div_broadcast max_broadcast less_broadcast where_broadcast",
    "reduction": "sum prod mean reduce_min reduce_max argmax dot norm2 logsumexp",
    "axis": "sum_axis prod_axis mean_axis norm2_axis logsumexp_axis reduce_min_axis reduce_max_axis argmax_axis "
            "argmin_axis softmax_axis layernorm_axis",
    "scan": "scan scan_axis",
    "sort": "sort argsort sort_axis argsort_axis topk unique",
    "rowwise": "softmax layernorm rmsnorm",
    "layout": "transpose gather concat slice pad flip repeat",
    "view": "copy add",
    "batched_matmul": "batched_matmul",
    "linear": "linear linear_dx linear_dw",
}

COPIED = "torch cannot write its result to a given tensor: a copy of it is timed as well"

# Not the same work: in no mean.
UNLIKE = {
    **dict.fromkeys(("sort", "sort_axis"), "torch returns the permutation as well"),
    **dict.fromkeys(("layernorm", "layernorm_axis", "rmsnorm", "isnan", "flip", "repeat", "unique"), COPIED),
}

# 16 Mi elements. An axis is that of rows, which lie together, or of columns; an operand is repeated likewise.
ROWS, COLUMNS = "outer=16384,n=1024,inner=1", "outer=1,n=16384,inner=1024"

SHAPES = {
    "sort": (f"n={1 << 20}",),
    "argsort": (f"n={1 << 20}",),
    "unique": (f"n={1 << 20}",),
    "sort_axis": ("outer=1024,n=1024,inner=1", "outer=1,n=1024,inner=1024"),
    "argsort_axis": ("outer=1024,n=1024,inner=1", "outer=1,n=1024,inner=1024"),
    "topk": ("rows=16384,cols=1024,k=8",),
    "softmax": ("rows=16384,cols=1024",),
    "layernorm": ("rows=16384,cols=1024",),
    "rmsnorm": ("rows=16384,cols=1024",),
    "transpose": ("rows=4096,cols=4096",),
    "gather": ("rows=30522,cols=768,count=21845",),  # 16 Mi elements of BERT's embedding
    "concat": ("outer=4096,n=2048,inner=1,m=2048",),
    "slice": ("outer=4096,n=4096,inner=1,start=1,count=2047,step=2",),
    "pad": ("outer=4096,n=4032,inner=1,before=31,after=33",),
    "flip": ("outer=4096,n=4096,inner=1",),
    "repeat": ("outer=4096,n=2048,inner=1,times=2",),
    "batched_matmul": ("batch=96,m=128,n=128,k=64",),
}

VIEWS = {"copy": "transposed", "add": "first_transposed"}

# Batch, in, out. Those of the suite, but for its three largest, whose batch is smaller here: without bf16
# instructions torch takes some 20 s for one bf16 product of theirs.
LINEAR_SHAPES = (
    (1, 4096, 1000), (1, 4096, 11008), (16, 4096, 32000), (64, 1024, 1024), (128, 784, 512), (128, 4096, 11008),
    (128, 11008, 4096), (256, 4096, 4096), (512, 768, 3072), (512, 3072, 768), (512, 4096, 4096), (4096, 1024, 1024),
)
LINEAR_ACTIVATED = (((512, 768, 3072), "gelu"), ((4096, 1024, 1024), "relu"))


# Its gradients, at some of them.
GRADIENT_SHAPES = ((128, 784, 512), (512, 768, 3072), (512, 3072, 768), (256, 4096, 4096), (4096, 1024, 1024))


@dataclass(frozen=True)
class Case:
    id: str
    group: str
    op: str
    dtype: str

    @property
    def unlike(self) -> str:
        return UNLIKE.get(self.op, "")


def shapes_of(group: str, op: str, dtype: str) -> list[str]:
    """The parameters of an op's cases."""
    if group == "view":
        return [f"n={N},cols=4096,view={VIEWS[op]}"]
    if op.endswith("_broadcast"):
        return [f"{shape},repeat=b" for shape in (ROWS, COLUMNS)]
    if op == "linear":
        shapes = [(shape, "none") for shape in LINEAR_SHAPES] + list(LINEAR_ACTIVATED)
        return [f"batch={batch},in={fan_in},out={out},bias=1,act={act}" for (batch, fan_in, out), act in shapes]
    if op.startswith("linear_"):
        return [f"batch={batch},in={fan_in},out={out}" for batch, fan_in, out in GRADIENT_SHAPES]
    if op == "cast":
        return [f"to={'bf16' if dtype == 'f32' else 'f32'},n={N}"]
    return list(SHAPES.get(op, (ROWS, COLUMNS) if op.endswith("_axis") else (f"n={N}",)))


def all_cases() -> list[Case]:
    suites = {"view": "views", "linear": "linear"}
    cases = []
    for dtype in DTYPES:
        for group, ops in GROUPS.items():
            for op in ops.split():
                path = "linear" if op == "linear" else f"{suites.get(group, 'tensor_ops')}/{op}"
                cases += [Case(f"{path}/{dtype}/{shape}", group, op, dtype) for shape in shapes_of(group, op, dtype)]
    return cases
