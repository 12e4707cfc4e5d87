#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <functional>
#include <optional>

#include "harness/placement/apply.h"
#include "harness/placement/device_guard.h"
#include "harness/placement/error.h"
#include "harness/placement/module.h"
#include "harness/placement/scenarios/families.h"
#include "kernels/core/status.h"

namespace assay::placement {
namespace {

OpInstance of_elements(std::string_view op, const Tensor& x) {
  Params params;
  params.set("n", x.elements());
  return instantiate(*find_op(op), x.dtype(), params);
}

/// Results stay where the operands are, whichever device is current.
void results_stay(Stage& stage) {
  Place& place = stage.place();
  const DeviceGuard guard(stage.devices().cpu());
  const Tensor squares = apply(of_elements("square", stage.input()), {stage.input()});
  expect_on(place, squares, "a result");
  stage.output().copy_from(squares);
}

/// Expects the layer to refuse `work` by an error that names all of `named`, and to compute
/// nothing.
void expect_refusal(const std::function<void()>& work, const std::vector<std::string>& named) {
  std::optional<std::string> refusal;
  try {
    work();
  } catch (const PlacementError& error) {
    refusal = error.what();
  } catch (const DeviceError& error) {
    throw ScenarioFailure{
        fmt::format("{} of tensors on two devices was tried: {}", named.front(), error.what())};
  }
  expect(refusal.has_value(),
         fmt::format("{} of tensors on {} was computed", named.front(), fmt::join(named, ", ")));
  for (const std::string& word : named) {
    expect(refusal->find(word) != std::string::npos,
           fmt::format("the refusal does not name '{}': {}", word, *refusal));
  }
}

/// Operands on different devices are refused with an error that names both and the op.
void mixed_devices_refused(Stage& stage) {
  const Tensor& here = stage.input();
  const Tensor there = here.cpu();
  const OpInstance add = of_elements("add", here);
  const std::vector<std::string> named{"add", stage.place().text(), stage.devices().cpu().text()};
  expect_refusal([&] { apply(add, {here, there}); }, named);
  expect_refusal([&] { apply(add, {there, here}); }, named);
  stage.output().copy_from(here);
}

/// Refuses operands on two devices of a kind, and a module's input on another device.
void mixed_peers_refused(Stage& stage) {
  const Tensor& here = stage.input();
  Place& other = *stage.places.at(1);
  const OpInstance add = of_elements("add", here);
  expect_refusal(
      [&] {
        apply(add, {here, here.to(other)});
      },
      {"add", stage.place().text(), other.text()});
  const std::int64_t n = here.elements();
  const Linear layer(Tensor(other, here.dtype(), {2, n}), std::nullopt);
  expect_refusal(
      [&] {
        layer.forward(here.reshaped({1, n}));
      },
      {"linear", stage.place().text(), other.text()});
  stage.output().copy_from(here.to(other));
}

/// [1, 2, 3] squared, in the integers that they are.
void square_123(Stage& stage) {
  constexpr std::array<std::int64_t, 3> numbers{1, 2, 3};
  Tensor host(stage.devices(), DType::i64, {3});
  host.write(std::as_bytes(std::span(numbers)));
  const Tensor there = host.to(stage.place());
  const Tensor squares = apply(of_elements("square", there), {there});
  expect(squares.dtype() == DType::i64, "squares of integers are no integers");
  expect_on(stage.place(), squares, "a square");
  stage.output().copy_from(squares);
}

/// Makes a layer on the CPU from inputs `first` on: a weight and perhaps a bias.
std::unique_ptr<Linear> linear_from(const Stage& stage, std::size_t first,
                                    const std::string& activation) {
  std::optional<Tensor> bias;
  if (stage.op.params.integer("bias") != 0) bias = stage.input(first + 1).cpu();
  return std::make_unique<Linear>(stage.input(first).cpu(), std::move(bias), activation);
}

/// Moves a module and expects the same object, with every parameter on `place`.
void move_in_place(Module& module, Place& place) {
  std::vector<const Tensor*> objects;
  for (const Tensor* parameter : module.parameters()) objects.push_back(parameter);
  Module& moved = module.to(place);
  expect(&moved == &module, "a module that was moved is another one");
  const std::vector<Tensor*> parameters = module.parameters();
  expect(parameters.size() == objects.size(), "a module that was moved has other parameters");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    expect(parameters[i] == objects[i], "a parameter of a module that was moved is another one");
    expect_on(place, *parameters[i], fmt::format("parameter {} of a moved module", i));
  }
}

/// A module is born on the CPU and moves in place, all of its parameters with it.
void linear_module(Stage& stage) {
  const auto layer = linear_from(stage, 1, stage.op.params.word("act"));
  move_in_place(*layer, stage.place());
  const Tensor y = layer->forward(stage.input());
  expect_on(stage.place(), y, "the output of a layer");
  stage.output().copy_from(y);
}

void sequential(Stage& stage) {
  const auto stack = stack_of(stage);
  move_in_place(*stack, stage.place());
  const Tensor y = stack->forward(stage.input());
  expect_on(stage.place(), y, "the output of a stack");
  stage.output().copy_from(y);
}

}  // namespace

std::unique_ptr<Module> stack_of(const Stage& stage) {
  std::vector<std::unique_ptr<Module>> layers;
  const std::size_t step = stage.op.params.integer("bias") != 0 ? 2 : 1;
  for (std::int64_t layer = 0; layer < stage.op.params.integer("layers"); ++layer) {
    layers.push_back(linear_from(stage, 1 + static_cast<std::size_t>(layer) * step,
                                 stage.op.params.word("act")));
  }
  return std::make_unique<Sequential>(std::move(layers));
}

std::span<const ScenarioRow> compute_scenarios() {
  static constexpr ScenarioRow rows[] = {
      {"results_stay", results_stay},
      {"mixed_devices_refused", mixed_devices_refused},
      {"mixed_peers_refused", mixed_peers_refused},
      {"square_123", square_123},
      {"linear_module", linear_module},
      {"sequential", sequential},
  };
  return rows;
}

}  // namespace assay::placement
