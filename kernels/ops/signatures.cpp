#include "kernels/ops/signatures.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/status.h"

namespace assay {
namespace {

double count(std::int64_t n) { return static_cast<double>(n); }

double bytes_of(const Signature& signature) {
  double bytes = 0;
  for (const TensorSpec& tensor : signature.inputs) bytes += static_cast<double>(tensor.bytes());
  for (const TensorSpec& tensor : signature.outputs) bytes += static_cast<double>(tensor.bytes());
  return bytes;
}

Signature with_work(Signature signature, double flops) {
  signature.flops = flops;
  signature.bytes = bytes_of(signature);
  return signature;
}

/// {n}, or {n / cols, cols} with rows `ld` apart.
TensorSpec elementwise_tensor(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  const std::int64_t cols = params.integer_or("cols", 0);
  const std::int64_t ld = params.integer_or("ld", 0);
  if (cols == 0 && ld == 0) return {.dtype = dtype, .shape = {n}};
  if (cols == 0 || ld < cols || n % cols != 0) {
    throw NotApplicable(
        "elementwise ops: rows of 'cols' elements, 'ld' apart, need cols <= ld and n a "
        "multiple of cols; given " +
        params.text());
  }
  return {.dtype = dtype, .shape = {n / cols, cols}, .row_stride = ld};
}

template <Operands operands>
Signature elementwise(DType dtype, const Params& params) {
  const TensorSpec tensor = elementwise_tensor(dtype, params);
  const TensorSpec scalar{.dtype = dtype, .shape = {1}};
  TensorSpec mask = tensor;
  mask.dtype = DType::u8;
  Signature s{.inputs = {tensor}, .outputs = {tensor}};
  switch (operands) {
    case Operands::one:
      break;
    case Operands::copied:
      s.is_copy = true;
      break;
    case Operands::two:
      s.inputs = {tensor, tensor};
      break;
    case Operands::three:
      s.inputs = {tensor, tensor, tensor};
      break;
    case Operands::compared:
      s = {.inputs = {tensor, tensor}, .outputs = {mask}};
      break;
    case Operands::masked:
      s.inputs = {mask, tensor, tensor};
      break;
    case Operands::with_scalar:
      s.inputs = {tensor, scalar};
      break;
    case Operands::scalar:
      s.inputs = {scalar};
      s.is_constant = true;
      break;
  }
  // One operation an element, whatever it is; fma counts as two.
  const bool is_fma = operands == Operands::three;
  return with_work(std::move(s), count(tensor.elements()) * (is_fma ? 2 : 1));
}

template <int Inputs>
Signature reduction(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  Signature s{.inputs = std::vector<TensorSpec>(Inputs, {dtype, {n}}), .outputs = {{dtype, {1}}}};
  s.terms = n;
  s.factors_per_term = Inputs;
  return with_work(std::move(s), count(n) * Inputs);
}

TensorSpec rows_tensor(DType dtype, const Params& params) {
  const std::int64_t cols = params.integer("cols");
  const std::int64_t ld = params.integer_or("ld", 0);
  if (ld != 0 && ld < cols) {
    throw NotApplicable("rows of " + std::to_string(cols) + " elements cannot be " +
                        std::to_string(ld) + " apart: ld must be at least cols");
  }
  return {.dtype = dtype, .shape = {params.integer("rows"), cols}, .row_stride = ld};
}

template <bool Affine>
Signature rowwise(DType dtype, const Params& params) {
  const TensorSpec tensor = rows_tensor(dtype, params);
  Signature s{.inputs = {tensor}, .outputs = {tensor}};
  const TensorSpec per_column{.dtype = dtype, .shape = {tensor.shape[1]}};
  if (Affine) s.inputs.insert(s.inputs.end(), 2, per_column);
  s.terms = tensor.shape[1];
  s.is_constant = tensor.shape[1] == 1;  // 1, or the bias
  // Maximum, subtraction, exponential, sum, division; sum, subtraction, square and sum, two
  // multiplications and an addition.
  return with_work(std::move(s), count(tensor.elements()) * (Affine ? 7 : 5));
}

template <Streams streams>
Signature stream(DType dtype, const Params& params) {
  const TensorSpec tensor{.dtype = dtype, .shape = {params.integer("n")}};
  const TensorSpec scalar{.dtype = dtype, .shape = {1}};
  Signature s{.inputs = {tensor}, .outputs = {tensor}};
  double flops = 0;
  switch (streams) {
    case Streams::read:
      s.outputs = {scalar};
      s.is_copy = tensor.elements() == 1;
      break;
    case Streams::write:
      s.inputs = {scalar};
      s.is_constant = true;
      break;
    case Streams::copy:
      s.is_copy = true;
      break;
    case Streams::triad:
      s.inputs = {tensor, tensor, scalar};
      flops = 2 * count(tensor.elements());
      break;
  }
  return with_work(std::move(s), flops);
}

/// Where gelu and its tanh form differ, and neither is 0 or the identity.
constexpr double telling_rms = 1.5;

}  // namespace

// --- Elementwise -------------------------------------------------------------------------------

SignatureOf elementwise_signature(Operands operands) {
  switch (operands) {
    case Operands::one:
      return elementwise<Operands::one>;
    case Operands::copied:
      return elementwise<Operands::copied>;
    case Operands::two:
      return elementwise<Operands::two>;
    case Operands::three:
      return elementwise<Operands::three>;
    case Operands::compared:
      return elementwise<Operands::compared>;
    case Operands::masked:
      return elementwise<Operands::masked>;
    case Operands::with_scalar:
      return elementwise<Operands::with_scalar>;
    case Operands::scalar:
      return elementwise<Operands::scalar>;
  }
  __builtin_unreachable();
}

SignatureOf stream_signature(Streams streams) {
  switch (streams) {
    case Streams::read:
      return stream<Streams::read>;
    case Streams::write:
      return stream<Streams::write>;
    case Streams::copy:
      return stream<Streams::copy>;
    case Streams::triad:
      return stream<Streams::triad>;
  }
  __builtin_unreachable();
}

Signature cast_signature(DType dtype, const Params& params) {
  TensorSpec to = elementwise_tensor(dtype, params);
  to.dtype = *parse_dtype(params.word("to"));
  Signature s{.inputs = {elementwise_tensor(dtype, params)}, .outputs = {to}};
  s.is_copy = to.dtype == dtype;
  return with_work(std::move(s), count(to.elements()));
}

Signature random_signature(DType dtype, const Params& params) {
  const TensorSpec tensor{.dtype = dtype, .shape = {params.integer("n")}};
  // Ten rounds of two multiplications and four exclusive ors give 16 bytes.
  return with_work({.outputs = {tensor}}, 60.0 * static_cast<double>(tensor.bytes()) / 16);
}

// --- Reductions and whole arrays ---------------------------------------------------------------

SignatureOf reduction_signature(int inputs) { return inputs == 1 ? reduction<1> : reduction<2>; }

/// The terms are squares of the one input's elements.
Signature norm_signature(DType dtype, const Params& params) {
  Signature s = reduction<1>(dtype, params);
  s.factors_per_term = 2;
  s.flops *= 2;
  return s;
}

Signature index_signature(DType dtype, const Params& params) {
  Signature s = reduction<1>(dtype, params);
  s.outputs = {{DType::i64, {1}}};
  const double flops = s.flops;
  return with_work(std::move(s), flops);
}

Signature array_signature(DType dtype, const Params& params) {
  Signature s = reduction<1>(dtype, params);
  s.outputs = s.inputs;
  const double flops = s.flops;
  return with_work(std::move(s), flops);
}

// --- Rows --------------------------------------------------------------------------------------

SignatureOf rowwise_signature(bool is_affine) { return is_affine ? rowwise<true> : rowwise<false>; }

Signature transpose_signature(DType dtype, const Params& params) {
  const std::int64_t rows = params.integer("rows");
  const std::int64_t cols = params.integer("cols");
  Signature s{.inputs = {{dtype, {rows, cols}}}, .outputs = {{dtype, {cols, rows}}}};
  s.is_copy = rows == 1 || cols == 1;
  return with_work(std::move(s), 0);
}

Signature gather_signature(DType dtype, const Params& params) {
  const std::int64_t cols = params.integer("cols");
  const std::int64_t taken = params.integer("count");
  Signature s{.inputs = {{dtype, {params.integer("rows"), cols}}, {DType::i64, {taken}}},
              .outputs = {{dtype, {taken, cols}}}};
  s.is_copy = s.inputs[0].shape[0] == 1 && taken == 1;
  s.is_constant = s.inputs[0].elements() == 1;
  // Rows that are not chosen need not be read.
  s.bytes =
      2 * static_cast<double>(s.outputs[0].bytes()) + static_cast<double>(s.inputs[1].bytes());
  return s;
}

// --- Products ----------------------------------------------------------------------------------

Signature batched_matmul_signature(DType dtype, const Params& params) {
  const std::int64_t batch = params.integer("batch");
  const std::int64_t m = params.integer("m");
  const std::int64_t n = params.integer("n");
  const std::int64_t k = params.integer("k");
  const DType stored = stored_dtype(dtype);
  Signature s{.inputs = {{stored, {batch, m, k}}, {stored, {batch, k, n}}},
              .outputs = {{product_dtype(dtype), {batch, m, n}}}};
  s.terms = k;
  s.factors_per_term = 2;
  return with_work(std::move(s), 2 * count(batch) * count(m) * count(n) * count(k));
}

Signature linear_signature(DType dtype, const Params& params) {
  const std::int64_t batch = params.integer("batch");
  const std::int64_t in = params.integer("in");
  const std::int64_t out = params.integer("out");
  const bool bias = params.integer("bias") != 0;
  const bool gelu = params.word("act").starts_with("gelu");
  if (gelu && !is_floating(dtype)) {
    throw NotApplicable("linear: act=" + params.word("act") + " needs a dtype of floats, not " +
                        std::string(name(dtype)));
  }
  // Integers stay as they were summed: a scale back to 8 bits is another op's business.
  const DType stored = stored_dtype(dtype);
  const DType result = product_dtype(dtype);
  Signature s{.inputs = {{stored, {batch, in}}, {stored, {out, in}}},
              .outputs = {{result, {batch, out}}}};
  if (bias) s.inputs.push_back({result, {out}});
  s.terms = in + (bias ? 1 : 0);
  s.factors_per_term = 2;
  s.sum_rms = gelu ? telling_rms : 0;
  s.is_product = true;
  return with_work(std::move(s), count(batch) * count(out) * (2 * count(in) + (bias ? 1 : 0)));
}

/// Layer 1 from `in` to `width`, the others from `width` to `width`. Inputs: x, then the weights
/// and the bias of each layer.
Signature linear_stack_signature(DType dtype, const Params& params) {
  const std::int64_t batch = params.integer("batch");
  const std::int64_t in = params.integer("in");
  const std::int64_t width = params.integer("width");
  const std::int64_t layers = params.integer("layers");
  const bool bias = params.integer("bias") != 0;
  const DType stored = stored_dtype(dtype);
  Signature s{.inputs = {{stored, {batch, in}}}, .outputs = {{stored, {batch, width}}}};
  double flops = 0;
  double paths = 0;  // from inputs and biases to one output: the terms of the expanded sum
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::int64_t fan_in = layer == 0 ? in : width;
    s.inputs.push_back({stored, {width, fan_in}});
    if (bias) s.inputs.push_back({stored, {width}});
    flops += count(batch) * count(width) * (2 * count(fan_in) + (bias ? 1 : 0));
    paths = (layer == 0 ? count(in) : paths * count(width)) + (bias ? 1 : 0);
  }
  // Twice, because outputs of layers are rounded, and may be rounded up.
  s.terms = static_cast<std::int64_t>(std::min(2 * paths, 0x1p62));
  s.factors_per_term = static_cast<int>(layers) + 1;
  return with_work(std::move(s), flops);
}

