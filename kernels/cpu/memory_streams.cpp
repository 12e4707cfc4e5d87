#include <array>
#include <cmath>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/streaming.h"
#include "kernels/cpu/vectorize.h"

// Streams through memory: all threads read or write all of it once, with as little other work as
// possible. The ceilings of `assay limits` use them.
namespace assay::cpu {
namespace {

constexpr std::int64_t staged = staged_bytes / static_cast<std::int64_t>(sizeof(double));
using Stage = std::array<double, staged>;

const double* input(const Binding& binding, std::size_t i) {
  return static_cast<const double*>(binding.inputs[i]);
}
double* output(const Binding& binding) { return static_cast<double*>(binding.outputs[0]); }

/// Reads four streams in distant pages: a single one keeps too few reads in flight.
ASSAY_VECTOR_CLONES std::uint64_t exclusive_or(const std::uint64_t* x, std::int64_t n) {
  const std::int64_t quarter = n / 4;
  std::uint64_t all = 0;
  for (std::int64_t i = 0; i < quarter; ++i) {
    all ^= x[i] ^ x[i + quarter] ^ x[i + 2 * quarter] ^ x[i + 3 * quarter];
  }
  for (std::int64_t i = 4 * quarter; i < n; ++i) all ^= x[i];
  return all;
}

std::unique_ptr<Kernel> read(const OpInstance& op, const Binding& binding) {
  const auto* x = static_cast<const std::uint64_t*>(binding.inputs[0]);
  auto* y = static_cast<std::uint64_t*>(binding.outputs[0]);
  const std::int64_t n = op.params.integer("n");
  return std::make_unique<FunctionKernel>(loop_text, [=] {
    std::uint64_t all = 0;
    parallel_blocks(n, sizeof(*x), [&](std::int64_t, std::int64_t first, std::int64_t count) {
      const std::uint64_t part = exclusive_or(x + first, count);
      __atomic_fetch_xor(&all, part, __ATOMIC_RELAXED);
    });
    *y = all;
  });
}

std::unique_ptr<Kernel> write(const OpInstance& op, const Binding& binding) {
  const double* a = input(binding, 0);
  double* y = output(binding);
  const std::int64_t n = op.params.integer("n");
  return std::make_unique<FunctionKernel>("OpenMP loop, streaming stores", [=] {
    Stage stage;
    std::fill_n(stage.begin(), std::min(staged, n), *a);
    parallel_blocks(n, sizeof(double), [&](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = 0; i < count; i += staged) {
        const std::int64_t some = std::min(staged, count - i);
        stream_out(y + first + i, stage.data(), static_cast<std::size_t>(some) * sizeof(double));
      }
      end_streaming();
    });
  });
}

std::unique_ptr<Kernel> copy(const OpInstance& op, const Binding& binding) {
  const double* x = input(binding, 0);
  double* y = output(binding);
  const std::int64_t n = op.params.integer("n");
  return std::make_unique<FunctionKernel>("OpenMP loop, streaming stores", [=] {
    parallel_blocks(
        n, 2 * sizeof(double), [=](std::int64_t, std::int64_t first, std::int64_t count) {
          stream_out(y + first, x + first, static_cast<std::size_t>(count) * sizeof(double));
          end_streaming();
        });
  });
}

ASSAY_VECTOR_CLONES void triad_block(double* y, const double* a, const double* b, double s,
                                     std::int64_t n) {
  Stage stage;
  for (std::int64_t i = 0; i < n; i += staged) {
    const std::int64_t some = std::min(staged, n - i);
#pragma omp simd
    for (std::int64_t k = 0; k < some; ++k) {
      stage[static_cast<std::size_t>(k)] = std::fma(s, b[i + k], a[i + k]);
    }
    stream_out(y + i, stage.data(), static_cast<std::size_t>(some) * sizeof(double));
  }
  end_streaming();
}

std::unique_ptr<Kernel> triad(const OpInstance& op, const Binding& binding) {
  const double* a = input(binding, 0);
  const double* b = input(binding, 1);
  const double* s = input(binding, 2);
  double* y = output(binding);
  const std::int64_t n = op.params.integer("n");
  return std::make_unique<FunctionKernel>("OpenMP loop, streaming stores", [=] {
    parallel_blocks(n, 3 * sizeof(double),
                    [=](std::int64_t, std::int64_t first, std::int64_t count) {
                      triad_block(y + first, a + first, b + first, *s, count);
                    });
  });
}

constexpr KernelRow rows[] = {
    {"stream_read", read},
    {"stream_write", write},
    {"stream_copy", copy},
    {"stream_triad", triad},
};

}  // namespace

std::span<const KernelRow> memory_streams_kernels() { return rows; }

}  // namespace assay::cpu
