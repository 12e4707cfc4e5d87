#pragma once

#include <cstdint>
#include <string>

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

}  // namespace assay::cpu
