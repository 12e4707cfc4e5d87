"""Ops of PyTorch (aten) that hide several steps, as these steps: each step then gets its own noise.

A function takes the arguments by the names of the op's schema; `**_` are those that change nothing here. One that
returns NotImplemented leaves the call to the tables of _aten.py.
"""
import math

import torch

COMPOSITES = {}


def _composite(*names):
    def register(function):
        for name in names:
            COMPOSITES[name] = function
        return function

    return register


def _dims(dim, tensor):
    """Returns a dim, a list of dims or None (all of them) as a list."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return list(range(tensor.dim()))
    return list(dim) if isinstance(dim, (list, tuple)) else [dim]


def _count(tensor, dims):
    return math.prod(tensor.shape[dim] for dim in dims) if tensor.dim() else 1


def _mean(x, dims):
    return x.sum(dims, keepdim=True) / _count(x, dims)


def _reduced(loss, reduction):
    """Applies a loss's reduction: 0 none, 1 mean, 2 sum."""
    return loss if reduction == 0 else loss.sum() / loss.numel() if reduction == 1 else loss.sum()


def _finite(largest):
    """Returns 0 for an infinite maximum, which would make differences NaN."""
    return torch.where(torch.isfinite(largest), largest, torch.zeros_like(largest))


# Sums, products and powers

@_composite("mean")
def mean(self, dim=None, keepdim=False, **_):
    dims = _dims(dim, self)
    return self.sum(dims, keepdim=keepdim) / _count(self, dims)


@_composite("addmm", "addbmm", "addmv", "_addmm_activation")
def addmm(self, mat1=None, mat2=None, batch1=None, batch2=None, mat=None, vec=None, beta=1, alpha=1, use_gelu=None,
          **_):
    if batch1 is not None:
        product = torch.bmm(batch1, batch2).sum(0)
    else:
        product = torch.mv(mat, vec) if mat is not None else torch.mm(mat1, mat2)
    total = _scaled_sum(self, product, beta, alpha)
    return total if use_gelu is None else gelu(total) if use_gelu else torch.relu(total)


@_composite("baddbmm")
def baddbmm(self, batch1, batch2, beta=1, alpha=1, **_):
    return _scaled_sum(self, torch.bmm(batch1, batch2), beta, alpha)


@_composite("addr")
def addr(self, vec1, vec2, beta=1, alpha=1, **_):
    return _scaled_sum(self, vec1.unsqueeze(1) * vec2, beta, alpha)


def _scaled_sum(added, product, beta, alpha):
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (added if beta == 1 else added * beta)


@_composite("addcmul")
def addcmul(self, tensor1, tensor2, value=1, **_):
    product = tensor1 * tensor2
    return self + (product if value == 1 else product * value)


@_composite("addcdiv")
def addcdiv(self, tensor1, tensor2, value=1, **_):
    quotient = tensor1 / tensor2
    return self + (quotient if value == 1 else quotient * value)


@_composite("lerp")
def lerp(self, end, weight, **_):
    return self + weight * (end - self)


@_composite("pow")
def power(self, exponent, **_):
    known = {0.5: torch.sqrt, -0.5: torch.rsqrt, 1: torch.clone, -1: torch.reciprocal, 2: lambda x: x * x,
             3: lambda x: x * x * x, -2: lambda x: 1 / (x * x)}
    if isinstance(exponent, torch.Tensor) or not isinstance(self, torch.Tensor) or exponent not in known:
        return NotImplemented
    return known[exponent](self)


@_composite("square")
def square(self, **_):
    return self * self


@_composite("_trilinear")
def trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, **_):
    tensors = []
    for tensor, dims in ((i1, expand1), (i2, expand2), (i3, expand3)):
        for dim in dims:
            tensor = tensor.unsqueeze(dim)
        tensors.append(tensor)
    return (tensors[0] * tensors[1] * tensors[2]).sum(sumdim)


@_composite("polar")
def polar(abs, angle, **_):
    return torch.complex(abs * angle.cos(), abs * angle.sin())


@_composite("linalg_cross", "cross")
def cross(self, other, dim=-1, **_):
    if dim is None:
        return NotImplemented
    return self.roll(-1, dim) * other.roll(-2, dim) - self.roll(-2, dim) * other.roll(-1, dim)


