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

/// Replaces each row of `width` elements by a row of their parts for each product.
void expand(std::span<const float> from, std::size_t width, std::span<const std::size_t> order,
            std::vector<float>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::array<float, 3> parts = bf16_parts(from[i]);
    const std::size_t first = i / width * width * order.size() + i % width;
    for (std::size_t p = 0; p < order.size(); ++p) to[first + p * width] = parts.at(order[p]);
  }
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
    Params params = op.params;
    params.set("in", op.params.integer("in") * op.format.product()->parts);
    of_parts_ = prepare(instantiate(*op.op, DType::f32, params), std::span(&expanded, 1));
    of_factors_ =
        prepare(instantiate(*op.op, DType::f32, op.params), std::span(&std::as_const(binding), 1));
  }

  void launch() override {
    const std::span<const float> x = factors(op_, binding_, 0);
    const std::span<const float> w = factors(op_, binding_, 1);
    if (!all_finite(x) || !all_finite(w)) return of_factors_->launch();
    const auto width = static_cast<std::size_t>(op_.params.integer("in"));
    expand(x, width, std::span(parts_of_x).first(products_), x_);
    expand(w, width, std::span(parts_of_w).first(products_), w_);
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
