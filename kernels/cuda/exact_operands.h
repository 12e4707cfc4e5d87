#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "kernels/cuda/block_scales.h"
#include "kernels/cuda/exact_matmul.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/workspace.h"

namespace assay::cuda {

/// Writes factors and a bias of a plan's extents. `bias` is null if the plan has none.
using FillOperands = std::function<void(void* a, void* b, void* bias)>;

/// Factors and a bias of a plan's extents, filled with its exact data. They use separate memory:
/// inputs must not change, and those of a stack's later layers hold no data yet. Scales are 1.
class ExactOperands {
 public:
  /// Overwrites `d`, the product's own output.
  ExactOperands(const MatmulPlan& plan, void* d, CudaStream& stream);

  Operands operands() const;
  /// Replaces the exact data.
  void refill(const FillOperands& fill) const;
  /// Fills d with values that are wrong everywhere.
  void spoil_result();
  /// Returns true if d is right, bit for bit. Waits.
  bool is_result_right();
  /// Puts a NaN into op(B)'s first column, so that all of d's first column must be NaN.
  void put_nan();
  /// Takes it back.
  void take_nan_back();
  /// Returns true if d's first column is NaN. Waits.
  bool is_first_column_nan();

 private:
  /// Where a NaN can be put, and its bytes: E2M1 has none, but scales do.
  struct NanPlace {
    void* memory;
    std::size_t bytes;
    std::uint64_t nan;
  };
  NanPlace nan_place() const;
  unsigned counted(const std::function<void(unsigned* wrong)>& enqueue);

  MatmulPlan plan_;
  ExactMatmul exact_;
  CudaStream* stream_;
  Workspace a_, b_, bias_;
  std::optional<TiledScales> a_scales_, b_scales_;         // of block-scaled factors
  std::array<std::byte, sizeof(double)> exact_element_{};  // in place of which there is a NaN
  void* d_;
  Workspace wrong_;  // count of wrong elements
};

}  // namespace assay::cuda
