// The functions of libnvidia-ml that the backend opens, by NVML's documented binary interface
// ("NVML API Reference Guide"). The GPUs are idle.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "emulator/runtime/work.h"

namespace emulator::nvml {
namespace {

enum Return : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7,
  timed_out = 10,
};

constexpr unsigned long long xid_event = 8;
/// The layout of the second version.
struct EventData {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
struct EventSet {
  void* device = nullptr;
  int waits = 0;
};

std::vector<std::unique_ptr<EventSet>>& event_sets() {
  static std::vector<std::unique_ptr<EventSet>> all;
  return all;
}
EventSet* event_set(void* set) {
  for (const auto& one : event_sets()) {
    if (one.get() == set) return one.get();
  }
  return nullptr;
}

struct Memory {
  unsigned long long total, free, used;
};
/// The layout of the third version.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

constexpr unsigned clock_types = 4;  // graphics, SM, memory, video
constexpr unsigned memory_clock = 2;
constexpr unsigned idle_clock_mhz = 345;
constexpr unsigned max_links = 18;
constexpr unsigned long long idle_reason = 1;  // nvmlClocksThrottleReasonGpuIdle

bool is_started = false;

/// Handles are the places of these numbers: first those of GPUs, then those of their slices.
constexpr int max_gpus = 128;
std::array<char, std::size_t{2} * max_gpus> places;
void* handle_of(int gpu) { return &places.at(static_cast<std::size_t>(gpu)); }
void* slice_handle_of(int gpu) { return &places.at(static_cast<std::size_t>(max_gpus + gpu)); }
/// -1: not a handle of a slice.
int gpu_of_slice(const void* handle) {
  for (int gpu = 0; has_mig_slices() && gpu < gpu_count(); ++gpu) {
    if (handle == slice_handle_of(gpu)) return gpu;
  }
  return -1;
}

/// Calls `tell` with the GPU behind a handle.
template <class Tell>
Return with_gpu(void* handle, const void* to, const Tell& tell) {
  if (!is_started) return uninitialized;
  const auto* const place = static_cast<const char*>(handle);
  if (to == nullptr || place < places.data() || place >= places.data() + gpu_count()) {
    return invalid_argument;
  }
  return tell(static_cast<int>(place - places.data()));
}

Return tell_number(void* handle, unsigned* to, unsigned (*number)(const GpuModel&)) {
  return with_gpu(handle, to, [&](int gpu) {
    *to = number(model_of(gpu));
    return success;
  });
}

Return tell_text(const std::string& text, char* to, unsigned bytes) {
  if (to == nullptr) return invalid_argument;
  if (bytes <= text.size()) return insufficient_size;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return success;
}

/// Watts of the board, as data sheets tell.
unsigned power_limit_mw(const GpuModel& gpu) {
  static const std::map<std::string, unsigned> watts{
      {"v100", 300}, {"t4", 70},    {"rtx3090", 350}, {"rtx3050", 80}, {"a100", 400},
      {"l40s", 350}, {"h100", 350}, {"h100sxm", 700}, {"h200", 700},   {"b200", 1000}};
  const auto found = watts.find(gpu.name);
  return 1000 * (found == watts.end() ? 300 : found->second);
}

/// Data-centre GPUs have ECC; GeForce has none.
bool has_ecc(const GpuModel& gpu) { return gpu.product.find("GeForce") == std::string::npos; }
/// A100, H100 and later data-centre GPUs with HBM can be sliced.
bool can_be_sliced(const GpuModel& gpu) {
  return gpu.minor == 0 && gpu.major >= 8 && gpu.major <= 10;
}

/// Bus of "0000:41:00.0", or with the 8 digits of domain that NVML itself prints; -1: no such text.
int bus_of(const char* text) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  if (std::sscanf(text, "%8x:%2x:%2x.%1x", &domain, &bus, &device, &function) != 4 || domain != 0 ||
      device != 0 || function != 0) {
    return -1;
  }
  return static_cast<int>(bus);
}

std::size_t used_by_this_process(int gpu) {
  return memory().total_bytes(gpu) - memory().free_bytes(gpu);
}

}  // namespace
}  // namespace emulator::nvml

using namespace emulator::nvml;
using emulator::GpuModel;

