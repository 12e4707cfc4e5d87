// Properties of the CPU's kernels that show only on rare operands, or on tensors too large for a
// unit test.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/core/bfloat16.h"
#include "kernels/core/float16.h"
#include "kernels/core/host_tensor.h"
#include "kernels/core/status.h"
#include "kernels/cpu/activations.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/bf16_unit.h"
#include "kernels/cpu/huge_pages.h"
#include "kernels/cpu/narrow_product.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/skinny_gemm.h"
#include "kernels/cpu/streaming.h"
#include "kernels/ops/op.h"

namespace assay::cpu {
namespace {

TEST(StreamOut, CopiesAnyBytesToAnyAddressAndNoneBeside) {
  std::array<std::uint8_t, 512> from{};
  std::iota(from.begin(), from.end(), std::uint8_t{1});
  for (std::size_t offset = 0; offset < 64; ++offset) {
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 127U, 128U, 200U, 320U}) {
      alignas(64) std::array<std::uint8_t, 512> to{};
      stream_out(to.data() + offset, from.data() + 3, bytes);
      end_streaming();
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool is_copied = i >= offset && i < offset + bytes;
        ASSERT_EQ(to[i], is_copied ? from[i - offset + 3] : 0)
            << offset << " " << bytes << " " << i;
      }
    }
  }
}

/// Its tensors are those of f32 or of bytes, whose product would pass for one of the format.
TEST(Products, OfAProductFormatAreRefused) {
  const auto device = make_backend()->open(0);
  for (const Op& op : op_table()) {
    for (const Format format : op.formats) {
      if (format.product() == nullptr) continue;
      try {
        device->prepare({.op = &op, .format = format}, {});
        ADD_FAILURE() << op.name << " in " << name(format);
      } catch (const DeviceError& error) {
        EXPECT_EQ(error.failure(), Failure::not_here) << op.name << " in " << name(format);
      }
    }
  }
}

/// Keeps the figures of a case independent of earlier cases in its process.
TEST(NormalPages, AreWhatATensorLiesOnAfterALargeHostTensorWasFreed) {
  constexpr std::int64_t bytes = std::int64_t{64} << 20;
  std::ifstream system_file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string whom;
  std::getline(system_file, whom);
  if (whom.find("[madvise]") == std::string::npos) GTEST_SKIP() << "huge pages: " << whom;
  mallopt(M_MMAP_MAX, 0);  // keeps freed memory, as a worker does
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  {
    HostTensor large({DType::u8, {bytes}});
    std::ranges::fill(large.bytes(), std::byte{1});
    if (huge_page_share(large.bytes().data()) == 0) GTEST_SKIP() << "none was left";
  }
  const auto device = make_backend()->open(0);
  void* memory = device->allocate(bytes / 2, Memory::standard);
  std::memset(memory, 1, bytes / 2);
  EXPECT_EQ(huge_page_share(static_cast<std::byte*>(memory) + bytes / 4), 0) << "in its middle";
  device->release(memory);
}

TEST(HostTensor, OfAnySizeIsAlignedWritableAndMovable) {
  for (const std::int64_t bytes : {0L, 1L, 65L, (8L << 20) - 1, 8L << 20, (8L << 20) + 1}) {
    HostTensor tensor({DType::u8, {bytes}});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 64, 0U) << bytes;
    std::ranges::fill(tensor.bytes(), std::byte{7});
    const HostTensor moved(std::move(tensor));
    EXPECT_EQ(std::ranges::count(moved.bytes(), std::byte{7}), bytes);
  }
}

/// Returns a b + c by the kernel of bf16.
float fma_of(float a, float b, float c) {
  const Op& op = *find_op("fma");
  Params one;
  one.set("n", std::int64_t{1});
  const OpInstance instance = instantiate(op, DType::bf16, one);
  const auto device = make_backend()->open(0);
  const auto stream = device->create_stream();
  const std::array inputs{BFloat16(a), BFloat16(b), BFloat16(c)};
  BFloat16 y;
  device->prepare(instance, {stream.get(), {&inputs[0], &inputs[1], &inputs[2]}, {&y}})->launch();
  return static_cast<float>(y);
}

