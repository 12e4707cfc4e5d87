#include "kernels/cuda/layer.h"

#include <algorithm>
#include <iterator>

#include "kernels/cuda/layer_epilogue.h"

namespace assay::cuda {
namespace {

/// Names the operations after the sums: "bias", "bias and relu", "rounding".
std::string epilogue_text(const LayerShape& shape, bool bias) {
  if (shape.act == "none") return bias ? "bias" : "rounding";
  return (bias ? "bias and " : "") + shape.act;
}

Operands operands(const LayerTensors& t, void* d) {
  return {
      .a = t.w, .b = t.x, .bias = t.bias, .d = d, .a_scales = t.w_scales, .b_scales = t.x_scales};
}

}  // namespace

Layer::Layer(const LayerShape& shape, const LayerTensors& t, CudaStream& stream,
             const std::shared_ptr<Workspace>& workspace, const FillOperands& fill_real,
             SearchBudget& budget)
    : shape_(shape), epilogue_(epilogue_text(shape, t.bias != nullptr)) {
  const DType result = result_dtype(shape.format);
  const DType wide = accumulator(shape.format);
  std::vector<Way<LtMatmul>> ways;
  const auto fused = epilogue_of(shape.act, t.bias != nullptr, shape.format);
  if (fused) {
    ways.push_back({"the library's " + epilogue_, [&] {
                      MatmulPlan plan = shape.plan(result);
                      plan.epilogue = *fused;
                      return std::make_unique<LtMatmul>(plan, operands(t, t.y), stream, workspace,
                                                        fill_real, budget);
                    }});
  }
  // Plain sums in their own type have no second way.
  if (fused != CUBLASLT_EPILOGUE_DEFAULT || result != wide) {
    ways.push_back({"our own " + epilogue_, [&] {
                      sums_ = std::make_unique<Workspace>(
                          static_cast<std::size_t>(shape.rows * shape.cols) * size_bytes(wide));
                      return std::make_unique<LtMatmul>(shape.plan(wide),
                                                        operands(t, sums_->data()), stream,
                                                        workspace, fill_real, budget);
                    }});
  }
  product_ = first_right<LtMatmul>(ways, rejected_);
  if (!product_->left_out().empty()) {
    rejected_.text += (rejected_.text.empty() ? "" : ", ") + product_->left_out();
  }
  std::ranges::copy(product_->wrong(), std::back_inserter(rejected_.wrong));
}

void Layer::run(const LayerTensors& t, cudaStream_t stream) const {
  product_->run(operands(t, sums_ ? sums_->data() : t.y), stream);
  if (!sums_) return;
  layer_epilogue(shape_.format, shape_.act, sums_->data(), t.bias, t.y, shape_.rows, shape_.cols,
                 stream);
}

std::string Layer::implementation() const {
  return product_->implementation() + (sums_ ? "; own " + epilogue_ : "") +
         (rejected_.text.empty() ? "" : "; left out: " + rejected_.text);
}

}  // namespace assay::cuda
