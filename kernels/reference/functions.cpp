#include <cmath>
#include <numbers>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

using Real = long double;

struct Exponential {
  Real operator()(Real x) const { return std::exp(x); }
};
struct Logarithm {
  Real operator()(Real x) const { return std::log(x); }
};
struct HyperbolicTangent {
  Real operator()(Real x) const { return std::tanh(x); }
};
struct Logistic {
  Real operator()(Real x) const { return 1 / (1 + std::exp(-x)); }
};
/// x Phi(x), with Phi by the complementary error function, which does not cancel. At -infinity the
/// formula gives NaN, -infinity times 0, as it does in every library.
struct Gelu {
  Real operator()(Real x) const {
    return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Real>);
  }
};
struct GeluTanh {
  Real operator()(Real x) const {
    const Real z = std::sqrt(2 / std::numbers::pi_v<Real>) * (x + Real{0.044715L} * x * x * x);
    return x / (1 + std::exp(-2 * z));
  }
};
struct Power {
  Real operator()(Real a, Real b) const { return std::pow(a, b); }
};

constexpr ReferenceRow rows[] = {
    {"exp", approximately<Exponential, 1>},
    {"log", approximately<Logarithm, 1>},
    {"tanh", approximately<HyperbolicTangent, 1>},
    {"sigmoid", approximately<Logistic, 1>},
    {"gelu", approximately<Gelu, 1>},
    {"gelu_tanh", approximately<GeluTanh, 1>},
    {"pow", approximately<Power, 2>},
};

}  // namespace

std::span<const ReferenceRow> function_references() { return rows; }

}  // namespace assay::reference
