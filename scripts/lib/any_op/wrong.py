"""Wrong kernels of each op: what its author could get wrong. any_op.damage has what goes wrong with any op."""
from functools import partial

from any_op import kernels_elementwise as elementwise
from any_op import kernels_held_out as held_out
from any_op import kernels_products as products
from any_op import kernels_reductions as reductions
from any_op import shared_steps as steps
from any_op.formats import BF16, F16, stored

TO_BF16, TO_F16 = partial(stored, form=BF16), partial(stored, form=F16)
NO_RESCALE = partial(steps.flash_product, rescaled=False)
NO_SHIFT = partial(steps.late_softmax_product, shifted=False)
ONE_PASS = steps.one_pass_variance
DIVIDES_BY_LESS = partial(steps.centred_variance, fewer=1)

# Per op: a name, and the keywords of its kernel that make it so.
KEYWORDS = {
    products.linear: {"no bias": {"biased": False}},
    products.causal_attention: {
        "no scale": {"scale": 1},
        "scale of dim + 1": {"scale": 33 ** -0.5},
        "sees the next": {"ahead": 1},
        "does not see itself": {"ahead": -1},
        "no shift": {"product": NO_SHIFT},
        "no rescaling": {"product": NO_RESCALE},
    },
    reductions.rmsnorm: {
        "eps x10": {"eps": 1e-5},
        "no eps": {"eps": 0},
        "centred": {"centred": True},
        "n - 1": {"fewer": 1},
        "no gain": {"gained": False},
    },
    reductions.layernorm: {
        "one pass": {"moments": ONE_PASS},
        "n - 1": {"moments": DIVIDES_BY_LESS},
        "eps x10": {"eps": 1e-4},
        "no eps": {"eps": 0},
        "no shift": {"shifted": False},
    },
    products.swiglu: {"gates swapped": {"swapped": True}, "clipped": {"limit": 3}},
    elementwise.rope: {
        "base 1000": {"base": 1000.0},
        "position + 1": {"start": 1},
        "turned back": {"sign": -1},
        "interleaved": {"interleaved": True},
        "table in bf16": {"form": TO_BF16},
    },
    reductions.cross_entropy: {
        "no shift": {"shifted": False},
        "label + 1": {"label_shift": 1},
        "smoothing of 0.001": {"smoothing": 0.001},
        "maximum not added": {"top_added": False},
    },
    products.conv2d: {
        "flipped": {"flipped": True},
        "edge padding": {"top_padded": False},
        "a tap missing": {"tap": 8},
        "a channel missing": {"channel": -1},
    },
    elementwise.topk: {
        "by magnitude": {"magnitude": True},
        "last column unseen": {"columns": -1},
        "unsorted": {"in_order": False},
        "last repeated": {"kept": 7},
    },
    products.moe: {
        "shares of all": {"normalised": "all"},
        "first only": {"shares": (0, None)},
        "shares swapped": {"shares": (1, 0)},
        "capacity of 6": {"capacity": 6},
    },
    products.int4_product: {
        "next group's scale": {"shifted_group": 1},
        "zero points of 8": {"zeros": False},
        "signed": {"signed": True},
        "nibbles swapped": {"nibbles_swapped": True},
    },
    products.linear_backward: {
        "mean for bias": {"bias_scale": 1 / 128},
        "no bias": {"bias_scale": 0},
        "last row missing": {"rows": -1},
        "columns reversed": {"reverse": True},
    },
    reductions.logsumexp: {
        "no shift": {"shifted": False},
        "mean": {"divided": 256},
        "floor of -3": {"floor": -3},
        "eps of 1e-4": {"eps": 1e-4},
        "maximum not added": {"top_added": False},
    },
    reductions.groupnorm: {
        "one pass": {"moments": ONE_PASS},
        "n - 1": {"moments": DIVIDES_BY_LESS},
        "eps x10": {"eps": 1e-4},
        "8 groups": {"groups": 8},
        "no shift": {"shifted": False},
    },
    elementwise.cumprod: {
        "exclusive": {"exclusive": True},
        "restarts": {"restart": 64},
        "a factor missing": {"skipped": 100},
        "in bf16": {"form": TO_BF16},
        "in f16": {"form": TO_F16},
    },
    reductions.softmax: {
        "no shift": {"shifted": False},
        "a tile missing": {"columns": -128},
        "of columns": {"axis": 0},
        "eps of 0.1": {"eps": 0.1},
    },
    reductions.l2_normalise: {"sum of magnitudes": {"power": 1}, "eps of 1e-3": {"eps": 1e-3}},
    reductions.kl_divergence: {"reversed": {"reverse": True}, "cross entropy": {"entropy": False}},
    products.gru_cell: {"reset unused": {"reset_used": False}, "blend swapped": {"blend": "swapped"}},
    products.relu2_mlp: {"no relu": {"relu": False}, "not squared": {"squared": False}},
    reductions.variance: {"one pass": {"moments": ONE_PASS}, "n - 1": {"moments": DIVIDES_BY_LESS}},
    products.linear_attention: {"not normalised": {"normalised": False}, "eps of 0.1": {"eps": 0.1}},
    elementwise.residual: {"a term missing": {"used": False}},
    elementwise.bilinear_upsample: {
        "corners aligned": {"place": "corners"},
        "nearest": {"smooth": False},
        "wraps": {"edge": "wrap"},
        "weights swapped": {"swapped": True},
    },
    elementwise.adamw_step: {
        "eps of 1e-3": {"eps": 1e-3},
        "rate of 0.99": {"rate": 0.99},
        "no decay": {"decayed": False},
        "not squared": {"squared": False},
    },
    held_out.batchnorm_inference: {
        "eps x10": {"eps": 1e-4},
        "no root": {"rooted": False},
        "own mean": {"own_mean": True},
    },
    held_out.focal_loss: {
        "power of 3": {"power": 3},
        "no alpha": {"alpha": 1},
        "label + 1": {"label_shift": 1},
        "no shift": {"shifted": False},
    },
    held_out.depthwise_conv: {
        "sees the next": {"before": 2},
        "flipped": {"flipped": True},
        "a tap missing": {"taps": 3},
        "no bias": {"biased": False},
    },
    held_out.alibi_attention: {
        "next head's slope": {"next_head": 1},
        "sees the next": {"ahead": 1},
        "no bias": {"sign": 0},
        "bias turned": {"sign": -1},
        "bias scaled": {"bias_scaled": True},
        "no rescaling": {"product": NO_RESCALE},
    },
    reductions.ssm_scan: {
        "restarts": {"restart": 32},
        "late by one": {"shift": 1},
        "no skip": {"skipped": False},
        "state in bf16": {"form": TO_BF16},
        "last state missing": {"states": -1},
    },
    held_out.lstm_cell: {
        "gates swapped": {"input_first": False},
        "no bias": {"biased": False},
        "cell not bent": {"cell_bent": False},
    },
    held_out.cosine_similarity: {"one length": {"both": False}, "eps of 1e-2": {"eps": 1e-2}},
    held_out.pairwise_distance: {"no root": {"rooted": False}, "sum of magnitudes": {"power": 1}},
    held_out.huber_loss: {
        "width of 2": {"width": 2},
        "linear part off": {"linear_part": 0.4999},
        "sum": {"mean": False},
    },
    held_out.softmax_backward: {"not centred": {"centred": False}, "mean for centre": {"mean": True}},
    held_out.laplacian: {"centre of 3": {"centre": 3}, "a neighbour missing": {"last": False}},
}
WRONG = {kernel.__name__: {name: partial(kernel, **keywords) for name, keywords in variants.items()}
         for kernel, variants in KEYWORDS.items()}
WRONG["swiglu"]["gelu"] = products.swiglu_with_gelu
WRONG["mish"] = {"tail lost": elementwise.naive_mish, "swish": elementwise.swish}

# Known to the rule's authors as beyond it, and counted apart: an error of tiny outputs beside large ones.
LIMITS = {("mish", "tail lost")}
