#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "emulator/runtime/scheduler.h"

namespace emulator {

/// Runs the nodes of one launch, any whose predecessors are done.
class GraphRun {
 public:
  struct Node {
    WorkStep step;
    std::set<std::size_t> after;
  };
  GraphRun(std::vector<Node> nodes, std::uint64_t seed)
      : nodes_(std::move(nodes)), is_done_(nodes_.size()), random_(seed) {}

  Progress operator()();

 private:
  /// Nodes that may run now, in an order drawn from the seed.
  std::vector<std::size_t> ready();

  std::vector<Node> nodes_;
  std::vector<bool> is_done_;
  std::size_t done_ = 0;
  std::mt19937_64 random_;
};

}  // namespace emulator
