#pragma once

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

 private:
  MatmulPlan plan_;
  ExactMatmul exact_;
  CudaStream* stream_;
  Workspace a_, b_, bias_;
  std::optional<TiledScales> a_scales_, b_scales_;  // of block-scaled factors
  void* d_;
  Workspace wrong_;  // count of wrong elements
};

}  // namespace assay::cuda
