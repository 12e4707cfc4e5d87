"""Right kernels of each op: the first runs in each order of sums, the others are the reformulations people use."""
from functools import partial

from any_op import kernels_held_out as held_out
from any_op import kernels_rule as rule
from any_op import shared_steps as steps

FLASH = {"flash": {"product": steps.flash_product},
         "flash in base 2": {"product": partial(steps.flash_product, base2=True)},
         "normalised last": {"product": steps.late_softmax_product}}


def _flash(kernel):
    return {name: partial(kernel, **keywords) for name, keywords in FLASH.items()}


RIGHT = {
    "linear": {"plain": rule.linear},
    "causal_attention": {"plain": rule.causal_attention, **_flash(rule.causal_attention),
                         "queries scaled first": partial(rule.causal_attention, scaled_first=True)},
    "rmsnorm": {"plain": rule.rmsnorm, "reciprocal root": partial(rule.rmsnorm, root="reciprocal")},
    "layernorm": {"plain": rule.layernorm, "Welford": partial(rule.layernorm, moments=steps.welford_variance),
                  "Welford in lanes": partial(rule.layernorm, moments=steps.welford_of_lanes),
                  "merged pairs": partial(rule.layernorm, moments=steps.pairs_variance)},
    "swiglu": {"plain": rule.swiglu, "sigmoid by tanh": partial(rule.swiglu, sigmoid=steps.sigmoid_by_tanh)},
    "rope": {"plain": rule.rope, "exp2": partial(rule.rope, by_exp2=True), "table": rule.rope_by_table},
    "cross_entropy": {"plain": rule.cross_entropy, "online": rule.online_cross_entropy},
    "conv2d": {"plain": rule.conv2d, "tap by tap": rule.conv2d_by_taps},
    "topk": {"plain": rule.topk, "last of equals": partial(rule.topk, last_tie=True)},
    "moe": {"plain": rule.moe, "softmax of all, normalised": partial(rule.moe, normalised="twice")},
    "int4_product": {"plain": rule.int4_product, "scaled late": rule.int4_product_scaled_late},
    "linear_backward": {"plain": rule.linear_backward},
    "logsumexp": {"plain": rule.logsumexp, "base 2": rule.logsumexp_base2, "online": rule.online_logsumexp},
    "groupnorm": {"plain": rule.groupnorm, "Welford": partial(rule.groupnorm, moments=steps.welford_variance),
                  "Welford in lanes": partial(rule.groupnorm, moments=steps.welford_of_lanes),
                  "merged pairs": partial(rule.groupnorm, moments=steps.pairs_variance)},
    "cumprod": {"plain": rule.cumprod, "scan": rule.cumprod_by_scan},
    "softmax": {"plain": rule.softmax, "online": rule.online_softmax, "logarithms": rule.softmax_of_logarithms},
    "l2_normalise": {"plain": rule.l2_normalise, "reciprocal root": partial(rule.l2_normalise, root="reciprocal")},
    "kl_divergence": {"plain": rule.kl_divergence, "joint logarithm": partial(rule.kl_divergence, joint=True)},
    "gru_cell": {"plain": rule.gru_cell, "sigmoid by tanh": partial(rule.gru_cell, sigmoid=steps.sigmoid_by_tanh),
                 "step from candidate": partial(rule.gru_cell, blend="step")},
    "mish": {"plain": rule.mish, "ratio": rule.mish_by_ratio},
    "relu2_mlp": {"plain": rule.relu2_mlp, "transposed": rule.relu2_mlp_transposed},
    "variance": {"plain": rule.variance, "Welford in one lane": partial(rule.variance, moments=steps.welford_variance),
                 "Welford": partial(rule.variance, moments=steps.welford_of_lanes),
                 "merged pairs": partial(rule.variance, moments=steps.pairs_variance)},
    "linear_attention": {"plain": rule.linear_attention, "quadratic": rule.quadratic_attention},
    "residual": {"plain": rule.residual, "in order": rule.residual_in_order},
    "bilinear_upsample": {"plain": rule.bilinear_upsample, "columns first": rule.bilinear_columns_first},
    "adamw_step": {"plain": rule.adamw_step, "step by step": partial(rule.adamw_step, by_step=True)},
    "batchnorm_inference": {"plain": held_out.batchnorm_inference, "folded": held_out.folded_batchnorm},
    "focal_loss": {"plain": held_out.focal_loss, "shares": held_out.focal_loss_of_shares},
    "depthwise_conv": {"plain": held_out.depthwise_conv, "from the bias": held_out.depthwise_conv_from_bias},
    "alibi_attention": {"plain": held_out.alibi_attention, **_flash(held_out.alibi_attention),
                        "bias of columns": partial(held_out.alibi_attention, by_column=True)},
    "ssm_scan": {"plain": held_out.ssm_scan, "blocks": held_out.ssm_scan_by_blocks},
    "lstm_cell": {"plain": held_out.lstm_cell, "one product": held_out.lstm_cell_of_one_product,
                  "sigmoid by tanh": partial(held_out.lstm_cell, sigmoid=steps.sigmoid_by_tanh)},
    "cosine_similarity": {"plain": held_out.cosine_similarity, "normalised first": held_out.cosine_of_normalised,
                          "one root": partial(held_out.cosine_similarity, rooted="together")},
    "pairwise_distance": {"plain": held_out.pairwise_distance, "one product": held_out.pairwise_distance_by_product},
    "huber_loss": {"plain": held_out.huber_loss, "clipped": held_out.huber_loss_clipped},
    "softmax_backward": {"plain": held_out.softmax_backward,
                         "normalised late": held_out.softmax_backward_normalised_late},
    "laplacian": {"plain": held_out.laplacian, "differences": held_out.laplacian_of_differences},
}

# Right for inputs that move by a roundoff, but with errors that the independent noise of a trace averages out at a large
# mean: counted apart.
LOSSY = {("variance", "Welford in one lane"), ("kl_divergence", "joint logarithm")}