TEST(FusedMultiplyAdd, OfBf16GoesBeyondTheRangeOfItsProductsAndBack) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fma_of(0x1p64F, 0x1p64F, -0x1p127F), 0x1p127F);
  EXPECT_EQ(fma_of(0x1p64F, -0x1p64F, 0x1p127F), -0x1p127F);
  EXPECT_EQ(fma_of(0x1p127F, 0x1p127F, 1), infinity);
  EXPECT_EQ(fma_of(0x1p127F, 0x1p127F, -infinity), -infinity);
  EXPECT_EQ(fma_of(0x1p127F, -0x1p127F, infinity), infinity);
  EXPECT_TRUE(std::isnan(fma_of(infinity, 1, -infinity)));
  EXPECT_TRUE(std::isnan(fma_of(infinity, 0, 1)));
}

TEST(FusedMultiplyAdd, OfBf16KeepsTheSignOfWhatIsTooSmall) {
  EXPECT_TRUE(std::signbit(fma_of(-0x1p-100F, 0x1p-100F, 0)));
  EXPECT_FALSE(std::signbit(fma_of(0x1p-100F, 0x1p-100F, -0.0F)));
  EXPECT_FALSE(std::signbit(fma_of(-0.0F, 1, 0))) << "-0 + 0";
  EXPECT_EQ(fma_of(0x1p-100F, 0x1p-100F, 1), 1);
}

// These products lie in the middle between two bf16. The addend is far below an f32's last bit.
TEST(FusedMultiplyAdd, OfBf16RoundsOnce) {
  EXPECT_EQ(fma_of(1 + 0x1p-7F, 1.5F, 0), 1.5F + 0x1p-6F) << "to even";
  EXPECT_EQ(fma_of(1 + 0x1p-7F, 1.5F, -0x1p-60F), 1.5F + 0x1p-7F);
  EXPECT_EQ(fma_of(1 + 0x3p-7F, 1.5F, 0), 1.5F + 0x4p-7F) << "to even";
  EXPECT_EQ(fma_of(1 + 0x3p-7F, 1.5F, 0x1p-60F), 1.5F + 0x5p-7F);
}

/// Small integers, whose products and sums are exact in any order.
template <class T>
std::vector<T> integers(std::int64_t n, int step) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<T>(static_cast<float>(i * step % 7 - 3)));
  }
  return values;
}

template <class W>
void expect_exact_few_rows(std::int64_t rows, std::int64_t cols, std::int64_t k, bool has_bias) {
  const std::vector<float> x = integers<float>(rows * k, 3);
  const std::vector<W> w = integers<W>(cols * k, 5);
  const std::vector<float> bias = integers<float>(cols, 1);
  // One element more than the product writes.
  std::vector<float> y(static_cast<std::size_t>(rows * cols + 1), 1e9F);
  few_rows_product(rows, cols, k, x.data(), w.data(), has_bias ? bias.data() : nullptr, y.data());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) {
      float sum = has_bias ? bias[static_cast<std::size_t>(col)] : 0;
      for (std::int64_t i = 0; i < k; ++i) {
        sum += x[static_cast<std::size_t>(row * k + i)] *
               static_cast<float>(w[static_cast<std::size_t>(col * k + i)]);
      }
      ASSERT_EQ(y[static_cast<std::size_t>(row * cols + col)], sum)
          << rows << " x " << cols << " x " << k << " at " << row << ", " << col;
    }
  }
  EXPECT_EQ(y.back(), 1e9F);
}

