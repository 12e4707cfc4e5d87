#include <limits>
#include <utility>

#include "kernels/op.h"

namespace assay {
namespace {

double bytes_of(const Signature& signature) {
  double bytes = 0;
  for (const TensorSpec& tensor : signature.inputs) bytes += static_cast<double>(tensor.bytes());
  for (const TensorSpec& tensor : signature.outputs) bytes += static_cast<double>(tensor.bytes());
  return bytes;
}

// --- Signatures: tensors and work from parameters ---------------------------------------------

template <int Inputs>
Signature elementwise(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  Signature s{.inputs = std::vector<TensorSpec>(Inputs, {dtype, {n}}), .outputs = {{dtype, {n}}}};
  s.flops = static_cast<double>(n);
  s.bytes = bytes_of(s);
  return s;
}

Signature reduction(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  Signature s{.inputs = {{dtype, {n}}}, .outputs = {{dtype, {1}}}};
  s.flops = static_cast<double>(n);
  s.bytes = bytes_of(s);
  s.terms = n;
  return s;
}

Signature rowwise(DType dtype, const Params& params) {
  const std::int64_t rows = params.integer("rows");
  const std::int64_t cols = params.integer("cols");
  Signature s{.inputs = {{dtype, {rows, cols}}}, .outputs = {{dtype, {rows, cols}}}};
  // Maximum, subtraction, exponential, sum and division: one operation each per element.
  s.flops = 5.0 * static_cast<double>(rows) * static_cast<double>(cols);
  s.bytes = bytes_of(s);
  s.terms = cols;
  return s;
}

Signature linear(DType dtype, const Params& params) {
  const std::int64_t batch = params.integer("batch");
  const std::int64_t in = params.integer("in");
  const std::int64_t out = params.integer("out");
  const bool bias = params.integer("bias") != 0;
  Signature s{.inputs = {{dtype, {batch, in}}, {dtype, {out, in}}},
              .outputs = {{dtype, {batch, out}}}};
  if (bias) s.inputs.push_back({dtype, {out}});
  const double outputs = static_cast<double>(batch) * static_cast<double>(out);
  s.flops = outputs * (2.0 * static_cast<double>(in) + (bias ? 1.0 : 0.0));
  s.bytes = bytes_of(s);
  s.terms = in + (bias ? 1 : 0);
  s.factors_per_term = 2;
  return s;
}

Signature copy(DType dtype, const Params& params) {
  const TensorSpec bytes{dtype, {params.integer("bytes")}};
  Signature s{.inputs = {bytes}, .outputs = {bytes}};
  s.bytes = bytes_of(s);
  return s;
}

Signature allreduce(DType dtype, const Params& params) {
  const TensorSpec tensor{dtype, {params.integer("count")}};
  Signature s{.inputs = {tensor}, .outputs = {tensor}};
  s.ranks = static_cast<int>(params.integer("ranks"));
  s.terms = s.ranks;
  // The message, as nccl-tests counts it: algbw = bytes / time.
  s.bytes = static_cast<double>(tensor.bytes());
  s.flops = static_cast<double>(tensor.elements()) * (s.ranks - 1);
  return s;
}

// --- Test data ---------------------------------------------------------------------------------

constexpr Data unit{.distribution = Distribution::uniform, .range = {-1, 1}};
constexpr Data exact_sums{.distribution = Distribution::integers};
constexpr Data unique{.distribution = Distribution::unique_words};
/// Every exponent that is finite, subnormal results included.
constexpr double f32_max = std::numeric_limits<float>::max();
constexpr double f64_max = std::numeric_limits<double>::max();
constexpr Data any_exponent{.distribution = Distribution::stratified,
                            .range = {-f32_max, f32_max},
                            .range_f64 = Range{-f64_max, f64_max}};
/// From where exp is zero, through the subnormals, to where it is infinite.
constexpr Data exp_domain{
    .distribution = Distribution::stratified, .range = {-104, 89}, .range_f64 = Range{-746, 710}};
constexpr Data around_zero{.distribution = Distribution::uniform, .range = {-10, 10}};
/// Overflows without the max-shift: exp(100) is infinite in f32, exp(800) in f64.
constexpr Data large_logits{
    .distribution = Distribution::uniform, .range = {-100, 100}, .range_f64 = Range{-800, 800}};

constexpr Rule exact{.oracle = Oracle::exact};
constexpr Rule sum_bound{.oracle = Oracle::sum_bound};

/// IEEE operations and integers: bit for bit, on every exponent and on plain data.
constexpr std::array correctly_rounded{Pass{"all_exponents", any_exponent, exact},
                                       Pass{"real_data", unit, exact}};
/// Sums and dot products: on exact data only the final rounding is left; on real data the theorem.
constexpr std::array sums{Pass{"exact_data", exact_sums, exact},
                          Pass{"real_data", unit, sum_bound}};

// --- Parameters --------------------------------------------------------------------------------

Parameter size(std::string_view name) { return {.name = name, .minimum = 0}; }
Parameter extent(std::string_view name) { return {.name = name, .minimum = 1}; }
Parameter rank_count(std::string_view name) {
  return {.name = name, .minimum = 1, .maximum = 1024};
}
Parameter flag(std::string_view name) { return {.name = name, .minimum = 0, .maximum = 1}; }
Parameter choice(std::string_view name, std::vector<std::string_view> words) {
  return {.name = name, .words = std::move(words)};
}

// --- The ops -----------------------------------------------------------------------------------

const std::vector<Op>& table() {
  using enum DType;
  static const std::vector<Op> ops{
      // y[i] = a[i] + b[i]
      {.name = "add",
       .dtypes = {f64, f32, i64},
       .parameters = {size("n")},
       .signature = elementwise<2>,
       .passes = correctly_rounded},
      // y[i] = x[i] * x[i]; integers wrap
      {.name = "square",
       .dtypes = {f64, f32, i64},
       .parameters = {size("n")},
       .signature = elementwise<1>,
       .passes = correctly_rounded},
      // y[i] = e^x[i]. B: libmvec documents 4 ulp, CUDA's expf 2 and exp 1.
      {.name = "exp",
       .dtypes = {f64, f32},
       .parameters = {size("n")},
       .signature = elementwise<1>,
       .passes = {Pass{"domain", exp_domain, {Oracle::function_bound, 4, 0}},
                  Pass{"real_data", around_zero, {Oracle::function_bound, 4, 0}}}},
      // y = sum of x[i]
      {.name = "sum",
       .dtypes = {f64, f32, i64},
       .parameters = {size("n")},
       .signature = reduction,
       .passes = sums},
      // y[r][c] = e^(x[r][c] - m) / sum over j of e^(x[r][j] - m), m the maximum of row r
      {.name = "softmax",
       .dtypes = {f64, f32},
       .parameters = {extent("rows"), extent("cols")},
       .signature = rowwise,
       .passes = {Pass{"large_logits", large_logits, {Oracle::softmax_bound, 4, 0}},
                  Pass{"real_data", around_zero, {Oracle::softmax_bound, 4, 0}}}},
      // y[b][o] = act(sum over i of x[b][i] * w[o][i] + bias[o])
      {.name = "linear",
       .dtypes = {f32, bf16},
       .parameters = {extent("batch"), extent("in"), extent("out"), flag("bias"),
                      choice("act", {"none", "relu"})},
       .signature = linear,
       .passes = sums},
      // y[i] = x[i], with one thread or with all
      {.name = "copy",
       .only_on = "cpu",
       .dtypes = {u8},
       .parameters = {choice("from", {"host"}), choice("to", {"host"}), size("bytes"),
                      choice("threads", {"one", "all"})},
       .signature = copy,
       .passes = {Pass{"unique_words", unique, exact}, Pass{"real_data", unique, exact}}},
      // y[rank][i] = sum over r of x[r][i], the same on every rank
      {.name = "allreduce",
       .collective = true,
       .dtypes = {f64, f32, i64},
       .parameters = {choice("reduce", {"sum"}), rank_count("ranks"), extent("count")},
       .signature = allreduce,
       .passes = sums},
  };
  return ops;
}

}  // namespace

std::span<const Op> all_ops() { return table(); }

}  // namespace assay
