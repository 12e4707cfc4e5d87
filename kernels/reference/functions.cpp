#include <cmath>

#include "kernels/reference/activations.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

struct Exponential {
  template <class Real>
  Real operator()(Real x) const {
    return std::exp(x);
  }
};
struct Logarithm {
  template <class Real>
  Real operator()(Real x) const {
    return std::log(x);
  }
};
struct HyperbolicTangent {
  template <class Real>
  Real operator()(Real x) const {
    return std::tanh(x);
  }
};
struct Logistic {
  template <class Real>
  Real operator()(Real x) const {
    return 1 / (1 + std::exp(-x));
  }
};
struct Power {
  template <class Real>
  Real operator()(Real a, Real b) const {
    return std::pow(a, b);
  }
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

std::span<const ReferenceRow> functions_references() { return rows; }

}  // namespace assay::reference
