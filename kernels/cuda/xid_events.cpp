#include "kernels/cuda/xid_events.h"

#include <map>
#include <mutex>

#include "kernels/cuda/nvml_calls.h"

namespace assay::cuda {
namespace {

using nvml_calls::ask;
using nvml_calls::Handle;

constexpr unsigned long long xid_event = 0x8;  // nvmlEventTypeXidCriticalError
constexpr unsigned no_wait_ms = 0;

struct EventData {  // layout of nvmlEventSetWait_v2
  Handle device;
  unsigned long long type;
  unsigned long long data;  // the XID
  unsigned gpu_instance, compute_instance;
};

struct Registered {
  Handle events = nullptr;  // null: the driver tells none
  XidErrors errors;
};

Registered registered(Handle device) {
  Registered one;
  if (!ask("nvmlEventSetCreate", &one.events)) return {};
  if (ask("nvmlDeviceRegisterEvents", device, xid_event, one.events)) return one;
  ask("nvmlEventSetFree", one.events);
  return {};
}

}  // namespace

std::optional<XidErrors> xid_errors(const std::string& pci_bus_id, void* nvml_device) {
  static std::mutex mutex;
  static std::map<std::string, Registered> all;
  const std::lock_guard lock(mutex);
  auto known = all.find(pci_bus_id);
  if (known == all.end()) known = all.emplace(pci_bus_id, registered(nvml_device)).first;
  Registered& gpu = known->second;
  if (gpu.events == nullptr) return std::nullopt;
  EventData event{};
  while (ask("nvmlEventSetWait_v2", gpu.events, &event, no_wait_ms)) {
    if (event.type != xid_event) continue;
    ++gpu.errors.count;
    gpu.errors.last = static_cast<std::int64_t>(event.data);
  }
  return gpu.errors;
}

}  // namespace assay::cuda
