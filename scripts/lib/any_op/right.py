"""Right kernels of each op: the first runs in each order of sums, the others are the reformulations people use."""
from functools import partial

from any_op import kernels_elementwise as elementwise
from any_op import kernels_held_out as held_out
from any_op import kernels_products as products
from any_op import kernels_reductions as reductions
from any_op import shared_steps as steps

FLASH = {"flash": {"product": steps.flash_product},
         "flash in base 2": {"product": partial(steps.flash_product, base2=True)},
         "normalised last": {"product": steps.late_softmax_product}}


def _flash(kernel):
    return {name: partial(kernel, **keywords) for name, keywords in FLASH.items()}


RIGHT = {
    "linear": {"plain": products.linear},
    "causal_attention": {
        "plain": products.causal_attention,
        **_flash(products.causal_attention),
        "queries scaled first": partial(products.causal_attention, scaled_first=True),
    },
    "rmsnorm": {
        "plain": reductions.rmsnorm,
        "reciprocal root": partial(reductions.rmsnorm, root="reciprocal"),
    },
    "layernorm": {
        "plain": reductions.layernorm,
        "Welford": partial(reductions.layernorm, moments=steps.welford_variance),
        "Welford in lanes": partial(reductions.layernorm, moments=steps.welford_of_lanes),
        "merged pairs": partial(reductions.layernorm, moments=steps.pairs_variance),
    },
    "swiglu": {
        "plain": products.swiglu,
        "sigmoid by tanh": partial(products.swiglu, sigmoid=steps.sigmoid_by_tanh),
    },
    "rope": {
        "plain": elementwise.rope,
        "exp2": partial(elementwise.rope, by_exp2=True),
        "table": elementwise.rope_by_table,
    },
    "cross_entropy": {"plain": reductions.cross_entropy, "online": reductions.online_cross_entropy},
    "conv2d": {"plain": products.conv2d, "tap by tap": products.conv2d_by_taps},
    "topk": {"plain": elementwise.topk, "last of equals": partial(elementwise.topk, last_tie=True)},
    "moe": {"plain": products.moe, "softmax of all, normalised": partial(products.moe, normalised="twice")},
    "int4_product": {"plain": products.int4_product, "scaled late": products.int4_product_scaled_late},
    "linear_backward": {"plain": products.linear_backward},
    "logsumexp": {
        "plain": reductions.logsumexp,
        "base 2": reductions.logsumexp_base2,
        "online": reductions.online_logsumexp,
    },
    "groupnorm": {
        "plain": reductions.groupnorm,
        "Welford": partial(reductions.groupnorm, moments=steps.welford_variance),
        "Welford in lanes": partial(reductions.groupnorm, moments=steps.welford_of_lanes),
        "merged pairs": partial(reductions.groupnorm, moments=steps.pairs_variance),
    },
    "cumprod": {"plain": elementwise.cumprod, "scan": elementwise.cumprod_by_scan},
    "softmax": {
        "plain": reductions.softmax,
        "online": reductions.online_softmax,
        "logarithms": reductions.softmax_of_logarithms,
    },
    "l2_normalise": {
        "plain": reductions.l2_normalise,
        "reciprocal root": partial(reductions.l2_normalise, root="reciprocal"),
    },
    "kl_divergence": {
        "plain": reductions.kl_divergence,
        "joint logarithm": partial(reductions.kl_divergence, joint=True),
    },
    "gru_cell": {
        "plain": products.gru_cell,
        "sigmoid by tanh": partial(products.gru_cell, sigmoid=steps.sigmoid_by_tanh),
        "step from candidate": partial(products.gru_cell, blend="step"),
    },
    "mish": {"plain": elementwise.mish, "ratio": elementwise.mish_by_ratio},
    "relu2_mlp": {"plain": products.relu2_mlp, "transposed": products.relu2_mlp_transposed},
    "variance": {
        "plain": reductions.variance,
        "Welford in one lane": partial(reductions.variance, moments=steps.welford_variance),
        "Welford": partial(reductions.variance, moments=steps.welford_of_lanes),
        "merged pairs": partial(reductions.variance, moments=steps.pairs_variance),
    },
    "linear_attention": {"plain": products.linear_attention, "quadratic": products.quadratic_attention},
    "residual": {"plain": elementwise.residual, "in order": elementwise.residual_in_order},
    "bilinear_upsample": {
        "plain": elementwise.bilinear_upsample,
        "columns first": elementwise.bilinear_columns_first,
    },
    "adamw_step": {
        "plain": elementwise.adamw_step,
        "step by step": partial(elementwise.adamw_step, by_step=True),
    },
    "batchnorm_inference": {"plain": held_out.batchnorm_inference, "folded": held_out.folded_batchnorm},
    "focal_loss": {"plain": held_out.focal_loss, "shares": held_out.focal_loss_of_shares},
    "depthwise_conv": {"plain": held_out.depthwise_conv, "from the bias": held_out.depthwise_conv_from_bias},
    "alibi_attention": {
        "plain": held_out.alibi_attention,
        **_flash(held_out.alibi_attention),
        "bias of columns": partial(held_out.alibi_attention, by_column=True),
    },
    "ssm_scan": {"plain": reductions.ssm_scan, "blocks": reductions.ssm_scan_by_blocks},
    "lstm_cell": {
        "plain": held_out.lstm_cell,
        "one product": held_out.lstm_cell_of_one_product,
        "sigmoid by tanh": partial(held_out.lstm_cell, sigmoid=steps.sigmoid_by_tanh),
    },
    "cosine_similarity": {
        "plain": held_out.cosine_similarity,
        "normalised first": held_out.cosine_of_normalised,
        "one root": partial(held_out.cosine_similarity, rooted="together"),
    },
    "pairwise_distance": {
        "plain": held_out.pairwise_distance,
        "one product": held_out.pairwise_distance_by_product,
    },
    "huber_loss": {"plain": held_out.huber_loss, "clipped": held_out.huber_loss_clipped},
    "softmax_backward": {
        "plain": held_out.softmax_backward,
        "normalised late": held_out.softmax_backward_normalised_late,
    },
    "laplacian": {"plain": held_out.laplacian, "differences": held_out.laplacian_of_differences},
}

# Right for inputs that move by a roundoff, but at a large mean with errors that do not average out as the independent
# noise of a trace does: counted apart.
LOSSY = {("variance", "Welford in one lane"), ("kl_divergence", "joint logarithm")}