TEST(FewRows, AreRightForAnyNumberOfColumnsAndTerms) {
  for (const std::int64_t rows : {1, 2, 8}) {
    for (const std::int64_t cols : {1, 2, 3, 4, 5, 131}) {
      for (const std::int64_t k : {1, 3, 16, 17, 63, 64, 65, 1000}) {
        expect_exact_few_rows<float>(rows, cols, k, k % 2 == 0);
        expect_exact_few_rows<BFloat16>(rows, cols, k, k % 2 == 0);
        expect_exact_few_rows<Float16>(rows, cols, k, k % 2 == 0);
      }
    }
  }
}

std::uint16_t least_of(std::vector<float> values) {
  std::vector<BFloat16> numbers;
  for (const float value : values) numbers.emplace_back(value);
  return least_bf16(numbers.data(), std::ssize(numbers));
}

TEST(Bf16Unit, TellsFromTheFactorsWhetherAnythingCanBeSubnormal) {
  EXPECT_EQ(least_of({1, -0.5F, 0, 2}), least_of({0.5F})) << "zeros do not count";
  EXPECT_EQ(least_of({0, -0.0F}), 0xffff);
  EXPECT_LT(least_of({0x1p-130F, 1}), least_of({0x1p-126F}));
  EXPECT_TRUE(
      are_sums_normal(least_of({1, std::numeric_limits<float>::infinity()}), least_of({3})));
  EXPECT_TRUE(are_sums_normal(least_of({0}), least_of({0x1p-126F})));
  EXPECT_FALSE(are_sums_normal(least_of({0}), least_of({0x1p-127F}))) << "a subnormal factor";
  EXPECT_FALSE(are_sums_normal(least_of({0x1p-127F}), least_of({0x1p100F})));
  EXPECT_TRUE(are_sums_normal(least_of({0x1p-56F}), least_of({0x1p-56F})));
  EXPECT_FALSE(are_sums_normal(least_of({0x1p-56F}), least_of({0x1p-57F})))
      << "(1 + 2^-7)^2 2^-113 - 2^-113 - 2^-119 = 2^-127";
  EXPECT_TRUE(keeps_sums_normal(least_of({0, 0x1p-119F})));
  EXPECT_FALSE(keeps_sums_normal(least_of({1, 0x1p-120F})));
}

/// Product of x, one row for each element of it repeated k times, and w, one row likewise.
std::vector<float> narrow_product(const std::vector<float>& x, const std::vector<float>& w,
                                  std::int64_t k, bool few_rows) {
  const auto rows_of = [k](const std::vector<float>& values) {
    std::vector<BFloat16> rows;
    for (const float value : values) {
      rows.insert(rows.end(), static_cast<std::size_t>(k), BFloat16(value));
    }
    return rows;
  };
  const std::vector<BFloat16> a = rows_of(x);
  const std::vector<BFloat16> b = rows_of(w);
  const auto rows = std::ssize(x);
  const auto cols = std::ssize(w);
  std::vector<float> y(x.size() * w.size(), 1e9F);
  if (few_rows) {
    if (!few_rows_by_unit(rows, cols, k, a.data(), b.data(), nullptr, y.data())) return {};
  } else {
    NarrowProduct<BFloat16>({.m = rows, .n = cols, .k = k, .b_transposed = true},
                            NarrowProduct<BFloat16>::Output::sums)
        .run(a.data(), b.data(), nullptr, y.data());
  }
  return y;
}

TEST(NarrowProduct, LosesNoSubnormalNumber) {
  EXPECT_EQ(narrow_product({0x1p-130F, 1}, {0x1p10F, 1}, 4, false),
            (std::vector<float>{0x1p-118F, 0x1p-128F, 0x1p12F, 4}));
  EXPECT_EQ(narrow_product({0x1p-70F}, {0x1p-70F}, 2, false), std::vector<float>{0x1p-139F});
}