@_composite("convolution", "_convolution", "convolution_overrideable", "mkldnn_convolution")
def convolution(input, weight, bias, stride, padding, dilation, transposed=False, output_padding=(0,), groups=1, **_):
    if bias is None:
        return NotImplemented
    products = torch.ops.aten.convolution(input, weight, None, stride, padding, dilation, transposed, output_padding,
                                          groups)
    return products + bias.view([-1] + [1] * (products.dim() - (1 if products.dim() < input.dim() else 2)))


# Norms and moments

@_composite("norm", "linalg_vector_norm")
def vector_norm(self, p=None, ord=None, dim=None, keepdim=False, **_):
    order = p if p is not None else ord if ord is not None else 2
    dims = _dims(dim, self)
    magnitude = self.abs()
    if order == math.inf:
        return magnitude.amax(dims, keepdim)
    if order == -math.inf:
        return magnitude.amin(dims, keepdim)
    if order == 0:
        return (magnitude != 0).to(magnitude.dtype).sum(dims, keepdim)
    if order == 1:
        return magnitude.sum(dims, keepdim)
    if order == 2:
        return (magnitude * magnitude).sum(dims, keepdim).sqrt()
    return magnitude.pow(order).sum(dims, keepdim).pow(1 / order)


def _moments(self, dim, unbiased, correction, keepdim):
    dims = _dims(dim, self)
    average = _mean(self, dims)
    difference = self - average
    if correction is None:
        correction = 0 if unbiased is False else 1
    variance = (difference * difference).sum(dims, keepdim=keepdim) / max(0, _count(self, dims) - correction)
    return variance, average if keepdim else average.reshape(variance.shape)


@_composite("var")
def var(self, dim=None, unbiased=None, correction=None, keepdim=False, **_):
    return _moments(self, dim, unbiased, correction, keepdim)[0]


@_composite("std")
def std(self, dim=None, unbiased=None, correction=None, keepdim=False, **_):
    return _moments(self, dim, unbiased, correction, keepdim)[0].sqrt()


@_composite("var_mean")
def var_mean(self, dim=None, unbiased=None, correction=None, keepdim=False, **_):
    return _moments(self, dim, unbiased, correction, keepdim)


@_composite("std_mean")
def std_mean(self, dim=None, unbiased=None, correction=None, keepdim=False, **_):
    variance, average = _moments(self, dim, unbiased, correction, keepdim)
    return variance.sqrt(), average


def _normalized(x, dims, eps):
    """Returns x with mean 0 and variance 1 over dims, the means and the reciprocal deviations."""
    average = _mean(x, dims)
    difference = x - average
    scale = 1 / (_mean(difference * difference, dims) + eps).sqrt()
    return difference * scale, average, scale


def _affine(x, weight, bias):
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


@_composite("native_layer_norm")
def layer_norm(input, normalized_shape, weight, bias, eps, **_):
    y, average, scale = _normalized(input, list(range(-len(normalized_shape), 0)), eps)
    return _affine(y, weight, bias), average, scale


@_composite("_fused_rms_norm")
def rms_norm(input, normalized_shape, weight, eps=None, **_):
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    scale = 1 / (_mean(input * input, list(range(-len(normalized_shape), 0))) + eps).sqrt()
    return _affine(input * scale, weight, None), scale


@_composite("native_group_norm")
def group_norm(input, weight, bias, N, C, HxW, group, eps, **_):
    y, average, scale = _normalized(input.reshape(N, group, -1), [2], eps)
    along = [1, C] + [1] * (input.dim() - 2)
    y = _affine(y.reshape(input.shape), *(None if t is None else t.reshape(along) for t in (weight, bias)))
    return y, average.reshape(N, group), scale.reshape(N, group)


@_composite("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training")
def batch_norm(input, weight, bias, eps, running_mean=None, running_var=None, training=False, **_):
    """Leaves the running averages as they are: nothing that one call returns depends on them in training."""
    along = [1, -1] + [1] * (input.dim() - 2)
    if training:
        y, average, scale = _normalized(input, [dim for dim in range(input.dim()) if dim != 1], eps)
    else:
        average = running_mean.reshape(along)
        scale = 1 / (running_var.reshape(along) + eps).sqrt()
        y = (input - average) * scale
    y = _affine(y, *(None if t is None else t.reshape(along) for t in (weight, bias)))
    return y, average.reshape(-1), scale.reshape(-1)


