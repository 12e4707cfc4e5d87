#include "kernels/sim/kernel.h"

#include <algorithm>
#include <chrono>

#include "kernels/ops/collectives.h"
#include "kernels/sim/data_faults.h"

namespace assay::sim {

SimKernel::SimKernel(std::vector<DeviceFaults*> faults, const OpInstance& op,
                     std::vector<Binding> bindings, Launch::Prepare prepare)
    : faults_(std::move(faults)),
      op_(op),
      bindings_(std::move(bindings)),
      prepare_(std::move(prepare)),
      right_(prepare_(op_, bindings_)) {}

void SimKernel::launch() {
  for (DeviceFaults* faults : faults_) faults->before_launch(op_.op->name);
  const DataFault* data = fault();
  if (data == nullptr) {
    launch_right();
  } else {
    strike(*data);
  }
}

bool SimKernel::takes_part(std::size_t rank) const {
  if (collective_of(op_) != Collective::send_recv) return true;
  const assay::Peers peers = peers_of(op_, static_cast<int>(rank));
  return peers.to >= 0 || peers.from >= 0;
}

/// Runs the right kernel, as slowly as the slowest device of the ranks that take part.
void SimKernel::launch_right() {
  double slowness = 0;
  for (std::size_t rank = 0; rank < faults_.size(); ++rank) {
    if (takes_part(rank)) slowness = std::max(slowness, faults_[rank]->slowness(op_.op->name));
  }
  const auto begin = std::chrono::steady_clock::now();
  right_->launch();
  if (slowness == 0) return;
  const auto end = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - end < slowness * (end - begin)) {
  }
}

MathMode SimKernel::math_mode() const {
  const DataFault* data = fault();
  return data != nullptr && data->declares != nullptr ? data->declares(op_) : right_->math_mode();
}

const DataFault* SimKernel::fault() const {
  for (const DeviceFaults* faults : faults_) {
    if (const DataFault* found = faults->data_fault(op_.op->name)) return found;
  }
  return nullptr;
}

void SimKernel::strike(const DataFault& fault) {
  Launch launch(op_, bindings_, *right_, prepare_, history_);
  // An empty output cannot be wrong.
  if (op_.signature.outputs.at(0).elements() > 0) {
    fault.strike(launch);
  } else {
    launch.right();
  }
  history_.output = launch.copy_of_output();
  ++history_.launches;
}

}  // namespace assay::sim
