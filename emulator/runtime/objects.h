#pragma once

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

struct Graph {
  std::vector<Node> nodes;
};

struct ExecutableGraph {
  std::vector<Node> nodes;
  TicketPointer last = nullptr;  // of the newest launch or upload: only one runs at a time
};

}  // namespace emulator
