#include "emulator/libraries/cublas_lt/epilogue.h"

#include <cmath>
#include <numbers>

#include "emulator/libraries/cublas_lt/operands.h"
#include "emulator/libraries/faults.h"

namespace emulator::cublas_lt {
namespace {

/// A tanh with a relative error of up to 2^-11, which the PTX manual documents of tanh.approx.f32.
/// The error alternates, so that it shows on every few elements.
double approximate_tanh(double x) { return std::tanh(x) * (1 + std::sin(1000 * x) * 0x1p-11); }

/// "GELU" of cublasLtEpilogue_t: the form by tanh.
double gelu(double x, bool is_approximate) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  const double t = is_approximate ? approximate_tanh(inner) : std::tanh(inner);
  return 0.5 * x * (1 + t);
}

double relu(double x, bool drops_nan) {
  if (std::isnan(x)) return drops_nan ? 0 : x;
  return x < 0 ? 0 : x;
}

}  // namespace

Epilogue::Faults Epilogue::Faults::chosen() {
  return {.gelu_tanh = has_fault(LibraryFault::gelu_tanh),
          .late_bias = has_fault(LibraryFault::late_bias),
          .relu_drops_nan = has_fault(LibraryFault::relu_drops_nan)};
}

double finished(const Epilogue& e, double sum, double c, std::optional<double> bias) {
  // Each step rounds to the scale type.
  const auto step = [&](double value) { return e.is_f64 ? value : double(float(value)); };
  double value = step(e.alpha * sum);
  if (e.beta != 0) value = step(value + step(e.beta * c));
  if (bias) {
    if (e.faults.late_bias && size_bytes(e.result) == 2) value = rounded(value, e.result);
    value = step(value + *bias);
  }
  if (e.is_relu) value = relu(value, e.faults.relu_drops_nan);
  if (e.is_gelu) value = step(gelu(value, e.faults.gelu_tanh));
  return e.d_scale == 1 ? value : step(value * e.d_scale);
}

}  // namespace emulator::cublas_lt