@_composite("_batch_norm_with_update", "_batch_norm_with_update_functional", "_batch_norm_no_update")
def batch_norm_with_reserve(input, weight, bias, running_mean, running_var, eps, momentum=None, **_):
    training = momentum is not None
    return (*batch_norm(input, weight, bias, eps, running_mean, running_var, training), input.new_empty(0))


# Activations

@_composite("_softmax")
def softmax(self, dim, **_):
    exponentials = (self - self.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@_composite("_safe_softmax")
def safe_softmax(self, dim, **_):
    masked = (self == -math.inf).all(dim, keepdim=True)
    return softmax(self.masked_fill(masked, 0.0), dim).masked_fill(masked, 0.0)


@_composite("_log_softmax")
def log_softmax(self, dim, **_):
    shifted = self - self.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@_composite("_masked_softmax")
def masked_softmax(self, mask, dim=None, **_):
    return softmax(self.masked_fill(mask, -math.inf), -1 if dim is None else dim)


@_composite("logsumexp")
def logsumexp(self, dim, keepdim=False, **_):
    dims = _dims(dim, self)
    largest = _finite(self.amax(dims, keepdim=True))
    total = (self - largest).exp().sum(dims, keepdim=True).log() + largest
    return total if keepdim else total.reshape(self.amax(dims).shape)


@_composite("silu")
def silu(self, **_):
    return self / (1 + (-self).exp())


@_composite("gelu")
def gelu(self, approximate="none", **_):
    if approximate == "tanh":
        return self * 0.5 * (1 + torch.tanh((self + self * self * self * 0.044715) * math.sqrt(2 / math.pi)))
    return self * 0.5 * (1 + torch.erf(self * math.sqrt(0.5)))


@_composite("softplus")
def softplus(self, beta=1, threshold=20, **_):
    scaled = self if beta == 1 else self * beta
    large = scaled > threshold
    small = torch.where(large, torch.zeros_like(scaled), scaled).exp().log1p()
    return torch.where(large, self, small if beta == 1 else small / beta)


@_composite("mish")
def mish(self, **_):
    return self * torch.tanh(softplus(self))


@_composite("log_sigmoid_forward")
def log_sigmoid(self, **_):
    return self.clamp(max=0) - (-self.abs()).exp().log1p(), self.new_empty(0)


@_composite("elu")
def elu(self, alpha=1, scale=1, input_scale=1, **_):
    inside = self.clamp(max=0)
    negative = (inside if input_scale == 1 else inside * input_scale).exp() - 1
    negative = negative if alpha * scale == 1 else negative * (alpha * scale)
    return torch.where(self > 0, self if scale == 1 else self * scale, negative)


@_composite("selu")
def selu(self, **_):
    return elu(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


@_composite("celu")
def celu(self, alpha=1.0, **_):
    return elu(self, alpha, 1, 1 / alpha)


@_composite("hardsigmoid")
def hardsigmoid(self, **_):
    return (self + 3).clamp(0, 6) / 6


@_composite("hardswish")
def hardswish(self, **_):
    return self * (self + 3).clamp(0, 6) / 6


@_composite("leaky_relu")
def leaky_relu(self, negative_slope=0.01, **_):
    return torch.where(self > 0, self, self * negative_slope)


@_composite("prelu", "_prelu_kernel")
def prelu(self, weight, **_):
    if weight.dim() != self.dim() and weight.numel() > 1:
        weight = weight.reshape([1, -1] + [1] * (self.dim() - 2))
    return torch.where(self > 0, self, self * weight)


@_composite("rrelu_with_noise")
def rrelu(self, noise, lower=0.125, upper=1 / 3, training=False, **_):
    return NotImplemented if training else leaky_relu(self, (lower + upper) / 2)


@_composite("softshrink")
def softshrink(self, lambd=0.5, **_):
    return torch.where(self > lambd, self - lambd, torch.where(self < -lambd, self + lambd, torch.zeros_like(self)))


@_composite("glu")
def glu(self, dim=-1, **_):
    kept, gate = self.chunk(2, dim)
    return kept * torch.sigmoid(gate)


@_composite("logit")
def logit(self, eps=None, **_):
    x = self if eps is None else self.clamp(eps, 1 - eps)
    return (x / (1 - x)).log()


@_composite("xlogy", "special_xlogy")
def xlogy(self, other, **_):
    product = self * (other.log() if isinstance(other, torch.Tensor) else math.log(other))
    return torch.where(torch.as_tensor(self == 0), torch.zeros_like(product), product)


@_composite("native_dropout")
def dropout(input, p=0, train=True, **_):
    return NotImplemented if train and p else (input.clone(), torch.ones_like(input, dtype=torch.bool))


# Losses

@_composite("nll_loss_forward", "nll_loss2d_forward")
def nll_loss(self, target, weight=None, reduction=1, ignore_index=-100, **_):
    classes = 0 if self.dim() == 1 else 1
    used = target != ignore_index
    index = torch.where(used, target, torch.zeros_like(target))
    loss = -self.gather(classes, index.unsqueeze(classes)).squeeze(classes)
    weights = torch.ones_like(loss) if weight is None else weight[index]
    weights = torch.where(used, weights, torch.zeros_like(weights))
    loss = torch.where(used, loss * weights, torch.zeros_like(loss))
    if reduction == 0:
        return loss, weights.sum()
    total = weights.sum()
    return (loss.sum() / total if reduction == 1 else loss.sum()), total


@_composite("mse_loss")
def mse_loss(self, target, reduction=1, **_):
    difference = self - target
    return _reduced(difference * difference, reduction)


@_composite("huber_loss")
def huber_loss(self, target, reduction=1, delta=1.0, **_):
    distance = (self - target).abs()
    return _reduced(torch.where(distance <= delta, distance * distance * 0.5, (distance - 0.5 * delta) * delta),
                    reduction)


@_composite("smooth_l1_loss")
def smooth_l1_loss(self, target, reduction=1, beta=1.0, **_):
    distance = (self - target).abs()
    if beta == 0:
        return _reduced(distance, reduction)
    return _reduced(torch.where(distance < beta, distance * distance * 0.5 / beta, distance - 0.5 * beta), reduction)


@_composite("binary_cross_entropy")
def binary_cross_entropy(self, target, weight=None, reduction=1, **_):
    loss = -(target * self.log().clamp(min=-100) + (1 - target) * (-self).log1p().clamp(min=-100))
    return _reduced(loss if weight is None else loss * weight, reduction)


@_composite("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=1, **_):
    log_sum = (-self.abs()).exp().log1p() + (-self).clamp(min=0)
    log_sum = log_sum if pos_weight is None else log_sum * (1 + (pos_weight - 1) * target)
    loss = (1 - target) * self + log_sum
    return _reduced(loss if weight is None else loss * weight, reduction)


@_composite("soft_margin_loss")
def soft_margin_loss(self, target, reduction=1, **_):
    return _reduced((-target * self).exp().log1p(), reduction)


@_composite("multi_margin_loss")
def multi_margin_loss(self, target, p=1, margin=1, weight=None, reduction=1, **_):
    scores, index = self.reshape(-1, self.shape[-1]), target.reshape(-1, 1)
    loss = (scores - scores.gather(1, index) + margin).clamp(min=0)
    loss = loss if p == 1 else loss * loss
    loss = loss if weight is None else loss * weight[index]
    loss = loss.scatter(1, index, 0).sum(1) / scores.shape[1]
    return _reduced(loss.reshape(target.shape), reduction)


# Distances

@_composite("_cdist_forward", "_euclidean_dist")
def cdist(x1, x2, p=2.0, **_):
    return vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, dim=[-1])


@_composite("_pdist_forward")
def pdist(self, p=2.0, **_):
    first, second = torch.triu_indices(len(self), len(self), 1)
    return vector_norm(self[first] - self[second], p, dim=[-1])


# Attention

def _masked(scores, mask):
    """Applies a mask of scaled_dot_product_attention: true where a key takes part, or a number to add."""
    return scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask


@_composite("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_attention_forward")
def attention(query, key, value, dropout_p=0.0, is_causal=False, attn_mask=None, scale=None, need_attn_weights=False,
              **_):
    if dropout_p:
        return NotImplemented
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    if attn_mask is not None:
        scores = _masked(scores, attn_mask)
    weights = softmax(scores, -1)
    return weights @ value, weights if need_attn_weights else logsumexp(scores, [-1])


@_composite("_native_multi_head_attention")
def multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias,
                         mask=None, need_weights=True, average_attn_weights=True, **_):
    def heads(x, part):
        rows = slice(part * embed_dim, (part + 1) * embed_dim)
        y = x @ qkv_weight[rows].t() + qkv_bias[rows]
        return y.reshape(*x.shape[:2], num_head, -1).transpose(1, 2)

    q, k, v = (heads(x, part) for part, x in enumerate((query, key, value)))
    scores = q * (embed_dim // num_head) ** -0.5 @ k.transpose(-2, -1)
    if mask is not None:
        if mask.dim() == 2:  # of keys for each sample, or of keys for each query
            mask = mask[:, None, None, :] if mask.shape == (len(query), k.shape[2]) and \
                mask.shape != scores.shape[-2:] else mask
        scores = scores.masked_fill(mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    weights = softmax(scores, -1)
    y = (weights @ v).transpose(1, 2).reshape(query.shape) @ proj_weight.t() + proj_bias
    if not need_weights:
        return y, None
    return y, _mean(weights, [1]).squeeze(1) if average_attn_weights else weights


@_composite("_transformer_encoder_layer_fwd")
def encoder_layer(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps,
                  norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2,
                  ffn_bias_2, mask=None, **_):
    def attend(x):
        return multi_head_attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask,
                                    False)[0]

    def feed(x):
        inner = x @ ffn_weight_1.t() + ffn_bias_1
        return (gelu(inner) if use_gelu else torch.relu(inner)) @ ffn_weight_2.t() + ffn_bias_2

    def first_norm(x):
        return layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)[0]

    def second_norm(x):
        return layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps)[0]

    if norm_first:
        x = src + attend(first_norm(src))
        return x + feed(second_norm(x))
    x = first_norm(src + attend(src))
    return second_norm(x + feed(x))


