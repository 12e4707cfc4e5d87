#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/tests/faults/support.h"
#include "emulator/tests/opcodes/matrix_model.h"
#include "emulator/tests/opcodes/operand.h"

// Kernels in CUDA C++ with nvcuda::wmma or inline PTX.
namespace emulator::test {
namespace {

constexpr int n = 64;

struct Case {
  const char *file, *kernel, *factor, *sum, *gpu;
  UnitModel model;  // terms 0: exact
  bool b_by_rows = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.kernel << " on " << c.gpu; }
constexpr const char* ampere = "matrix_product_sm80";
constexpr const char* ada = "matrix_product_sm89";
constexpr Case cases[] = {
    {ampere, "wmma_f16", "f16", "f32", "a100", {8, 24, -132}},
    {ampere, "wmma_f16", "f16", "f32", "h100sxm", {16, 25, -133}},
    {ampere, "wmma_f16_f16", "f16", "f16", "a100", {8, 24, -20}},
    {ampere, "wmma_f16_f16", "f16", "f16", "b200", {16, 25, -21}},
    {ampere, "wmma_bf16", "bf16", "f32", "rtx3090", {8, 24, -132}},
    {ampere, "wmma_tf32", "tf32", "f32", "l40s", {4, 24, -132}},
    {ampere, "wmma_tf32", "tf32", "f32", "h200", {8, 25, -133}},
    {ampere, "wmma_s8", "s8", "s32", "a100", {}},
    {ampere, "mma_f16", "f16", "f32", "a100", {8, 24, -132}, true},
    {ampere, "mma_f16", "f16", "f32", "h100", {16, 25, -133}, true},
    {ada, "mma_e4m3", "e4m3", "f32", "l40s", {16, 13, -132, 13}},
};

class MatrixKernels : public testing::TestWithParam<Case> {};

TEST_P(MatrixKernels, HaveTheBitsOfTheGpu) {
  const Case& c = GetParam();
  Random random(9);
  const auto values = [&](const std::string& type) {
    std::vector<double> matrix(std::size_t{n} * n);
    for (double& value : matrix) {
      value = static_cast<double>(random() % 256) - 128;
      if (c.model.terms != 0) {
        value = std::ldexp(value, -8 + static_cast<int>(random() % 5));
        value = matrix_value(type, matrix_bits(type, value));
      }
    }
    return matrix;
  };
  const auto bytes = [](const std::string& type, const std::vector<double>& matrix) {
    std::vector<std::byte> all(matrix.size() * matrix_bytes(type));
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      const std::uint64_t bits = matrix_bits(type, matrix[i]);
      std::memcpy(all.data() + i * matrix_bytes(type), &bits, matrix_bytes(type));
    }
    return all;
  };
  const auto a = values(c.factor), b = values(c.factor), sum = values(c.sum);
  FaultTest test(c.file);
  test.device.set_gpu(c.gpu);
  const auto d = test.device.upload(bytes(c.sum, sum));
  test.expect_none(c.kernel, {.grid = {1}, .block = {128}}, test.device.upload(bytes(c.factor, a)),
                   test.device.upload(bytes(c.factor, b)), d);
  const auto result = test.device.download<std::byte>(d, sum.size() * matrix_bytes(c.sum));
  int wrong = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<double> x, y;
      double expected = sum[i * n + j];
      for (std::size_t l = 0; l < n; ++l) {
        x.push_back(a[i * n + l]);
        y.push_back(c.b_by_rows ? b[l * n + j] : b[j * n + l]);
        if (c.model.terms == 0) expected += x.back() * y.back();
      }
      if (c.model.terms != 0)
        expected =
            unit_sum(c.model, x, c.factor, y, c.factor, expected, std::string(c.sum) == "f16");
      std::uint64_t bits = 0;
      std::memcpy(&bits, result.data() + (i * n + j) * matrix_bytes(c.sum), matrix_bytes(c.sum));
      wrong += bits == matrix_bits(c.sum, expected) ? 0 : 1;
    }
  EXPECT_EQ(wrong, 0) << "of " << n * n;
}

INSTANTIATE_TEST_SUITE_P(Products, MatrixKernels, testing::ValuesIn(cases));

TEST(MatrixKernel, StoresFragmentsOnHopper) {
  FaultTest test("matrix_store_sm90");
  // Register r of lane l: two elements of quarter r.
  std::vector<std::uint32_t> fragments;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    for (std::uint32_t r = 0; r < 4; ++r) {
      const std::uint32_t row = lane / 4 + r % 2 * 8, column = lane % 4 * 2 + r / 2 * 8;
      fragments.push_back((row * 16 + column) | (row * 16 + column + 1) << 16);
    }
  const auto matrix = test.device.allocate(512), transpose = test.device.allocate(512);
  test.expect_none("store_fragments", {.grid = {1}, .block = {32}}, test.device.upload(fragments),
                   matrix, transpose);
  const auto plain = test.device.download<std::uint16_t>(matrix, 256);
  const auto turned = test.device.download<std::uint16_t>(transpose, 256);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) {
      EXPECT_EQ(plain[row * 16 + column], row * 16 + column);
      EXPECT_EQ(turned[column * 16 + row], row * 16 + column);
    }
}

}  // namespace
}  // namespace emulator::test
