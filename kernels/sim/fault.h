#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops/op.h"
#include "kernels/sim/data_faults.h"

namespace assay::sim {

/// Faults of a simulated device towards the process that drives it.
enum class FaultKind {
  segv,            // the launch reads an unmapped address
  abort,           // the launch calls abort, as libraries do on a failed check
  hang,            // the launch never ends, and the process ignores TERM
  out_of_memory,   // the launch finds no memory
  sticky_error,    // every call from this launch on fails, as with a poisoned CUDA context
  device_lost,     // the device is gone from this launch on
  dead_rank,       // one rank of a collective never takes part
  other_device,    // opens the next device instead
  other_stream,    // work runs on the next device
  renamed,         // the opened device's name differs from the list's
  opens_anything,  // opens devices that do not exist
  ignores_mask,    // shows the devices that a mask should hide
  stale_memory,    // reports free memory as if nothing were allocated
  stuck_meter,     // the counter of energy stands still
  claims_all,      // claims any memory as its own
  torn_upload,     // the last byte of an upload is lost
  slow,            // the launch takes `percent` longer; no oracle sees it, `assay ab` does
  slow_clock,      // the clock of events tells `percent` less than passes
  data,            // the launch computes or writes wrong data: data_faults.h
};

/// A fault and its conditions: "segv", "hang,device=1,op=exp", "device_lost,marker=/tmp/gone",
/// "slow,percent=5".
struct Fault {
  FaultKind kind;
  const DataFault* data = nullptr;  // set for kind `data`
  std::optional<int> device;        // default: all
  std::string op;                   // default: any
  /// File that the fault creates when it strikes. While it exists, the fault does not strike again,
  /// so a retry passes. A lost device stays lost for every process.
  std::string marker;
  double percent = 20;  // slowdown of a slow device, or of its clock

  bool concerns(int index) const { return !device || *device == index; }
  bool concerns(std::string_view name) const { return op.empty() || op == name; }
  bool has_struck() const;
  /// Creates the marker file.
  void strike() const;
};

/// Throws UsageError that names the error and the valid words.
Fault parse_fault(std::string_view text);
std::vector<std::string> fault_names();

}  // namespace assay::sim