TEST(NarrowProduct, OfFewRowsByTheUnitIsExactOrRefused) {
  if (!has_bf16_unit()) GTEST_SKIP() << "no VDPBF16PS here";
  EXPECT_EQ(narrow_product({0x1p-130F}, {0x1p10F}, 4, true), std::vector<float>());
  EXPECT_EQ(narrow_product({1}, {1, 1, 1, 1, 0x1p-130F}, 4, true), std::vector<float>());
  for (const std::int64_t k : {1, 2, 31, 32, 33, 1000}) {
    for (std::size_t rows = 1; rows <= static_cast<std::size_t>(few_rows_of_unit); ++rows) {
      const std::vector<float> x = integers<float>(static_cast<std::int64_t>(rows), 3);
      const std::vector<float> w{1, -2, 3, 4, 5};  // four are read abreast
      const std::vector<float> y = narrow_product(x, w, k, true);
      ASSERT_EQ(y.size(), rows * w.size());
      for (std::size_t i = 0; i < y.size(); ++i) {
        ASSERT_EQ(y[i], x[i / w.size()] * w[i % w.size()] * static_cast<float>(k))
            << rows << ' ' << k;
      }
    }
  }
}

TEST(Gelu, KeepsItsTailsAndItsEnds) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Gelu gelu;
  for (float x = -12.8F; x < 20; x += 0.01F) {
    const double want = 0.5 * double{x} * std::erfc(-double{x} / std::sqrt(2.0));
    EXPECT_NEAR(gelu(x), want, 1e-5 * std::abs(want)) << x;
  }
  EXPECT_EQ(gelu(-13.0F), 0);
  EXPECT_EQ(gelu(-1e30F), 0);
  EXPECT_EQ(gelu(1e30F), 1e30F);
  EXPECT_EQ(gelu(infinity), infinity);
  EXPECT_TRUE(std::isnan(gelu(-infinity))) << "as x Phi(x) has it";
  EXPECT_TRUE(std::isnan(gelu(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::signbit(gelu(-0.0F)));
  EXPECT_EQ(gelu(1e-40F), 0.5F * 1e-40F) << "subnormal";
}

/// Returns y by the kernel of a reduction of f32.
float reduced(const char* op, const std::vector<float>& x) {
  Params size;
  size.set("n", std::ssize(x));
  const auto device = make_backend()->open(0);
  const auto stream = device->create_stream();
  float y = 0;
  device->prepare(instantiate(*find_op(op), DType::f32, size), {stream.get(), {x.data()}, {&y}})
      ->launch();
  return y;
}

TEST(Reductions, NoChainAndNoRemainderIsForgotten) {
  for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 63U, 64U, 67U, 2049U}) {
    for (std::size_t at = 0; at < n; at += n < 100 ? 1 : 97) {
      std::vector<float> x(n, 1);
      x[at] = -5;
      EXPECT_EQ(reduced("reduce_min", x), -5) << at << " of " << n;
      EXPECT_EQ(reduced("sum", x), static_cast<float>(n) - 6) << at << " of " << n;
      x[at] = 5;
      EXPECT_EQ(reduced("reduce_max", x), 5) << at << " of " << n;
      x[at] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_TRUE(std::isnan(reduced("reduce_min", x))) << at << " of " << n;
      EXPECT_TRUE(std::isnan(reduced("reduce_max", x))) << at << " of " << n;
    }
  }
}

// Shows why bf16 is widened even where oneDNN multiplies it. A oneDNN that keeps subnormals could
// be used.
TEST(Bf16Products, OfTheProcessorTakeSubnormalsForZeros) {
  const std::array x{BFloat16(1), BFloat16(std::numeric_limits<float>::infinity())};
  const std::array w{BFloat16(0x1p-130F), BFloat16(0x1p-130F)};
  std::array<BFloat16, 2> y;
  try {
    DnnlMatmul product(DType::bf16, DType::bf16, {.m = 2, .k = 1, .b_transposed = true});
    product.run(x.data(), w.data(), nullptr, y.data());
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(static_cast<float>(y[0]), 0) << "1 times a subnormal";
  EXPECT_TRUE(std::isnan(static_cast<float>(y[1]))) << "infinity times a subnormal";
}

}  // namespace
}  // namespace assay::cpu
