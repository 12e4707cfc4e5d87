#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/placement/tensor.h"

namespace assay::placement {

/// A function of one tensor, with parameters that are all on one device. Forward passes only: there
/// is no automatic differentiation.
class Module {
 public:
  virtual ~Module() = default;
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Throws PlacementError where `x` is on another device than the parameters.
  virtual Tensor forward(const Tensor& x) const = 0;
  /// Every parameter, in a fixed order. Callers may change them in place.
  virtual std::vector<Tensor*> parameters() = 0;
  /// Returns a module with the same parameters on `place`.
  virtual std::unique_ptr<Module> replica(Place& place) const = 0;

  /// Moves the module itself, with all of its parameters.
  Module& to(Place& place);
};

/// act(x W^T + b) of x [batch, in], W [out, in] and, perhaps, b [out].
class Linear final : public Module {
 public:
  /// "none", "relu", "gelu", "gelu_tanh".
  Linear(Tensor weight, std::optional<Tensor> bias, std::string activation = "none")
      : weight_(std::move(weight)), bias_(std::move(bias)), activation_(std::move(activation)) {}

  Tensor forward(const Tensor& x) const override;
  std::vector<Tensor*> parameters() override;
  std::unique_ptr<Module> replica(Place& place) const override;

 private:
  Tensor weight_;
  std::optional<Tensor> bias_;
  std::string activation_;
};

/// Modules one after another, each on the output of the one before.
class Sequential final : public Module {
 public:
  explicit Sequential(std::vector<std::unique_ptr<Module>> modules)
      : modules_(std::move(modules)) {}

  Tensor forward(const Tensor& x) const override;
  std::vector<Tensor*> parameters() override;
  std::unique_ptr<Module> replica(Place& place) const override;

 private:
  std::vector<std::unique_ptr<Module>> modules_;
};

}  // namespace assay::placement
