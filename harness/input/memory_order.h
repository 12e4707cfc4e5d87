#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/core/tensor_spec.h"

namespace assay::input {

/// Elements of a tensor in the order of their addresses, in runs that lie together: all of a dense
/// one, the rows of one whose rows lie apart, single elements of a transposed one. Of elements that
/// share memory, the first alone.
class MemoryOrder {
 public:
  explicit MemoryOrder(const TensorSpec& spec);

  struct Run {
    std::int64_t element = 0;  // its first, counted as in a dense tensor
    std::int64_t offset = 0;   // elements from the tensor's first one
  };

  std::int64_t runs() const { return runs_; }
  std::int64_t run_elements() const { return run_elements_; }
  /// Run at a place of the order.
  Run run(std::int64_t place) const;
  /// Runs from this place on. Cheaper than one after the other.
  void list(std::int64_t first, std::span<Run> to) const;

 private:
  struct Extent {
    std::int64_t count;
    std::int64_t stride;        // in memory
    std::int64_t dense_stride;  // in the count of elements
  };
  std::vector<Extent> outer_;  // largest stride first
  std::int64_t runs_ = 1;
  std::int64_t run_elements_;
};

}  // namespace assay::input
