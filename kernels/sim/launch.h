#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/device/device.h"
#include "kernels/ops/op.h"

namespace assay::sim {

/// State that a fault keeps between the launches of one kernel.
struct History {
  std::int64_t launches = 0;      // number of earlier ones
  std::vector<std::byte> output;  // of the previous launch, of the first rank that has one
};

/// One launch of an op on simulated devices, as a data fault sees it. The fault runs in place of
/// the right kernel. All addresses are in host memory.
class Launch {
 public:
  using Prepare =
      std::function<std::unique_ptr<Kernel>(const OpInstance&, std::span<const Binding>)>;

  Launch(const OpInstance& op, std::span<const Binding> ranks, Kernel& right,
         const Prepare& prepare, History& history)
      : op_(op), ranks_(ranks), right_(right), prepare_(prepare), history_(history) {}

  const OpInstance& op() const { return op_; }
  int ranks() const { return static_cast<int>(ranks_.size()); }
  History& history() { return history_; }

  /// Runs the op itself.
  void right() { right_.launch(); }
  /// Runs another op, with the op's own outputs.
  void other(const OpInstance& op) { prepare_(op, ranks_)->launch(); }
  /// Runs the op with other data: replaces input `index` of rank `rank`.
  void with_input(std::size_t index, const std::vector<std::byte>& data, int rank = 0) {
    std::vector<Binding> bindings(ranks_.begin(), ranks_.end());
    bindings.at(static_cast<std::size_t>(rank)).inputs.at(index) = data.data();
    prepare_(op_, bindings)->launch();
  }

  /// Elements of an output without gaps.
  template <class T>
  std::span<T> output(int rank = first_with_output) const {
    return {reinterpret_cast<T*>(output_bytes(rank)), elements(op_.signature.outputs.at(0))};
  }
  template <class T>
  std::span<const T> input(std::size_t index, int rank = 0) const {
    return {static_cast<const T*>(binding(rank).inputs.at(index)),
            elements(op_.signature.inputs.at(index))};
  }
  std::vector<std::byte> copy_of_input(std::size_t index, int rank = 0) const {
    const auto* bytes = static_cast<const std::byte*>(binding(rank).inputs.at(index));
    return {bytes, bytes + op_.signature.inputs.at(index).span_bytes()};
  }
  std::vector<std::byte> copy_of_output(int rank = first_with_output) const {
    const std::byte* bytes = output_bytes(rank);
    return {bytes, bytes + op_.signature.outputs.at(0).span_bytes()};
  }
  std::byte* output_bytes(int rank = first_with_output) const {
    if (rank == first_with_output) rank = std::max(0, op_.signature.output_rank);
    const Binding& b = binding(rank);
    return static_cast<std::byte*>(op_.signature.in_place ? const_cast<void*>(b.inputs.at(0))
                                                          : b.outputs.at(0));
  }

  static constexpr int first_with_output = -1;

 private:
  const Binding& binding(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  static std::size_t elements(const TensorSpec& spec) {
    return static_cast<std::size_t>(spec.elements());
  }

  const OpInstance& op_;
  std::span<const Binding> ranks_;
  Kernel& right_;
  const Prepare& prepare_;
  History& history_;
};

/// Copies the op with one parameter changed.
inline OpInstance with_parameter(const OpInstance& op, std::string_view name,
                                 const ParamValue& value) {
  Params params = op.params;
  params.set(name, value);
  return instantiate(*op.op, op.format, params);
}

}  // namespace assay::sim
