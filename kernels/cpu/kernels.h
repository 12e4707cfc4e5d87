#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "kernels/device/kernels.h"

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

/// Implementation text of a kernel that uses no library.
inline constexpr const char* loop_text = "OpenMP loop";

}  // namespace assay::cpu