# Interpolation

def _places(size, count, align_corners, scale, like):
    """Returns where the new elements lie among the old ones."""
    steps = torch.arange(count, dtype=like.dtype, device=like.device)
    if align_corners:
        return steps * (like.new_full((), size - 1) / max(1, count - 1))  # a quotient of tensors, so that it rounds
    step = like.new_full((), 1 if scale else size) / (scale or count)
    return (steps + 0.5) * step - 0.5


def _weighted(x, dim, floor, taps, weights):
    """Sums the neighbours of each place along dim."""
    along = [1] * x.dim()
    along[dim] = -1
    terms = [x.index_select(dim, (floor + tap).clamp(0, x.shape[dim] - 1).long()) * weight.reshape(along)
             for tap, weight in zip(taps, weights)]
    return sum(terms[1:], terms[0])


def _linear(x, dim, count, align_corners, scale):
    place = _places(x.shape[dim], count, align_corners, scale, x).clamp(min=0)
    floor = place.floor()
    fraction = place - floor
    return _weighted(x, dim, floor, (0, 1), (1 - fraction, fraction))


def _cubic(x, dim, count, align_corners, scale):
    place = _places(x.shape[dim], count, align_corners, scale, x)
    floor = place.floor()
    t = place - floor
    a = -0.75

    def near(d):
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d):
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return _weighted(x, dim, floor, (-1, 0, 1, 2), (far(t + 1), near(t), near(1 - t), far(2 - t)))