extern "C" {

Return nvmlInit_v2() {
  is_started = true;
  return success;
}

Return nvmlSystemGetDriverVersion(char* to, unsigned bytes) {
  if (!is_started) return uninitialized;
  // "CUDA Toolkit and Corresponding Driver Versions" (release notes), of general availability.
  constexpr std::array<std::pair<int, const char*>, 5> drivers{{{13000, "580.65.06"},
                                                                {12080, "570.26"},
                                                                {12040, "550.54.14"},
                                                                {12020, "535.54.03"},
                                                                {0, "525.60.13"}}};
  const int serves = emulator::version_of_driver();
  const auto* const newest =
      std::ranges::find_if(drivers, [&](const auto& driver) { return driver.first <= serves; });
  return tell_text(newest->second, to, bytes);
}

Return nvmlDeviceGetCount_v2(unsigned* count) {
  if (!is_started) return uninitialized;
  if (count == nullptr) return invalid_argument;
  *count = static_cast<unsigned>(emulator::gpu_count());
  return success;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, void** to) {
  if (!is_started) return uninitialized;
  if (to == nullptr || index >= static_cast<unsigned>(emulator::gpu_count())) {
    return invalid_argument;
  }
  *to = handle_of(static_cast<int>(index));
  return success;
}

Return nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** to) {
  if (!is_started) return uninitialized;
  if (text == nullptr || to == nullptr) return invalid_argument;
  const int bus = bus_of(text);
  for (int gpu = 0; gpu < emulator::gpu_count(); ++gpu) {
    if (emulator::pci_bus_of(gpu) != bus) continue;
    *to = handle_of(gpu);
    return success;
  }
  return bus < 0 ? invalid_argument : not_found;
}

/// Finds GPUs and slices (nvmlDeviceGetHandleByUUID).
Return nvmlDeviceGetHandleByUUID(const char* text, void** to) {
  if (!is_started) return uninitialized;
  if (text == nullptr || to == nullptr) return invalid_argument;
  for (int gpu = 0; gpu < emulator::gpu_count(); ++gpu) {
    if (emulator::uuid_of(gpu) == text) {
      *to = handle_of(gpu);
    } else if (emulator::has_mig_slices() && emulator::slice_uuid_of(gpu) == text) {
      *to = slice_handle_of(gpu);
    } else {
      continue;
    }
    return success;
  }
  return not_found;
}

Return nvmlDeviceGetUUID(void* handle, char* to, unsigned bytes) {
  return with_gpu(handle, to,
                  [&](int gpu) { return tell_text(emulator::uuid_of(gpu), to, bytes); });
}

/// Tells the memory of a slice by its handle, of the whole GPU by the GPU's
/// (nvmlDeviceGetMemoryInfo).
Return nvmlDeviceGetMemoryInfo(void* handle, Memory* to) {
  const int sliced = gpu_of_slice(handle);
  const auto tell = [&](int gpu) {
    const std::size_t total =
        sliced < 0 ? emulator::board_bytes(gpu) : emulator::model_of(gpu).memory_bytes;
    const std::size_t used = used_by_this_process(gpu) + emulator::others_bytes();
    *to = {total, total - used, used};
    return success;
  };
  if (sliced < 0) return with_gpu(handle, to, tell);
  return to == nullptr ? invalid_argument : tell(sliced);
}

Return nvmlDeviceGetClockInfo(void* handle, unsigned type, unsigned* to) {
  return with_gpu(handle, to, [&](int) {
    if (type >= clock_types) return invalid_argument;
    *to = idle_clock_mhz;
    return success;
  });
}

Return nvmlDeviceGetMaxClockInfo(void* handle, unsigned type, unsigned* to) {
  return with_gpu(handle, to, [&](int gpu) {
    if (type >= clock_types) return invalid_argument;
    const GpuModel& model = emulator::model_of(gpu);
    const int khz = type == memory_clock ? model.memory_clock_khz : model.clock_khz;
    *to = static_cast<unsigned>(khz / 1000);
    return success;
  });
}

Return nvmlDeviceGetTemperature(void* handle, unsigned sensor, unsigned* to) {
  return with_gpu(handle, to, [&](int) {
    if (sensor != 0) return invalid_argument;
    *to = 30;
    return success;
  });
}

Return nvmlDeviceGetPowerUsage(void* handle, unsigned* to) {
  return tell_number(handle, to, [](const GpuModel& gpu) { return power_limit_mw(gpu) / 8; });
}

/// Millijoules since the driver was loaded, here since the first question: of a GPU that idles.
Return nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* to) {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point begin = Clock::now();
  return with_gpu(handle, to, [&](int gpu) {
    constexpr double update_s = 0.02;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const double counted_s = std::floor(seconds / update_s) * update_s;
    *to = static_cast<unsigned long long>(counted_s * power_limit_mw(emulator::model_of(gpu)) / 8);
    return success;
  });
}

Return nvmlDeviceGetEnforcedPowerLimit(void* handle, unsigned* to) {
  return tell_number(handle, to, power_limit_mw);
}

Return nvmlDeviceGetEccMode(void* handle, int* current, int* pending) {
  return with_gpu(handle, current, [&](int gpu) {
    if (pending == nullptr) return invalid_argument;
    if (!has_ecc(emulator::model_of(gpu))) return not_supported;
    *current = *pending = 1;
    return success;
  });
}

/// No emulated memory or link ever errs.
Return nvmlDeviceGetTotalEccErrors(void* handle, int type, int since, unsigned long long* to) {
  return with_gpu(handle, to, [&](int gpu) {
    if (type < 0 || type > 1 || since < 0 || since > 1) return invalid_argument;
    if (!has_ecc(emulator::model_of(gpu))) return not_supported;
    *to = 0;
    return success;
  });
}

