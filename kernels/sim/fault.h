#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops/op.h"
#include "kernels/sim/data_faults.h"

namespace assay::sim {

/// What a simulated device can be told to do wrong to the process that drives it.
enum class FaultKind {
  segv,            // the launch reads where nothing is
  abort,           // the launch calls abort, as libraries do on a failed check
  hang,            // the launch never ends, and the process ignores TERM
  out_of_memory,   // the launch finds no memory
  sticky_error,    // from this launch on every call fails, as with a poisoned CUDA context
  device_lost,     // from this launch on the device is gone
  dead_rank,       // one rank of a collective never takes part
  other_device,    // what was opened is in truth the next device
  other_stream,    // work runs on the next device
  renamed,         // what was opened calls itself otherwise than the list does
  opens_anything,  // a device that is not there is opened
  ignores_mask,    // shows the devices that a mask should hide
  stale_memory,    // tells of free memory as if nothing had been taken
  claims_all,      // tells of any memory that it is its own
  torn_upload,     // the last byte of what the host sends does not arrive
  slow,            // the launch takes `percent` longer; no oracle sees it, `assay ab` does
  data,            // the launch computes or writes something wrong: data_faults.h
};

/// A fault and when it strikes: "segv", "hang,device=1,op=exp", "device_lost,marker=/tmp/gone",
/// "slow,percent=5".
struct Fault {
  FaultKind kind;
  const DataFault* data = nullptr;  // of that kind
  std::optional<int> device;        // default: each
  std::string op;                   // default: any
  /// A file that the fault makes when it strikes. Where it stands, the fault strikes no more (so
  /// that a retry passes), and a lost device stays lost for every process.
  std::string marker;
  double percent = 20;  // of a slow device

  bool concerns(int index) const { return !device || *device == index; }
  bool concerns(std::string_view name) const { return op.empty() || op == name; }
  bool has_struck() const;
  /// Makes the marker.
  void strike() const;
};

/// Throws UsageError that names what is wrong and the valid words.
Fault parse_fault(std::string_view text);
std::vector<std::string> fault_names();

}  // namespace assay::sim
