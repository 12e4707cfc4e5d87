#include <fmt/format.h>

#include "harness/placement/apply.h"
#include "harness/placement/device_guard.h"
#include "harness/placement/scenarios/families.h"

namespace assay::placement {
namespace {

/// Tensors are born on the CPU unless told otherwise, whatever device is current.
void born_on_cpu(Stage& stage) {
  Place& place = stage.place();
  const Tensor& x = stage.input();
  const DeviceGuard guard(place);
  Tensor born(stage.devices(), x.dtype(), x.shape());
  expect_on(stage.devices().cpu(), born, "a tensor that was told no place");
  expect(place.is_cpu() || !holds(place, born),
         fmt::format("a tensor that was told no place lies on {}, its driver says", place.text()));
  Tensor placed(place, x.dtype(), x.shape());
  expect_on(place, placed, "a tensor that was told " + place.text());
  born.copy_from(x);
  placed.copy_from(born);
  stage.output().copy_from(placed);
}

/// A move to a device copies: the original and the new tensor are independent.
void move_copies(Stage& stage) {
  constexpr std::byte other{0x11};
  Place& place = stage.place();
  Tensor host = stage.input().cpu();
  Tensor moved = host.to(place);
  expect_on(place, moved, "what was moved to " + place.text());
  expect_on(stage.devices().cpu(), host, "the original of a move");
  expect(!moved.shares_memory_with(host), "a move to another device gave the same memory");
  host.fill(other);
  stage.output().copy_from(moved);
  moved.fill(std::byte{0});
  expect(host.read() == std::vector<std::byte>(host.bytes(), other),
         "writing to the copy changed the original");
}

/// A move to the tensor's own place does nothing: same elements, same memory.
void move_stays(Stage& stage) {
  Place& place = stage.place();
  Tensor tensor = stage.input().clone();
  expect(!tensor.shares_memory_with(stage.input()), "a clone has the memory of its original");
  Tensor same = tensor.to(place);
  expect_on(place, same, "what was moved to where it was");
  expect(same.shares_memory_with(tensor) && same.data() == tensor.data(),
         "a move to the same device made a copy");
  // Both views show the same elements.
  same.fill(std::byte{0x11});
  expect(tensor.read() == same.read(), "writing to one of two views did not change the other");
  same.copy_from(stage.input());
  stage.output().copy_from(tensor);
}

/// Moves views that are not dense there and back: a move copies only the elements of the view, into
/// dense memory.
void round_trip(Stage& stage) {
  Place& place = stage.place();
  const std::string& layout = stage.op.params.word("layout");
  const Tensor host = stage.input().cpu();
  const auto there_and_back = [&](const Tensor& view) {
    const Tensor there = view.to(place);
    expect_on(place, there, "a view that was moved");
    expect(there.is_dense() && there.shape() == view.shape(),
           "what a move leaves is not dense, or has another shape");
    Tensor back = there.cpu();
    expect_on(stage.devices().cpu(), back, "what came back");
    return back;
  };
  if (layout == "dense") {
    stage.output().copy_from(there_and_back(host));
  } else if (layout == "transposed") {
    const Tensor there = there_and_back(host.transposed()).to(place);
    // Takes the view on the device this time.
    stage.output().copy_from(there.transposed().cpu());
  } else {
    const std::int64_t cols = host.shape().at(1);
    const std::int64_t left = (cols + 1) / 2;
    stage.output().slice(1, 0, left).copy_from(there_and_back(host.slice(1, 0, left)));
    stage.output()
        .slice(1, left, cols - left)
        .copy_from(there_and_back(stage.input().slice(1, left, cols - left).cpu()));
  }
}

/// Moves a tensor from each device to the next, around all of them.
void move_between(Stage& stage) {
  Tensor tensor = stage.input();
  for (std::size_t i = 1; i <= stage.places.size(); ++i) {
    Place& next = *stage.places[i % stage.places.size()];
    const Tensor before = tensor;
    tensor = before.to(next);
    expect_on(next, tensor, "what was moved to " + next.text());
    expect(!tensor.shares_memory_with(before), "a move between devices gave the same memory");
  }
  stage.output().copy_from(tensor);
}

}  // namespace

std::span<const ScenarioRow> move_scenarios() {
  static constexpr ScenarioRow rows[] = {
      {"born_on_cpu", born_on_cpu}, {"move_copies", move_copies},   {"move_stays", move_stays},
      {"round_trip", round_trip},   {"move_between", move_between},
  };
  return rows;
}

}  // namespace assay::placement
