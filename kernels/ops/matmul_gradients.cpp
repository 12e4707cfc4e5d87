#include <utility>

#include "kernels/ops/families.h"
#include "kernels/ops/matmul.h"
#include "kernels/ops/views.h"

// Gradients of a layer y = x W^T + b, of the weights and of the input, from those of its output:
// products as the layer's own, but with factors whose lines lie side by side. The gradient of the
// bias is sum_axis with outer=1: an op of its own would be the same kernels, data and rules again.
namespace assay {
namespace {

/// Layer without a bias that adds as many terms for as many outputs.
Params layer(std::int64_t rows, std::int64_t terms, std::int64_t columns) {
  Params params;
  params.set("batch", rows);
  params.set("in", terms);
  params.set("out", columns);
  params.set("bias", std::int64_t{0});
  params.set("act", std::string("none"));
  return params;
}

Params layer_of_dx(const Params& params) {
  return layer(params.integer("batch"), params.integer("out"), params.integer("in"));
}

Params layer_of_dw(const Params& params) {
  return layer(params.integer("out"), params.integer("batch"), params.integer("in"));
}

/// Lays rows as columns.
void transpose(TensorSpec& matrix) {
  std::swap(matrix.shape.at(0), matrix.shape.at(1));
  matrix.axis = 0;
}

Signature dx_signature(Format format, const Params& params) {
  Signature s = linear_signature(format, layer_of_dx(params));
  transpose(s.inputs[1]);
  return s;
}

Signature dw_signature(Format format, const Params& params) {
  Signature s = linear_signature(format, layer_of_dw(params));
  transpose(s.inputs[0]);
  transpose(s.inputs[1]);
  return s;
}

Passes dx_passes(Format format, const Params& params) {
  return linear_passes(format, layer_of_dx(params));
}

Passes dw_passes(Format format, const Params& params) {
  return linear_passes(format, layer_of_dw(params));
}

}  // namespace

std::vector<Op> matmul_gradients_ops() {
  using enum ProductFormat;
  const std::vector<Parameter> extents{extent("batch"), extent("in"), extent("out")};
  return with_views({
      make_op({"linear_dx",
               "dx[b][i] = sum over o of dy[b][o] w[o][i]",
               floats(),
               {tf32, bf16x9},
               "batch",
               "in"},
              extents, dx_signature, dx_passes),
      make_op({"linear_dw",
               "dw[o][i] = sum over b of dy[b][o] x[b][i]",
               floats(),
               {tf32, bf16x9},
               "out",
               "in"},
              extents, dw_signature, dw_passes),
  });
}

}  // namespace assay
