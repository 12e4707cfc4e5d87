#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kernels/base/device.h"
#include "kernels/op.h"

namespace assay::cpu {

/// A kernel that is one call.
class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(std::string implementation, std::function<void()> run)
      : implementation_(std::move(implementation)), run_(std::move(run)) {}
  void launch() override { run_(); }
  std::string implementation() const override { return implementation_; }

 private:
  std::string implementation_;
  std::function<void()> run_;
};

// One factory per op. Each binds the op to its tensors, and throws DeviceError(unsupported) for a
// dtype that it does not have.
using Factory = std::unique_ptr<Kernel> (*)(const OpInstance&, const Binding&);

std::unique_ptr<Kernel> add(const OpInstance& op, const Binding& binding);
std::unique_ptr<Kernel> square(const OpInstance& op, const Binding& binding);
std::unique_ptr<Kernel> exponential(const OpInstance& op,
                                    const Binding& binding);                    // elementwise.cpp
std::unique_ptr<Kernel> sum(const OpInstance& op, const Binding& binding);      // reduction.cpp
std::unique_ptr<Kernel> softmax(const OpInstance& op, const Binding& binding);  // rowwise.cpp
std::unique_ptr<Kernel> linear(const OpInstance& op, const Binding& binding);   // linear.cpp
std::unique_ptr<Kernel> copy(const OpInstance& op, const Binding& binding);     // copy.cpp

[[noreturn]] void refuse_dtype(const OpInstance& op);

/// Calls `make(std::type_identity<T>{})` for the first T of `Ts` that stores the op's dtype.
template <class... Ts, class Make>
std::unique_ptr<Kernel> for_dtype(const OpInstance& op, const Make& make) {
  std::unique_ptr<Kernel> kernel;
  visit_dtype(op.dtype, [&]<class T>(std::type_identity<T> type) {
    if constexpr ((std::is_same_v<T, Ts> || ...)) kernel = make(type);
  });
  if (!kernel) refuse_dtype(op);
  return kernel;
}

}  // namespace assay::cpu
