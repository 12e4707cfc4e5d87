#include "harness/placement/apply.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "harness/placement/error.h"
#include "kernels/device/device.h"

namespace assay::placement {
namespace {

/// Name of the tensor's place ("cpu"), or the driver's answer if it contradicts.
std::string whereabouts(const Place& asked, const Tensor& tensor) {
  const std::string& made_for = tensor.place().text();
  if (&tensor.place() != &asked) return made_for;
  return fmt::format("{}, by its driver ({} has {})", asked.device().owner_uuid(tensor.data()),
                     made_for, asked.device().info().uuid);
}

void refuse_mixed(const OpInstance& op, const Place& place, std::span<const Tensor> operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (holds(place, operands[i])) continue;
    throw PlacementError(fmt::format("{} on {}: operand {} is on {}: move one of them, as by to()",
                                     op.op->name, place.text(), i,
                                     whereabouts(place, operands[i])));
  }
}

/// Throws for operands of other dtypes or element counts than the op's.
void refuse_misfits(const OpInstance& op, std::span<const Tensor> operands) {
  const std::vector<TensorSpec>& wanted = op.signature.inputs;
  bool fits = operands.size() == wanted.size();
  for (std::size_t i = 0; fits && i < wanted.size(); ++i) {
    fits = operands[i].dtype() == wanted[i].dtype && operands[i].elements() == wanted[i].elements();
  }
  if (fits) return;
  std::vector<std::string> given;
  std::vector<std::string> expected;
  for (const Tensor& operand : operands) given.push_back(text(operand.dtype(), operand.shape()));
  for (const TensorSpec& spec : wanted) expected.push_back(text(spec.dtype, spec.shape));
  throw PlacementError(fmt::format("{} on {}: takes {}, not {}", op.op->name,
                                   operands.front().place().text(), fmt::join(expected, ", "),
                                   fmt::join(given, ", ")));
}

}  // namespace

bool holds(const Place& place, const Tensor& tensor) {
  if (tensor.elements() == 0) return &tensor.place() == &place;  // there is nothing to hold
  const std::string holder = place.device().owner_uuid(tensor.data());
  return holder.empty() ? &tensor.place() == &place : holder == place.device().info().uuid;
}

void launch(const OpInstance& op, const Place& place, std::vector<const void*> inputs,
            void* output) {
  const auto stream = place.device().create_stream();
  const auto kernel = place.device().prepare(op, {stream.get(), std::move(inputs), {output}});
  kernel->launch();
  stream->synchronize();
  place.devices().note(*kernel);
}

Tensor apply_on(Place& place, const OpInstance& op) {
  const TensorSpec& result = op.signature.outputs.front();
  Tensor output(place, result.dtype, result.shape);
  launch(op, place, {}, output.data());
  return output;
}

Tensor apply(const OpInstance& op, std::span<const Tensor> operands) {
  Place& place = operands.front().place();
  refuse_mixed(op, place, operands);
  refuse_misfits(op, operands);
  std::vector<Tensor> dense;  // lives until the kernel has ended
  std::vector<const void*> inputs;
  for (const Tensor& operand : operands) {
    inputs.push_back(dense.emplace_back(operand.dense()).data());
  }
  const TensorSpec& result = op.signature.outputs.front();
  Tensor output(place, result.dtype, result.shape);
  launch(op, place, std::move(inputs), output.data());
  return output;
}

Tensor apply(std::string_view op, const Params& params, std::initializer_list<Tensor> operands) {
  return placement::apply(instantiate(*find_op(op), operands.begin()->dtype(), params), operands);
}

}  // namespace assay::placement