def _interpolated(one_dim, dims):
    def interpolate(output_size, align_corners, self=None, input=None, scale_factors=None, scales=None, scales_d=None,
                    scales_h=None, scales_w=None, **_):
        x = self if input is None else input
        given = scale_factors or [scales] if dims == 1 else scale_factors or [scales_d, scales_h, scales_w][-dims:]
        sizes = output_size or [int(n * scale) for n, scale in zip(x.shape[2:], given)]
        for at in range(dims):
            x = one_dim(x, at + 2, sizes[at], align_corners, given[at])
        return x

    return interpolate


COMPOSITES.update(upsample_linear1d=_interpolated(_linear, 1), upsample_bilinear2d=_interpolated(_linear, 2),
                  upsample_trilinear3d=_interpolated(_linear, 3), upsample_bicubic2d=_interpolated(_cubic, 2))


# Derivatives

@_composite("tanh_backward")
def tanh_backward(grad_output, output, **_):
    return grad_output * (1 - output * output)


@_composite("sigmoid_backward")
def sigmoid_backward(grad_output, output, **_):
    return grad_output * (1 - output) * output


@_composite("_softmax_backward_data")
def softmax_backward(grad_output, output, dim, **_):
    products = grad_output * output
    return products - output * products.sum(dim, keepdim=True)


@_composite("_log_softmax_backward_data")
def log_softmax_backward(grad_output, output, dim, **_):
    return grad_output - output.exp() * grad_output.sum(dim, keepdim=True)
