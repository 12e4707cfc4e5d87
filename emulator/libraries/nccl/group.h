#pragma once

#include <cstdint>
#include <functional>

#include "emulator/libraries/nccl/interface.h"

// Group calls: what a thread calls between ncclGroupStart and ncclGroupEnd happens at the end of
// the outermost group. Outside of one, each call is a group of its own.
namespace emulator::nccl {

void start_group();
/// Ends a group; the outermost runs what was deferred. Returns the first error of a call within it,
/// and then runs nothing.
Result end_group();

/// Parts of a call, run in this order for all calls of a group.
struct Deferred {
  std::function<Result()> begin;   // tells the other ranks
  std::function<Result()> finish;  // waits for them
};
/// Runs both parts, now or at the group's end.
Result defer(Deferred call);

/// Remembers an error within a group, and returns it.
Result failed(Result error);

/// Numbers of the thread and of its group, or of the call outside of one.
std::uint64_t this_thread();
std::uint64_t this_group();

}  // namespace emulator::nccl
