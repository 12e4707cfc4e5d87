#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/core/dtype.h"
#include "kernels/ops/op.h"

namespace assay::cpu {

/// One fully connected layer y = act(x w^T + bias), prepared for any tensors of its shape.
class Layer {
 public:
  struct Shape {
    std::int64_t batch = 1;
    std::int64_t in = 1;
    std::int64_t out = 1;
    bool bias = false;
  };

  virtual ~Layer() = default;
  /// x [batch][in], w [out][in] and bias [out] have the layer's dtype, as has y [batch][out]; for
  /// i8, bias and y are i32. `bias` is ignored if the shape has none.
  virtual void run(const void* x, const void* w, const void* bias, void* y) = 0;
  virtual std::string implementation() const = 0;
};

/// Makes a layer by the best library that has the dtype and is right. `act` as in the op table.
/// Throws DeviceError.
std::unique_ptr<Layer> make_layer(DType dtype, const Layer::Shape& shape, const std::string& act);

}  // namespace assay::cpu
