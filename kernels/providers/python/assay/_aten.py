"""Primitives of PyTorch (aten) and how each rounds. Names are those of the functional form: `add` for add_ and out=."""
import math

# Moves, comparisons and choices: their results are exact.
MOVES = set("""
    abs adaptive_max_pool2d adaptive_max_pool3d alias amax amin aminmax argmax argmin argsort as_strided
    as_strided_copy bernoulli bitwise_and bitwise_not bitwise_or bitwise_xor broadcast_to bucketize cat ceil
    channel_shuffle clamp clamp_max clamp_min clip clone complex conj_physical constant_pad_nd contiguous copy copysign
    cummax cummin detach diag diag_embed diagonal diagonal_copy diagonal_scatter embedding empty empty_like
    empty_permuted empty_strided eq expand expand_copy eye fill fix flip floor fmax fmin fractional_max_pool2d
    fractional_max_pool3d full_like gather ge gt hardshrink hardtanh heaviside im2col imag index index_copy index_fill
    index_put index_select isfinite isinf isnan kthvalue le lt masked_fill masked_scatter masked_select max
    max_pool2d_with_indices max_pool3d_with_indices max_unpool2d max_unpool3d maximum median min minimum mode
    nan_to_num nanmedian narrow narrow_copy native_channel_shuffle ne neg negative new_empty new_empty_strided new_full
    new_ones new_zeros nonzero normal normal_functional one_hot ones ones_like permute permute_copy pixel_shuffle
    pixel_unshuffle positive put rand rand_like randint randint_like randn randn_like randperm real reflection_pad1d
    reflection_pad2d reflection_pad3d relu relu6 repeat repeat_interleave replication_pad1d replication_pad2d
    replication_pad3d reshape resize roll rot90 round scatter searchsorted select select_copy select_scatter set sgn
    sign signbit slice slice_copy slice_scatter sort split split_copy split_with_sizes split_with_sizes_copy squeeze
    squeeze_copy stack t t_copy take threshold threshold_backward topk transpose transpose_copy tril triu trunc unbind
    unbind_copy unfold unfold_copy uniform unique_consecutive unique_dim unsafe_chunk unsafe_split
    unsafe_split_with_sizes unsqueeze unsqueeze_copy upsample_nearest1d upsample_nearest2d upsample_nearest3d view
    view_as_complex view_as_real view_copy where zero zeros zeros_like _conj _conj_physical _copy_from
    _local_scalar_dense _neg_view _reshape_alias _reshape_copy _to_copy _unique2 _unsafe_index _unsafe_index_put
    _unsafe_view _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
""".split())

# One rounding each, constants among them. The value says whether it keeps integers integers, as + - * do.
ROUNDED = {**dict.fromkeys("add sub rsub mul multiply subtract arange full lift lift_fresh lift_fresh_copy "
                           "scalar_tensor".split(), True),
           **dict.fromkeys("div divide true_divide floor_divide remainder fmod frac sqrt rsqrt reciprocal linspace "
                           "logspace".split(), False)}

# Functions of a library: wrong by some roundoffs of their arguments and of their result.
FUNCTIONS = set("""
    acos acosh angle arccos arcsin arctan arctan2 asin asinh atan atan2 atanh cos cosh deg2rad digamma erf erfc erfinv
    exp exp2 expm1 float_power hypot i0 lgamma log log10 log1p log2 logaddexp logaddexp2 logcumsumexp polygamma pow
    rad2deg sigmoid sin sinc sinh special_bessel_j0 special_bessel_j1 special_erfcx special_i0e special_i1
    special_i1e special_log_ndtr special_ndtr special_ndtri special_zeta tan tanh
""".split())


def _of_matrices(values, _):
    return values["self"].shape[-1]


def _of_convolution(values, _):
    weight = values["weight"]
    across = weight.numel() // max(1, weight.shape[0])
    if not values["transposed"]:
        return across
    groups = values["groups"]  # a transposed kernel has its inputs first
    return across * weight.shape[0] // max(1, groups * weight.shape[1])


def ratio(values, result):
    """Returns how many elements of the operand make one of the result."""
    return max(1, values["self"].numel() // max(1, result.numel()))


def _of_window(values, _):
    return math.prod(values["kernel_size"])


# Sums of products: names of the factors, and how many terms one element of the result has.
CONTRACTIONS = {
    "mm": (("self", "mat2"), _of_matrices),
    "bmm": (("self", "mat2"), _of_matrices),
    "mv": (("self", "vec"), _of_matrices),
    "dot": (("self", "tensor"), _of_matrices),
    "vdot": (("self", "other"), _of_matrices),
    "convolution": (("input", "weight"), _of_convolution),
    "sum": (("self",), ratio),
    "nansum": (("self",), ratio),
    "trace": (("self",), lambda values, _: max(1, min(values["self"].shape))),
    "cumsum": (("self",), lambda values, _: values["self"].shape[values["dim"]] if values["self"].dim() else 1),
    "col2im": (("self",), _of_window),
}

# Sums that end in a quotient: no integers stay integers.
AVERAGES = {
    "avg_pool2d": _of_window,
    "avg_pool3d": _of_window,
    "_adaptive_avg_pool2d": ratio,
    "_adaptive_avg_pool3d": ratio,
}

# Products along a dimension.
PRODUCTS = {"prod", "cumprod"}

# Sums into places that an index names. Values: the names of what is summed.
SCATTERED = {"index_add": "source", "scatter_add": "src", "index_put": "values"}

FOURIER = {"_fft_r2c", "_fft_c2r", "_fft_c2c"}