Return nvmlDeviceGetNvLinkErrorCounter(void* handle, unsigned link, int counter,
                                       unsigned long long* to) {
  return with_gpu(handle, to, [&](int gpu) {
    const auto links = static_cast<unsigned>(emulator::model_of(gpu).nvlinks);
    if (links == 0) return not_supported;
    if (link >= std::min(links, max_links) || counter < 0 || counter > 3) return invalid_argument;
    *to = 0;
    return success;
  });
}

Return nvmlDeviceGetMigMode(void* handle, unsigned* current, unsigned* pending) {
  return with_gpu(handle, current, [&](int gpu) {
    if (pending == nullptr) return invalid_argument;
    if (!can_be_sliced(emulator::model_of(gpu))) return not_supported;
    *current = *pending = emulator::has_mig_slices() ? 1 : 0;
    return success;
  });
}

Return nvmlDeviceGetMaxPcieLinkGeneration(void* handle, unsigned* to) {
  return tell_number(
      handle, to, [](const GpuModel& gpu) { return static_cast<unsigned>(gpu.pcie_generation); });
}

Return nvmlDeviceGetMaxPcieLinkWidth(void* handle, unsigned* to) {
  return tell_number(handle, to,
                     [](const GpuModel& gpu) { return static_cast<unsigned>(gpu.pcie_lanes); });
}

Return nvmlDeviceGetCurrPcieLinkGeneration(void* handle, unsigned* to) {
  return tell_number(handle, to, [](const GpuModel&) { return 1U; });  // idle links slow down
}

Return nvmlDeviceGetCurrPcieLinkWidth(void* handle, unsigned* to) {
  return nvmlDeviceGetMaxPcieLinkWidth(handle, to);
}

Return nvmlDeviceGetNvLinkState(void* handle, unsigned link, int* to) {
  return with_gpu(handle, to, [&](int gpu) {
    const auto links = static_cast<unsigned>(emulator::model_of(gpu).nvlinks);
    if (links == 0) return not_supported;
    if (link >= std::min(links, max_links)) return invalid_argument;
    *to = 1;
    return success;
  });
}

Return nvmlDeviceGetCurrentClocksThrottleReasons(void* handle, unsigned long long* to) {
  return with_gpu(handle, to, [&](int) {
    const char* const reasons = std::getenv("ASSAY_EMULATOR_CLOCK_REASONS");
    *to = reasons != nullptr ? std::strtoull(reasons, nullptr, 0) : idle_reason;
    return success;
  });
}

/// Lists the processes that have memory of the GPU: this one, and process 1 for the others.
Return nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, ProcessInfo* to) {
  return with_gpu(handle, count, [&](int gpu) {
    std::vector<ProcessInfo> found;  // no slice has the last two numbers
    const auto add = [&](unsigned pid, std::size_t bytes) {
      if (bytes > 0) found.push_back({pid, bytes, UINT_MAX, UINT_MAX});
    };
    add(static_cast<unsigned>(getpid()), used_by_this_process(gpu));
    add(1, emulator::others_bytes());
    const unsigned room = *count;
    *count = static_cast<unsigned>(found.size());
    if (*count > room) return insufficient_size;
    if (*count > 0 && to == nullptr) return invalid_argument;
    std::ranges::copy(found, to);
    return success;
  });
}

Return nvmlSystemGetProcessName(unsigned pid, char* to, unsigned bytes) {
  if (!is_started) return uninitialized;
  if (pid != static_cast<unsigned>(getpid())) return not_found;
  std::error_code unreadable;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  if (unreadable) return not_found;
  // NVML cuts a long name.
  return bytes == 0 ? insufficient_size : tell_text(path.string().substr(0, bytes - 1), to, bytes);
}

// The events of XID errors. ASSAY_EMULATOR_XID=CODE makes each GPU report one, once its set has
// been asked for the second time: after the begin of what is watched.
Return nvmlEventSetCreate(void** to) {
  if (!is_started) return uninitialized;
  if (to == nullptr) return invalid_argument;
  *to = event_sets().emplace_back(std::make_unique<EventSet>()).get();
  return success;
}

Return nvmlEventSetFree(void* set) {
  if (!is_started) return uninitialized;
  return std::erase_if(event_sets(), [&](const auto& one) { return one.get() == set; }) > 0
             ? success
             : invalid_argument;
}

Return nvmlDeviceRegisterEvents(void* handle, unsigned long long types, void* set) {
  EventSet* const events = event_set(set);
  return with_gpu(handle, events, [&](int) {
    if ((types & ~xid_event) != 0) return not_supported;
    events->device = handle;
    return success;
  });
}

Return nvmlEventSetWait_v2(void* set, EventData* to, unsigned /*timeout_ms*/) {
  if (!is_started) return uninitialized;
  EventSet* const events = event_set(set);
  if (events == nullptr || to == nullptr) return invalid_argument;
  const char* const code = std::getenv("ASSAY_EMULATOR_XID");
  if (events->device == nullptr || code == nullptr || ++events->waits != 2) return timed_out;
  *to = {events->device, xid_event, std::strtoull(code, nullptr, 10), UINT_MAX, UINT_MAX};
  return success;
}

}  // extern "C"
