#include "emulator/runtime/graph_run.h"

#include <algorithm>

namespace emulator {

Progress GraphRun::operator()() {
  bool is_waiting = false;
  for (std::size_t node : ready()) {
    const Progress progress = nodes_[node].step();
    if (progress == Progress::done) {
      is_done_[node] = true;
      ++done_;
    }
    is_waiting = progress == Progress::waits;
    if (!is_waiting) break;
  }
  if (done_ == nodes_.size()) return Progress::done;
  return is_waiting ? Progress::waits : Progress::again;
}

std::vector<std::size_t> GraphRun::ready() {
  std::vector<std::size_t> found;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const bool is_free = std::ranges::all_of(
        nodes_[node].after, [&](std::size_t before) { return bool{is_done_[before]}; });
    if (!is_done_[node] && is_free) found.push_back(node);
  }
  std::ranges::shuffle(found, random_);
  return found;
}

}  // namespace emulator
