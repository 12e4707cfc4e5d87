#include "kernels/sim/device_faults.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>

namespace assay::sim {
namespace {

/// Returns true for faults that strike at a launch. The others strike in the communicator, in the
/// kernel, in copies, or in queries to the driver.
bool strikes_at_launch(FaultKind kind) {
  switch (kind) {
    case FaultKind::segv:
    case FaultKind::abort:
    case FaultKind::hang:
    case FaultKind::out_of_memory:
    case FaultKind::sticky_error:
    case FaultKind::device_lost:
      return true;
    default:
      return false;
  }
}

[[noreturn]] void hang() {
  std::signal(SIGTERM, SIG_IGN);
  for (;;) pause();
}

}  // namespace

DeviceFaults::DeviceFaults(std::span<const Fault> faults, int device) {
  std::ranges::copy_if(faults, std::back_inserter(faults_),
                       [&](const Fault& fault) { return fault.concerns(device); });
}

bool DeviceFaults::has(FaultKind kind) const {
  return std::ranges::find(faults_, kind, &Fault::kind) != faults_.end();
}

void DeviceFaults::check() const {
  if (broken_) throw DeviceError(*broken_);
}

void DeviceFaults::before_launch(std::string_view op) {
  check();
  for (const Fault& fault : faults_) {
    if (!fault.concerns(op) || fault.has_struck() || !strikes_at_launch(fault.kind)) continue;
    fault.strike();
    switch (fault.kind) {
      case FaultKind::segv:
        std::raise(SIGSEGV);
        break;
      case FaultKind::abort:
        std::abort();
      case FaultKind::hang:
        hang();
      case FaultKind::out_of_memory:
        throw DeviceError(Failure::out_of_memory, "sim: no memory for the launch (injected)");
      case FaultKind::sticky_error:
        broken_ = std::make_unique<DeviceError>(
            Failure::internal, "sim: an illegal address was accessed (injected, sticky)");
        break;
      case FaultKind::device_lost:
        broken_ = std::make_unique<DeviceError>(
            Failure::device_lost, "sim: the device has fallen off the bus (injected)");
        break;
      default:
        break;
    }
  }
  check();
}

const DataFault* DeviceFaults::data_fault(std::string_view op) const {
  const auto found = std::ranges::find_if(faults_, [&](const Fault& fault) {
    return fault.kind == FaultKind::data && fault.concerns(op);
  });
  return found == faults_.end() ? nullptr : found->data;
}

double DeviceFaults::slowness(std::string_view op) const {
  double part = 0;
  for (const Fault& fault : faults_) {
    if (fault.kind != FaultKind::slow || !fault.concerns(op)) continue;
    part = std::max(part, fault.percent / 100);
  }
  return part;
}

double DeviceFaults::reported_share() const {
  double share = 1;
  for (const Fault& fault : faults_) {
    if (fault.kind == FaultKind::slow_clock) share = 1 - fault.percent / 100;
  }
  return share;
}

}  // namespace assay::sim
