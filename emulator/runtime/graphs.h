#pragma once

#include <vector>

#include "emulator/runtime/capture.h"
#include "emulator/runtime/scheduler.h"

namespace emulator {

struct Graph {
  std::vector<Node> nodes;
};

struct ExecutableGraph {
  std::vector<Node> nodes;
  TicketPointer last = nullptr;  // of the newest launch or upload: only one runs at a time
};

}  // namespace emulator
