#include "emulator/libraries/cublas_lt/bf16_parts.h"

#include <array>

#include "emulator/numbers/number.h"

namespace emulator::cublas_lt {
namespace {

std::array<float, 3> parts_of(float x) {
  const auto rounded = [](float f) { return float(decode(encode(f, bfloat16), bfloat16)); };
  const float first = rounded(x);
  const float second = rounded(x - first);
  return {first, second, rounded(x - first - second)};
}

template <class Part>
std::vector<float> in_parts(const std::vector<float>& factors, std::int64_t width,
                            const Part& part) {
  const auto run = static_cast<std::size_t>(width);
  const auto products = static_cast<std::size_t>(partial_products);
  std::vector<float> all(factors.size() * products);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::array<float, 3> parts = parts_of(factors[i]);
    const std::size_t first = i / run * run * products + i % run;
    for (std::size_t p = 0; p < products; ++p) all[first + p * run] = parts.at(part(p));
  }
  return all;
}

}  // namespace

std::vector<float> first_in_parts(const std::vector<float>& factors, std::int64_t width) {
  return in_parts(factors, width, [](std::size_t product) { return product / 3; });
}

std::vector<float> second_in_parts(const std::vector<float>& factors, std::int64_t width) {
  return in_parts(factors, width, [](std::size_t product) { return product % 3; });
}

}  // namespace emulator::cublas_lt
