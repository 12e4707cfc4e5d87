#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "emulator/runtime/capture.h"
#include "emulator/runtime/scheduler.h"

// Objects behind the handles that a program holds.
namespace emulator {

struct Stream {
  int device;
  bool is_legacy;    // the device's default stream
  bool is_blocking;  // synchronises with the default stream
  std::shared_ptr<Queue> queue;
  CaptureFront front = {};
  int priority = 0;
  std::uint64_t id = next_id();
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes = {};  // hints

  static std::uint64_t next_id() {
    static std::uint64_t last = 0;  // wants the runtime's lock
    return ++last;
  }
};

/// Where a stream had got to: the work so far, on it and on the other streams of its device.
struct Position {
  std::weak_ptr<Queue> queue = {};
  WorkCount own = {}, others = {};
};

struct Event {
  int device;
  bool has_time;
  Position position = {};
  TicketPointer ticket = nullptr;  // of the last record; null: none outside of a capture
  CaptureFront front = {};         // of the last record, if a capturing stream made it
};

}  // namespace emulator