// --- Collectives -------------------------------------------------------------------------------

Signature allreduce_signature(DType dtype, const Params& params) {
  // With more ranks no dense integers have sums that the message's dtype holds exactly, and the
  // bound of an average needs 2 n u <= 1.
  const std::int64_t most = std::int64_t{1} << std::min(30, precision_bits(dtype) - 1);
  if (params.integer("ranks") > most) {
    throw NotApplicable("allreduce in " + std::string(name(dtype)) +
                        " has no test data for more than " + std::to_string(most) + " ranks");
  }
  const TensorSpec tensor{.dtype = dtype, .shape = {params.integer("count")}};
  Signature s{.inputs = {tensor}, .outputs = {tensor}};
  s.ranks = static_cast<int>(params.integer("ranks"));
  s.is_copy = s.ranks == 1 && params.word("reduce") != "premul_sum";
  s.terms = s.ranks;
  // Partial sums travel, and are rounded, in the dtype of the message.
  s.accumulate_in = dtype;
  s.in_place = params.find("place") != nullptr;  // else out, which is left out
  // The message, as nccl-tests counts it: algbw = bytes / time.
  s.bytes = static_cast<double>(tensor.bytes());
  s.flops = static_cast<double>(tensor.elements()) * (s.ranks - 1);
  return s;
}

}  // namespace assay
