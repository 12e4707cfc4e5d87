"""Which cases are compared: the ops of peers.py at sizes that fill a machine, in f32 and bf16."""
from __future__ import annotations

from dataclasses import dataclass

from lib.peers import PEERS, Peer, peer_key

DTYPES = ("f32", "bf16")
N = 1 << 24
# At 16 Mi elements a round of sort, which Assay verifies by several launches, takes half a minute.
SORTED_N = 1 << 20

SHAPES = {
    "random": f"n={N},seed=1",
    "sort": f"n={SORTED_N}",
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
    params: dict[str, int | str]

    @property
    def peer(self) -> Peer:
        return PEERS[peer_key(self.op, self.params)]


def parse_case(case_id: str) -> Case:
    """Raises ValueError for what has no row in peers.py."""
    parts = case_id.split("/")
    if len(parts) == 3 and parts[0] == "linear":
        op, dtype, text = "linear", parts[1], parts[2]
    elif len(parts) == 4 and parts[0] == "tensor_ops":
        op, dtype, text = parts[1:]
    else:
        raise ValueError(f"'{case_id}' is no case of tensor_ops or linear")
    params: dict[str, int | str] = {}
    for pair in text.split(","):
        name, _, value = pair.partition("=")
        params[name] = int(value) if value.isdigit() else value
    if op == "linear" and params.get("bias") != 1:
        raise ValueError(f"'{case_id}': linear is compared with a bias")
    if peer_key(op, params) not in PEERS or dtype not in DTYPES or "ld" in params:
        raise ValueError(f"'{case_id}' has no peer: ops {', '.join(PEERS)}; dtypes {', '.join(DTYPES)}; no ld")
    return Case(case_id, op, dtype, params)


def all_cases() -> list[Case]:
    ids = []
    for dtype in DTYPES:
        for op in (name for name in PEERS if " " not in name):
            shape = SHAPES.get(op, f"n={N}")
            if op == "cast":
                shape = f"to={'bf16' if dtype == 'f32' else 'f32'},n={N}"
            ids.append(f"tensor_ops/{op}/{dtype}/{shape}")
        shapes = [(shape, "none") for shape in LINEAR_SHAPES] + list(LINEAR_ACTIVATED)
        ids += [f"linear/{dtype}/batch={batch},in={fan_in},out={out},bias=1,act={act}"
                for (batch, fan_in, out), act in shapes]
    return [parse_case(case_id) for case_id in ids]
