#pragma once

#include <cstdint>

#include "kernels/cuda/exact_matmul.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/workspace.h"

namespace assay::cuda {

/// Factors and a bias of a plan's extents, filled with its exact data. They are memory of its own:
/// inputs must stay as they are, and those of a stack's later layers hold nothing.
class ExactOperands {
 public:
  /// `d` is the product's own output, which is overwritten.
  ExactOperands(const MatmulPlan& plan, void* d, CudaStream& stream);

  Operands operands() const;
  /// Fills d with what is right nowhere.
  void spoil_result();
  /// Whether d is right, bit for bit. Waits.
  bool is_result_right();

 private:
  MatmulPlan plan_;
  ExactMatmul exact_;
  CudaStream* stream_;
  Workspace a_, b_, bias_;
  void* d_;
  Workspace wrong_;  // a count
};

}  // namespace assay::cuda
