// Rows of lengths and values at which the kernels of rowwise.cu change their ways.
#include <cmath>

#include "tests/unit/kernels/cuda/emulated/support.h"

namespace assay {
namespace {

/// Layernorm, with weights of one and biases of zero, of `rows` rows of these values.
template <class T>
std::vector<T> layernorm(Device& gpu, DType dtype, std::size_t rows, const std::vector<T>& row) {
  const OpInstance op = instance(
      "layernorm", dtype, {{"rows", std::to_string(rows)}, {"cols", std::to_string(row.size())}});
  const Rank rank(gpu, op);
  const std::vector<T> ones(row.size(), T{1});
  const std::vector<T> zeros(row.size(), T{0});
  const std::size_t bytes = row.size() * sizeof(T);
  for (std::size_t i = 0; i < rows; ++i)
    gpu.upload(rank.buffers[0]->data() + i * bytes, row.data(), bytes);
  gpu.upload(rank.buffers[1]->data(), ones.data(), bytes);
  gpu.upload(rank.buffers[2]->data(), zeros.data(), bytes);
  const auto kernel = gpu.prepare(op, rank.binding);
  kernel->launch();
  rank.stream->synchronize();
  std::vector<T> result(rows * row.size());
  gpu.download(result.data(), rank.binding.outputs[0], result.size() * sizeof(T));
  return result;
}

/// `cols` times `mean` plus and minus `deviation`, whose layernorm is 1 and -1.
template <class T>
std::vector<T> alternating(std::int64_t cols, T mean, T deviation) {
  std::vector<T> row(static_cast<std::size_t>(cols));
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = i % 2 == 0 ? mean + deviation : mean - deviation;
  return row;
}

template <class T>
void expect_alternates(const std::vector<T>& found, std::int64_t cols, T tolerance) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const T expected = static_cast<std::int64_t>(i) % cols % 2 == 0 ? T{1} : T{-1};
    ASSERT_TRUE(std::abs(found[i] - expected) <= tolerance)
        << cols << " columns, at " << i << ": " << found[i] << ", not " << expected;
  }
}

/// Lengths up to 8192 of f32 and 4096 of f64 are those of rows in registers. From 24 KiB on, weight
/// and bias do not fit into the shared memory of a block.
TEST(Rowwise, RowsOfEveryLengthLaunch) {
  on_gpu([](Device& gpu) {
    for (const std::int64_t cols : {4096, 5104, 5108, 6112, 6140, 6144, 6148, 8192, 8196}) {
      expect_alternates(layernorm<float>(gpu, DType::f32, 2, alternating<float>(cols, 0, 1024)),
                        cols, 1e-3F);
    }
    for (const std::int64_t cols : {2048, 3052, 3054, 3056, 3070, 3072, 3074, 4096, 4098}) {
      expect_alternates(layernorm<double>(gpu, DType::f64, 2, alternating<double>(cols, 0, 1024)),
                        cols, 1e-3);
    }
  });
}

TEST(Rowwise, RowsOfHugeFiniteElementsHaveFiniteResults) {
  on_gpu([](Device& gpu) {
    for (const std::int64_t cols : {128, 8192, 9002, 20000}) {
      expect_alternates(
          layernorm<float>(gpu, DType::f32, 2, alternating<float>(cols, 2e19F, 1e17F)), cols,
          0.01F);
    }
  });
}

}  // namespace
}  // namespace assay
