#include "kernels/cuda/describe.h"

#include <cuda_runtime_api.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/library.h"
#include "kernels/cuda/nccl.h"
#include "kernels/cuda/nvml.h"
#include "kernels/device/driver_mode.h"
#include "kernels/device/pci_locality.h"

// Name of the stand-in that the build has in place of GPUs (emulator); empty: none.
#ifndef ASSAY_CUDA_STAND_IN
#define ASSAY_CUDA_STAND_IN ""
#endif

namespace assay::cuda {
namespace {

constexpr std::string_view slice_prefix = "MIG-";

/// Counts the GPUs. Clears its error: the next call must not see it.
cudaError_t count_of(int& count) {
  count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    count = 0;
  }
  return error;
}

/// Attribute of the device; empty where the driver does not know it.
std::optional<int> attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess) return value;
  cudaGetLastError();
  return std::nullopt;
}

std::string kernel_release() {
  utsname host{};
  return uname(&host) == 0 ? host.release : "";
}

/// Modes of the driver: the end of DeviceInfo::driver.
std::string mode_text(int ordinal, bool is_slice) {
  std::string text;
  const auto add = [&](std::string_view mode) { text.append(", ").append(mode); };
  if (is_wsl2(kernel_release())) add(driver_mode::wsl2);
  if (is_slice) add(driver_mode::slice);
  if (attribute(cudaDevAttrMpsEnabled, ordinal) == 1) {
    add(driver_mode::mps);  // its server is the one process of a GPU in exclusive mode
  } else if (attribute(cudaDevAttrComputeMode, ordinal) == cudaComputeModeExclusiveProcess) {
    add(driver_mode::exclusive);
  }
  if (attribute(cudaDevAttrKernelExecTimeout, ordinal) == 1) add(driver_mode::watchdog);
  return text;
}

std::string driver_text() {
  const std::string kernel_driver = Nvml::instance().driver_version();
  return (kernel_driver.empty() ? "NVIDIA" : "NVIDIA " + kernel_driver) + ", CUDA " +
         version_text(driver_version());
}

std::string runtime_text() {
  int version = 0;
  check(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
  return "CUDA " + version_text(version);
}

std::optional<double> clock_max_hz(int ordinal) {
  const int khz = attribute(cudaDevAttrClockRate, ordinal).value_or(0);
  return khz > 0 ? std::optional(khz * 1e3) : std::nullopt;
}

std::string on_or_off(std::optional<bool> value) {
  if (!value) return "";
  return *value ? "on" : "off";
}

std::string pci_bus_id_of(int ordinal) {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal),
        "cudaDeviceGetPCIBusId");
  return text.data();
}

/// Assumes two transfers per clock on each line.
std::optional<double> memory_peak_bytes_per_s(int ordinal) {
  const int khz = attribute(cudaDevAttrMemoryClockRate, ordinal).value_or(0);
  const int bits = attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal).value_or(0);
  if (khz <= 0 || bits <= 0) return std::nullopt;
  return 2 * (khz * 1e3) * (bits / 8.0);
}

DeviceInfo describe(int ordinal) {
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, ordinal), "cudaGetDeviceProperties");
  DeviceInfo info;
  info.device = "cuda:" + std::to_string(ordinal);
  info.backend = "cuda";
  info.name = gpu.name;
  info.stand_in = ASSAY_CUDA_STAND_IN;
  info.pci_bus_id = pci_bus_id_of(ordinal);
  const GpuState state = Nvml::instance().state(info.pci_bus_id);
  info.uuid = uuid_of(ordinal);
  info.architecture = "sm_" + std::to_string(gpu.major * 10 + gpu.minor);
  const bool is_slice = info.uuid.starts_with(slice_prefix);
  info.driver = driver_text() + mode_text(ordinal, is_slice);
  info.runtime = runtime_text();
  for (const std::string& library :
       {CublasLt::instance().version_text(), Nccl::instance().version_text()}) {
    if (!library.empty()) info.libraries += (info.libraries.empty() ? "" : "; ") + library;
  }
  info.compute_units = gpu.multiProcessorCount;
  info.memory_total_bytes = static_cast<std::int64_t>(gpu.totalGlobalMem);
  info.memory_free_bytes =
      is_slice ? Nvml::instance().slice_memory_free_bytes(info.uuid) : state.memory_free_bytes;
  info.clock_hz = state.sm_clock_hz;
  info.clock_max_hz = state.sm_clock_max_hz ? state.sm_clock_max_hz : clock_max_hz(ordinal);
  info.temperature_c = state.temperature_c;
  info.power_w = state.power_w;
  info.power_limit_w = state.power_limit_w;
  info.ecc = state.ecc ? on_or_off(state.ecc) : on_or_off(gpu.ECCEnabled != 0);
  info.link = link_text(state);
  info.link_now = pcie_text(state.pcie_now);
  info.processes = process_text(state);
  if (gpu.l2CacheSize > 0) {
    info.l2_cache_bytes = gpu.l2CacheSize;
    info.last_level_cache_bytes = info.l2_cache_bytes;
  }
  info.memory_peak_bytes_per_s = memory_peak_bytes_per_s(ordinal);
  if (info.stand_in.empty()) {  // no device of this host has the bus id of a stand-in
    PciLocality locality = locality_of(info.pci_bus_id);
    info.numa_node = locality.numa_node;
    info.local_processors = std::move(locality.processors);
  }
  return info;
}

}  // namespace

