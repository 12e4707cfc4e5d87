#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "harness/placement/apply.h"
#include "harness/placement/data_parallel.h"
#include "harness/placement/device_guard.h"
#include "harness/placement/distributed.h"
#include "harness/placement/error.h"
#include "harness/placement/module.h"
#include "harness/placement/random.h"
#include "harness/placement/scenarios/scenario.h"
#include "kernels/core/status.h"
#include "kernels/cpu/backend.h"
#include "kernels/ops/op.h"
#include "kernels/reference/reference.h"
#include "kernels/sim/backend.h"

namespace assay::placement {
namespace {

/// The CPU and four simulated devices.
class Placement : public testing::Test {
 protected:
  Placement() : devices_(backends_) {
    backends_.add(cpu::make_backend());
    backends_.add(sim::make_backend(4));
  }
  Place& sim(int index) { return devices_.open({"sim", index}); }
  /// Returns a tensor of 0, 1, 2, ... on the CPU.
  Tensor counted(const Shape& shape) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(element_count(shape)));
    std::iota(values.begin(), values.end(), 0);
    Tensor tensor(devices_, DType::i32, shape);
    tensor.write(std::as_bytes(std::span(values)));
    return tensor;
  }
  static std::vector<std::int32_t> values(const Tensor& tensor) {
    const std::vector<std::byte> bytes = tensor.read();
    std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
    return values;
  }
  template <class Error>
  static std::string text_of(const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  Backends backends_;
  Devices devices_;
};

using Values = std::vector<std::int32_t>;

TEST_F(Placement, AViewShowsElementsWithoutCopyingThem) {
  const Tensor tensor = counted({2, 3});
  const Tensor columns = tensor.transposed();
  EXPECT_EQ(columns.shape(), (Shape{3, 2}));
  EXPECT_FALSE(columns.is_dense());
  EXPECT_TRUE(columns.shares_memory_with(tensor));
  EXPECT_EQ(values(columns), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values(tensor.slice(1, 1, 2)), (Values{1, 2, 4, 5}));
  EXPECT_EQ(values(tensor.slice(1, 1, 2).transposed()), (Values{1, 4, 2, 5}));
  EXPECT_EQ(values(tensor.slice(0, 1, 1)), (Values{3, 4, 5}));
  EXPECT_TRUE(tensor.slice(0, 1, 1).is_dense());
  EXPECT_EQ(values(tensor.slice(0, 2, 0)), Values{});
}

TEST_F(Placement, WhatIsWrittenToAViewLeavesTheRestAlone) {
  Tensor tensor = counted({2, 3});
  tensor.slice(1, 1, 1).fill(std::byte{0});
  EXPECT_EQ(values(tensor), (Values{0, 0, 2, 3, 0, 5}));
  Tensor there = counted({2, 3}).to(sim(0));
  there.transposed().slice(0, 2, 1).copy_from(counted({1, 2}).to(sim(1)));
  EXPECT_EQ(values(there), (Values{0, 1, 0, 3, 4, 1}));
}

TEST_F(Placement, AMoveCopiesWhatAViewShows) {
  const Tensor view = counted({3, 4}).slice(1, 1, 2).transposed();
  const Tensor moved = view.to(sim(2));
  EXPECT_EQ(&moved.place(), &sim(2));
  EXPECT_TRUE(moved.is_dense());
  EXPECT_FALSE(moved.shares_memory_with(view));
  EXPECT_EQ(values(moved), values(view));
  EXPECT_EQ(values(moved.to(sim(3)).transposed().cpu()), values(view.transposed()));
  EXPECT_EQ(moved.to(sim(2)).data(), moved.data());
}

TEST_F(Placement, WhatDoesNotFitIsRefusedByShapeAndPlace) {
  Tensor tensor = counted({2, 3}).to(sim(1));
  EXPECT_EQ(text_of<PlacementError>([&] {
              tensor.copy_from(counted({3, 2}));
            }),
            "copy: i32[3, 2] on cpu does not fit into i32[2, 3] on sim:1");
  EXPECT_EQ(text_of<PlacementError>([&] { tensor.slice(1, 2, 2); }),
            "slice: i32[2, 3] has no elements 2 to 4 along extent 1");
  EXPECT_EQ(text_of<PlacementError>([&] { tensor.slice(2, 0, 0); }),
            "slice: i32[2, 3] has no elements 0 to 0 along extent 2");
  EXPECT_EQ(text_of<PlacementError>([&] { counted({6}).transposed(); }),
            "transposed: i32[6] has not two extents");
}

TEST_F(Placement, OperandsOnTwoDevicesAreRefusedByName) {
  Params params;
  params.set("n", std::int64_t{4});
  const Tensor a = counted({4}).to(sim(0));
  const Tensor b = counted({4}).to(sim(1));
  EXPECT_EQ(text_of<PlacementError>([&] {
              apply("add", params, {a, b});
            }),
            "add on sim:0: operand 1 is on sim:1: move one of them, as by to()");
  EXPECT_EQ(text_of<PlacementError>([&] {
              apply("add", params, {counted({4}), b});
            }),
            "add on cpu: operand 1 is on sim:1: move one of them, as by to()");
  EXPECT_EQ(values(apply("add", params, {a, b.to(sim(0))})), (Values{0, 2, 4, 6}));
}

TEST_F(Placement, OperandsThatAreNotDenseAreTakenAsTheyShow) {
  Params params;
  params.set("n", std::int64_t{4});
  const Tensor view = counted({2, 4}).to(sim(0)).slice(1, 0, 2);
  EXPECT_EQ(values(apply("square", params, {view})), (Values{0, 1, 16, 25}));
}

TEST_F(Placement, OperandsOfAnotherSizeOrDtypeAreRefused) {
  Params params;
  params.set("n", std::int64_t{4});
  EXPECT_EQ(text_of<PlacementError>([&] {
              apply("add", params, {counted({4}), counted({3})});
            }),
            "add on cpu: takes i32[4], i32[4], not i32[4], i32[3]");
  const Linear layer(Tensor(devices_, DType::f32, {2, 3}), std::nullopt);
  EXPECT_EQ(text_of<PlacementError>([&] {
              layer.forward(Tensor(devices_, DType::f32, {5, 4}));
            }),
            "linear on cpu: takes f32[5, 3], f32[2, 3], not f32[5, 4], f32[2, 3]");
}

TEST_F(Placement, AbsentDevicesAreRefusedWithARemedy) {
  EXPECT_EQ(text_of<DeviceError>([&] {
              devices_.open({"cuda", 1});
            }),
            "there is no cuda:1: this process has devices of cpu, sim only; 'assay devices' lists "
            "what is here and why the rest is not");
  EXPECT_EQ(text_of<DeviceError>([&] {
              devices_.open({"sim", 4});
            }),
            "there is no sim:4: 4 simulated devices are visible; 'assay devices' lists what is "
            "here");
}

TEST_F(Placement, AGuardIsUndoneHoweverItsScopeIsLeft) {
  EXPECT_EQ(devices_.current("sim"), (DeviceId{"sim", 0}));
  try {
    const DeviceGuard outer(sim(2));
    {
      const DeviceGuard inner(sim(1));
      EXPECT_EQ(devices_.current("sim").index, 1);
    }
    EXPECT_EQ(devices_.current("sim").index, 2);
    EXPECT_EQ(devices_.current("cpu").index, 0) << "of another kind";
    throw 1;
  } catch (int) {
    EXPECT_EQ(devices_.current("sim").index, 0);
  }
}

TEST_F(Placement, AReplicaLeavesItsOriginalWhereItIs) {
  Linear layer(Tensor(devices_, DType::f32, {2, 3}), Tensor(devices_, DType::f32, {2}));
  const auto replica = layer.replica(sim(0));
  EXPECT_EQ(layer.parameters().size(), 2U);
  for (const Tensor* parameter : layer.parameters()) EXPECT_TRUE(parameter->place().is_cpu());
  for (const Tensor* parameter : replica->parameters()) EXPECT_EQ(&parameter->place(), &sim(0));
}

TEST_F(Placement, ScatterGivesEveryRowOnceAndLeavesDevicesIdleThatGetNone) {
  std::vector<Place*> places{&sim(0), &sim(1), &sim(2), &sim(3)};
  for (const std::int64_t rows : {1, 3, 4, 5, 8, 9}) {
    const Tensor batch = counted({rows, 2});
    const std::vector<Tensor> parts = scatter(batch, places);
    EXPECT_EQ(static_cast<std::int64_t>(parts.size()),
              (rows + (rows + 3) / 4 - 1) / ((rows + 3) / 4));
    EXPECT_EQ(values(gather(parts, sim(3))), values(batch)) << rows;
  }
}

TEST_F(Placement, ShardsAreAPartitionOfTheSamples) {
  for (const int ranks : {1, 2, 3, 8}) {
    std::vector<int> seen(13, 0);
    for (int rank = 0; rank < ranks; ++rank) {
      for (const std::int64_t sample : shard(13, rank, ranks))
        ++seen.at(static_cast<std::size_t>(sample));
    }
    EXPECT_EQ(seen, std::vector<int>(13, 1)) << ranks;
  }
}

TEST_F(Placement, AGroupAveragesOneTensorARank) {
  SingleProcess bootstrap;
  const Group group({&sim(0), &sim(1)}, bootstrap);
  std::vector<Tensor> tensors{counted({3}).to(sim(0)), counted({3}).to(sim(1))};
  tensors[1].fill(std::byte{0});
  for (const Tensor& average : group.average(tensors)) {
    EXPECT_EQ(values(average), (Values{0, 0, 1}));
  }
}

TEST_F(Placement, GeneratorsAreOfTheirDevices) {
  manual_seed(sim(0), 7);
  manual_seed(sim(1), 7);
  const auto first = random(sim(0), DType::f32, 32).read();
  EXPECT_NE(random(sim(0), DType::f32, 32).read(), first);
  EXPECT_EQ(random(sim(1), DType::f32, 32).read(), first);
}

TEST_F(Placement, MostFreeFollowsWhatIsTaken) {
  std::vector<Place*> places{&sim(0), &sim(1)};
  EXPECT_EQ(&most_free(places), &sim(0)) << "the first of equals";
  const Tensor taken(sim(0), DType::u8, {1 << 20});
  EXPECT_EQ(&most_free(places), &sim(1));
}

TEST(Scenarios, EachIsJudgedByAReference) {
  for (const Op& op : op_table()) {
    if (!op.is_scenario) continue;
    for (const Format format : op.formats) {
      EXPECT_NO_THROW(reference::find({.op = &op, .format = format})) << op.name;
    }
  }
}

TEST(Scenarios, EachOpOfThatKindHasOne) {
  Backends backends;
  backends.add(cpu::make_backend());
  Devices devices(backends);
  Place* lane[] = {&devices.cpu()};
  for (const Op& op : op_table()) {
    if (!op.is_scenario) continue;
    OpInstance instance{.op = &op};
    instance.signature.outputs = {{DType::f32, {1}}};
    const Binding binding{nullptr, {}, {nullptr}};
    EXPECT_NO_THROW(prepare_scenario(instance, lane, std::span(&binding, 1))) << op.name;
  }
}

}  // namespace
}  // namespace assay::placement
