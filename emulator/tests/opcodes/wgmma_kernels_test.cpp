#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "emulator/tests/faults/support.h"
#include "emulator/tests/opcodes/matrix_model.h"
#include "emulator/tests/opcodes/operand.h"

// A kernel in CUDA C++ that multiplies matrices tile by tile with wgmma.
namespace emulator::test {
namespace {

constexpr unsigned m = 256, n = 128, k = 320;
constexpr Shape shape{
    .grid = {n / 64, m / 128}, .block = {256}, .dynamic_shared_bytes = 2 * 2 * (128 + 64) * 64};

struct TiledProduct : testing::Test {
  TiledProduct() : test("tiled_product_sm90a") {
    test.device.set_gpu("h100sxm");
    Random random(6);
    for (auto* matrix : {&a, &b})
      for (double& value : *matrix) {
        value = std::ldexp(static_cast<double>(random() % 512) - 256, -8);
        value = matrix_value("f16", matrix_bits("f16", value));
      }
  }
  static std::vector<std::uint16_t> bits(const std::vector<double>& matrix) {
    std::vector<std::uint16_t> all;
    for (const double value : matrix)
      all.push_back(static_cast<std::uint16_t>(matrix_bits("f16", value)));
    return all;
  }
  FaultTest test;
  std::vector<double> a = std::vector<double>(m * k), b = std::vector<double>(k * n);
};

TEST_F(TiledProduct, HasTheBitsOfTheGpu) {
  const auto d = test.device.allocate(m * n * sizeof(float));
  const auto a_bits = test.device.upload(bits(a)), b_bits = test.device.upload(bits(b));
  for_seeds(test.kernels, 3, [&] {
    test.expect_none("tiled_product", shape, a_bits, b_bits, d, n, k, 0);
    const auto result = test.device.download<float>(d, m * n);
    int wrong = 0;
    for (unsigned i = 0; i < m; ++i)
      for (unsigned j = 0; j < n; ++j) {
        std::vector<double> x, y;
        for (unsigned l = 0; l < k; ++l) x.push_back(a[i * k + l]), y.push_back(b[l * n + j]);
        const double expected = unit_sum({16, 25, -133}, x, "f16", y, "f16", 0, false);
        wrong += result[i * n + j] == static_cast<float>(expected) ? 0 : 1;
      }
    EXPECT_EQ(wrong, 0) << "of " << m * n;
  });
}

TEST_F(TiledProduct, IsFilledBehindItsReaders) {
  const auto d = test.device.allocate(m * n * sizeof(float));
  const auto a_bits = test.device.upload(bits(a)), b_bits = test.device.upload(bits(b));
  for_seeds(test.kernels, 4, [&] {
    test.expect_fault({FaultKind::race, std::nullopt, std::nullopt, std::nullopt}, "tiled_product",
                      shape, a_bits, b_bits, d, n, k, 1);
  });
}

}  // namespace
}  // namespace emulator::test
