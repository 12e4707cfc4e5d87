#include "kernels/sim/bf16x9.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay::sim {
namespace {

float cut_to_bf16(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffff0000U);
}

bool all_finite(std::span<const float> elements) {
  return std::ranges::all_of(elements, [](float x) { return std::isfinite(x); });
}

std::span<const float> factors(const OpInstance& op, const Binding& binding, std::size_t input) {
  return {static_cast<const float*>(binding.inputs.at(input)),
          static_cast<std::size_t>(op.signature.inputs.at(input).elements())};
}

/// Replaces each line of elements by a row of their parts for each product.
void expand(std::span<const float> from, const TensorSpec& spec, std::span<const std::size_t> order,
            std::vector<float>& to) {
  const auto width = static_cast<std::size_t>(spec.line_elements());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::array<float, 3> parts = bf16_parts(from[i]);
    const auto element = static_cast<std::int64_t>(i);
    const auto line = static_cast<std::size_t>(spec.line_of(element));
    const std::size_t first =
        line * width * order.size() + static_cast<std::size_t>(spec.place_of(element));
    for (std::size_t p = 0; p < order.size(); ++p) to[first + p * width] = parts.at(order[p]);
  }
}

/// The layer of rows of all parts, wherever the lines of the product lie.
OpInstance layer_of_parts(const OpInstance& op) {
  const Shape& y = op.signature.outputs[0].shape;
  const ParamValue* act = op.params.find("act");
  Params params;
  params.set("batch", y.at(0));
  params.set("in", op.signature.inputs[0].line_elements() * op.format.product()->parts);
  params.set("out", y.at(1));
  params.set("bias", std::int64_t{op.signature.inputs.size() > 2 ? 1 : 0});
  params.set("act", act == nullptr ? ParamValue{std::string("none")} : *act);
  return instantiate(*find_op("linear"), DType::f32, params);
}

class Bf16x9Matmul final : public Kernel {
 public:
  Bf16x9Matmul(const OpInstance& op, const Binding& binding, const Launch::Prepare& prepare)
      : op_(op),
        binding_(binding),
        products_(static_cast<std::size_t>(op.format.product()->parts)),
        x_(factors(op, binding, 0).size() * products_),
        w_(factors(op, binding, 1).size() * products_) {
    Binding expanded = binding;
    expanded.inputs.at(0) = x_.data();
    expanded.inputs.at(1) = w_.data();
    of_parts_ = prepare(layer_of_parts(op), std::span(&expanded, 1));
    of_factors_ =
        prepare(instantiate(*op.op, DType::f32, op.params), std::span(&std::as_const(binding), 1));
  }

  void launch() override {
    const std::span<const float> x = factors(op_, binding_, 0);
    const std::span<const float> w = factors(op_, binding_, 1);
    if (!all_finite(x) || !all_finite(w)) return of_factors_->launch();
    const std::vector<TensorSpec>& inputs = op_.signature.inputs;
    expand(x, inputs[0], std::span(parts_of_x).first(products_), x_);
    expand(w, inputs[1], std::span(parts_of_w).first(products_), w_);
    of_parts_->launch();
  }
  std::string implementation() const override {
    return of_parts_->implementation() + " in f32, factors in three bf16 parts";
  }

 private:
  OpInstance op_;
  Binding binding_;
  std::size_t products_;
  std::vector<float> x_;
  std::vector<float> w_;
  std::unique_ptr<Kernel> of_parts_;
  std::unique_ptr<Kernel> of_factors_;
};

}  // namespace

std::array<float, 3> bf16_parts(float x) {
  const float first = cut_to_bf16(x);
  const float second = cut_to_bf16(x - first);
  return {first, second, cut_to_bf16(x - first - second)};
}

std::unique_ptr<Kernel> bf16x9_matmul(const OpInstance& op, const Binding& binding,
                                      const Launch::Prepare& prepare) {
  return std::make_unique<Bf16x9Matmul>(op, binding, prepare);
}

}  // namespace assay::sim
