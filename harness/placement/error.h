#pragma once

#include <stdexcept>

namespace assay::placement {

/// An impossible request: an op on tensors of two devices, a copy to another shape. The text names
/// the op and everything that does not fit.
class PlacementError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace assay::placement
