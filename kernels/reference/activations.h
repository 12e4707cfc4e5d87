#pragma once

#include <cmath>
#include <numbers>
#include <string_view>

namespace assay::reference {

/// x Phi(x), with Phi by the complementary error function, which does not cancel. At -infinity the
/// formula gives NaN, -infinity times 0, as in every library.
struct Gelu {
  template <class Real>
  Real operator()(Real x) const {
    return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Real>);
  }
};

struct GeluTanh {
  template <class Real>
  Real operator()(Real x) const {
    const Real z = std::sqrt(2 / std::numbers::pi_v<Real>) * (x + Real(0.044715L) * x * x * x);
    return x / (1 + std::exp(-2 * z));
  }
};

/// Evaluates the function that the parameter `act` names.
template <class Real>
Real activated(std::string_view act, Real x) {
  if (act == "relu") return x < 0 ? 0 : x;
  if (act == "gelu") return Gelu{}(x);
  if (act == "gelu_tanh") return GeluTanh{}(x);
  return x;
}

}  // namespace assay::reference