std::string uuid_text(const unsigned char (&bytes)[16], bool is_mig_slice) {
  std::string text = is_mig_slice ? "MIG" : "GPU";
  for (std::size_t i = 0; i < 16; ++i) {
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", bytes[i]);
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex.data();
  }
  return text;
}

std::string uuid_of(int ordinal) {
  // Cached: every judged launch asks for each tensor, and the answer never changes.
  static std::mutex mutex;
  static std::map<int, std::string> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(ordinal); found != known.end()) return found->second;
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, ordinal), "cudaGetDeviceProperties");
  unsigned char bytes[16];
  for (std::size_t i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(gpu.uuid.bytes[i]);
  // A process sees a MIG slice as a separate device, with the UUID of the slice.
  const bool is_mig_slice = Nvml::instance().state(pci_bus_id_of(ordinal)).mig.value_or(false);
  return known.emplace(ordinal, uuid_text(bytes, is_mig_slice)).first->second;
}

int driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

bool is_wsl2(std::string_view kernel_release) {
  return kernel_release.find("microsoft") != std::string_view::npos &&
         kernel_release.find("WSL2") != std::string_view::npos;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::vector<DeviceInfo> describe_gpus() {
  int count = 0;
  std::vector<DeviceInfo> gpus;
  if (count_of(count) != cudaSuccess) return gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal) gpus.push_back(describe(ordinal));
  return gpus;
}

Visibility visible_gpus() {
  Visibility v{.mask = "CUDA_VISIBLE_DEVICES"};
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  const std::vector<DeviceInfo> gpus = describe_gpus();
  std::vector<std::string> all = Nvml::instance().uuids();
  if (all.empty()) {
    v.unknown_because = "NVML lists no GPUs";
  } else if (std::ranges::any_of(
                 gpus, [](const DeviceInfo& gpu) { return gpu.uuid.starts_with(slice_prefix); })) {
    v.unknown_because = "of the slices of a GPU NVML's list of GPUs has none";
  } else if (all.size() > 1 && std::string_view(order ? order : "") != "PCI_BUS_ID") {
    v.unknown_because =
        "only with CUDA_DEVICE_ORDER=PCI_BUS_ID do the mask's indices count the GPUs as NVML does";
  } else {
    v.machine = std::move(all);
  }
  return v;
}

std::vector<std::string> missing_parts() {
  if (!driver().is_open()) return {"no driver (" + driver().problem() + ")"};
  int count = 0;
  const cudaError_t error = count_of(count);
  if (error == cudaErrorInsufficientDriver) {
    return {"the driver serves CUDA " + version_text(driver_version()) + ", this build is " +
            runtime_text() + ": install a newer driver"};
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    const char* mask = std::getenv("CUDA_VISIBLE_DEVICES");
    return {mask == nullptr ? "the driver finds no GPU"
                            : "no GPU is visible with CUDA_VISIBLE_DEVICES=" + std::string(mask)};
  }
  if (error != cudaSuccess) {
    const std::string way_out = remedy(error);
    return {std::string(cudaGetErrorString(error)) + (way_out.empty() ? "" : "; " + way_out)};
  }
  std::vector<std::string> problems;
  const auto miss = [&](const std::string& problem, const char* consequence) {
    if (!problem.empty()) problems.push_back(problem + ": " + consequence);
  };
  miss(CublasLt::instance().problem(), "no linear, linear_stack or batched_matmul on GPUs");
  miss(Nccl::instance().problem(), "no collectives of GPUs");
  miss(Nvml::instance().problem(), "no clocks, temperatures, power or processes of GPUs");
  return problems;
}

}  // namespace assay::cuda
