#include "kernels/cuda/nvml.h"

#include <array>
#include <map>
#include <mutex>
#include <string_view>

#include "kernels/cuda/nvml_calls.h"
#include "kernels/cuda/xid_events.h"

namespace assay::cuda {
namespace {

using nvml_calls::ask;
using nvml_calls::Handle;

constexpr unsigned sm_clock = 1;
constexpr unsigned gpu_sensor = 0;
constexpr unsigned max_links = 18;
constexpr double mhz = 1e6;
constexpr double milliwatt = 1e-3;
constexpr double millijoule = 1e-3;
// Bits of nvmlClocksThrottleReasons.
constexpr std::uint64_t power_cap = 0x4;
constexpr std::uint64_t hardware = 0x8;
constexpr std::uint64_t software_thermal = 0x20;
constexpr std::uint64_t hardware_thermal = 0x40;
constexpr std::uint64_t power_brake = 0x80;
struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {  // layout of nvmlDeviceGetComputeRunningProcesses_v3
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

/// Reads an unsigned number of the GPU by the function `name`, in units of `unit`.
template <class... Arguments>
std::optional<double> number(const char* name, double unit, Handle gpu, Arguments... arguments) {
  unsigned value = 0;
  if (!ask(name, gpu, arguments..., &value)) return std::nullopt;
  return value * unit;
}

std::optional<int> whole(const char* name, Handle gpu) {
  const auto value = number(name, 1, gpu);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

template <class Mode>
std::optional<bool> mode(const char* name, Handle gpu) {
  Mode current{};
  Mode pending{};
  if (!ask(name, gpu, &current, &pending)) return std::nullopt;
  return current != 0;
}

std::optional<int> active_links(Handle gpu) {
  int active = 0;
  bool is_known = false;
  for (unsigned link = 0; link < max_links; ++link) {
    int is_active = 0;
    if (!ask("nvmlDeviceGetNvLinkState", gpu, link, &is_active)) continue;
    is_known = true;
    active += is_active != 0 ? 1 : 0;
  }
  return is_known ? std::optional(active) : std::nullopt;
}

/// Reads a counter of ECC errors since the driver was loaded.
std::optional<std::int64_t> ecc_errors(Handle gpu, int type) {
  constexpr int since_load = 0;
  unsigned long long errors = 0;
  if (!ask("nvmlDeviceGetTotalEccErrors", gpu, type, since_load, &errors)) return std::nullopt;
  return static_cast<std::int64_t>(errors);
}

/// Adds the counters of all links: replays, recoveries, CRC errors of flits and of data.
std::optional<std::int64_t> link_errors(Handle gpu) {
  constexpr int counters = 4;
  std::optional<std::int64_t> sum;
  for (unsigned link = 0; link < max_links; ++link) {
    for (int counter = 0; counter < counters; ++counter) {
      unsigned long long errors = 0;
      if (!ask("nvmlDeviceGetNvLinkErrorCounter", gpu, link, counter, &errors)) continue;
      sum = sum.value_or(0) + static_cast<std::int64_t>(errors);
    }
  }
  return sum;
}

std::optional<std::uint64_t> throttle_reasons(Handle gpu) {
  unsigned long long reasons = 0;
  if (!ask("nvmlDeviceGetCurrentClocksThrottleReasons", gpu, &reasons)) return std::nullopt;
  return reasons;
}

/// Returns null if NVML does not find the GPU. Looks each up once: to look one up may wake it.
Handle handle(const Nvml& nvml, const std::string& pci_bus_id) {
  static std::mutex mutex;
  static std::map<std::string, Handle> found;
  const std::lock_guard lock(mutex);
  if (const auto known = found.find(pci_bus_id); known != found.end()) return known->second;
  Handle gpu = nullptr;
  const bool is_there =
      nvml.problem().empty() && ask("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &gpu);
  if (!is_there) return nullptr;
  found.emplace(pci_bus_id, gpu);
  return gpu;
}

std::optional<std::int64_t> free_memory(Handle gpu) {
  Memory memory{};
  if (!ask("nvmlDeviceGetMemoryInfo", gpu, &memory)) return std::nullopt;
  return static_cast<std::int64_t>(memory.free);
}

std::vector<GpuState::Process> processes(Handle gpu) {
  std::array<ProcessInfo, 64> infos{};
  auto count = static_cast<unsigned>(infos.size());
  std::vector<GpuState::Process> found;
  if (!ask("nvmlDeviceGetComputeRunningProcesses_v3", gpu, &count, infos.data())) return found;
  for (unsigned i = 0; i < count; ++i) {
    std::array<char, 256> name{};
    if (!ask("nvmlSystemGetProcessName", infos.at(i).pid, name.data(), unsigned{name.size()})) {
      name[0] = '\0';
    }
    const std::string_view path(name.data());
    found.push_back({infos.at(i).pid, std::string(path.substr(path.rfind('/') + 1))});
  }
  return found;
}

}  // namespace

const Nvml& Nvml::instance() {
  static const Nvml nvml;
  return nvml;
}

Nvml::Nvml() {
  if (!nvml_calls::library().is_open()) {
    problem_ = nvml_calls::library().problem();
  } else if (!ask("nvmlInit_v2")) {
    problem_ = "NVML does not start";
  }
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (!problem_.empty() || !ask("nvmlSystemGetDriverVersion", text.data(), unsigned{text.size()})) {
    return "";
  }
  return text.data();
}

std::vector<std::string> Nvml::uuids() const {
  unsigned count = 0;
  std::vector<std::string> found;
  if (!problem_.empty() || !ask("nvmlDeviceGetCount_v2", &count)) return found;
  for (unsigned index = 0; index < count; ++index) {
    Handle gpu = nullptr;
    std::array<char, 96> uuid{};
    if (!ask("nvmlDeviceGetHandleByIndex_v2", index, &gpu) ||
        !ask("nvmlDeviceGetUUID", gpu, uuid.data(), unsigned{uuid.size()})) {
      return {};
    }
    found.emplace_back(uuid.data());
  }
  return found;
}

GpuState Nvml::state(const std::string& pci_bus_id) const {
  GpuState s;
  Handle gpu = handle(*this, pci_bus_id);
  if (gpu == nullptr) return s;
  s.memory_free_bytes = free_memory(gpu);
  s.sm_clock_hz = number("nvmlDeviceGetClockInfo", mhz, gpu, sm_clock);
  s.sm_clock_max_hz = number("nvmlDeviceGetMaxClockInfo", mhz, gpu, sm_clock);
  s.temperature_c = number("nvmlDeviceGetTemperature", 1, gpu, gpu_sensor);
  s.power_w = number("nvmlDeviceGetPowerUsage", milliwatt, gpu);
  s.power_limit_w = number("nvmlDeviceGetEnforcedPowerLimit", milliwatt, gpu);
  s.ecc = mode<int>("nvmlDeviceGetEccMode", gpu);
  s.mig = mode<unsigned>("nvmlDeviceGetMigMode", gpu);
  s.pcie = {whole("nvmlDeviceGetMaxPcieLinkGeneration", gpu),
            whole("nvmlDeviceGetMaxPcieLinkWidth", gpu)};
  s.pcie_now = {whole("nvmlDeviceGetCurrPcieLinkGeneration", gpu),
                whole("nvmlDeviceGetCurrPcieLinkWidth", gpu)};
  s.nvlinks = active_links(gpu);
  s.throttle_reasons = throttle_reasons(gpu);
  s.processes = processes(gpu);
  return s;
}

std::optional<std::int64_t> Nvml::slice_memory_free_bytes(const std::string& uuid) const {
  Handle slice = nullptr;
  if (!problem_.empty() || !ask("nvmlDeviceGetHandleByUUID", uuid.c_str(), &slice)) {
    return std::nullopt;
  }
  return free_memory(slice);
}

DeviceCondition Nvml::condition(const std::string& pci_bus_id) const {
  DeviceCondition c;
  Handle gpu = handle(*this, pci_bus_id);
  if (gpu == nullptr) return c;
  c.clock_hz = number("nvmlDeviceGetClockInfo", mhz, gpu, sm_clock);
  c.temperature_c = number("nvmlDeviceGetTemperature", 1, gpu, gpu_sensor);
  c.power_w = number("nvmlDeviceGetPowerUsage", milliwatt, gpu);
  unsigned long long energy_mj = 0;
  if (ask("nvmlDeviceGetTotalEnergyConsumption", gpu, &energy_mj)) {
    c.energy_j = static_cast<double>(energy_mj) * millijoule;
  }
  if (const auto reasons = throttle_reasons(gpu)) {
    c.throttled = is_throttled(*reasons);
    c.power_capped = is_power_capped(*reasons);
  }
  return c;
}

DeviceErrors Nvml::errors(const std::string& pci_bus_id) const {
  DeviceErrors e;
  Handle gpu = handle(*this, pci_bus_id);
  if (gpu == nullptr) return e;
  constexpr int corrected = 0;
  constexpr int uncorrected = 1;
  e.ecc_corrected = ecc_errors(gpu, corrected);
  e.ecc_uncorrected = ecc_errors(gpu, uncorrected);
  e.nvlink = link_errors(gpu);
  if (const auto xid = xid_errors(pci_bus_id, gpu)) {
    e.xid = xid->count;
    e.last_xid = xid->last;
  }
  return e;
}

bool is_throttled(std::uint64_t reasons) {
  return (reasons & (hardware | software_thermal | hardware_thermal | power_brake)) != 0;
}

bool is_power_capped(std::uint64_t reasons) { return (reasons & power_cap) != 0; }

std::string pcie_text(const GpuState::Pcie& pcie) {
  if (!pcie.generation || !pcie.lanes) return "";
  return "PCIe " + std::to_string(*pcie.generation) + ".0 x" + std::to_string(*pcie.lanes);
}

std::string link_text(const GpuState& state) {
  std::string text = pcie_text(state.pcie);
  if (state.nvlinks.value_or(0) > 0) {
    text += (text.empty() ? "" : "; ") + std::to_string(*state.nvlinks) + " NVLinks";
  }
  return text;
}

std::string process_text(const GpuState& state) {
  std::string text;
  for (const GpuState::Process& process : state.processes) {
    text += (text.empty() ? "" : "; ") + std::to_string(process.pid) +
            (process.name.empty() ? "" : " " + process.name);
  }
  return text;
}

}  // namespace assay::cuda
