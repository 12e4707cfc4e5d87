#include "harness/records/claims.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay {
namespace {

using Claim = std::pair<std::string_view, std::string_view>;

constexpr std::array<Claim, 20> claims{{
    // clang-format off
    {"device_query", "a device is there, counted, named, and one is current"},
    {"absent_device_refused", "asking for an absent device is an error that names the remedy"},
    {"visible_mask", "visible-device masks map logical to physical indices"},
    {"most_free", "the device with the most free memory is found"},
    {"device_guard", "a device is current within its scope, for its kind alone"},
    {"born_on_cpu", "tensors are born on the CPU unless told otherwise"},
    {"move_copies", "a move to a device copies; original and copy are independent"},
    {"move_stays", "a move to the same device is none"},
    {"round_trip", "there and back again, bit for bit, in all dtypes and layouts"},
    {"move_between", "a move from device to device keeps every bit"},
    {"results_stay", "results stay where the operands are"},
    {"mixed_devices_refused", "operands on the CPU and a device are refused, never computed"},
    {"mixed_peers_refused", "operands on two devices are refused, and so is a module fed from another"},
    {"square_123", "[1, 2, 3] squared in int64 is [1, 4, 9]"},
    {"linear_module", "a linear module moves in place, with all its parameters"},
    {"sequential", "a stack of layers with ReLU gives the same on every device"},
    {"manual_seed", "seeding one device gives the same numbers again"},
    {"manual_seed_all", "seeding all devices gives the same numbers on each"},
    {"data_parallel", "scatter, replicate, forward and gather equal one device"},
    {"distributed_gradient", "each rank takes its shard, and gradients are averaged by all-reduce"},
    // clang-format on
}};

}  // namespace

std::string_view claim_of(std::string_view suite, std::string_view op) {
  if (suite != "placement") return {};
  const auto* const found = std::ranges::find(claims, op, &Claim::first);
  return found == claims.end() ? std::string_view() : found->second;
}

}  // namespace assay
