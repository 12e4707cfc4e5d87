#include "kernels/cpu/describe.h"

#include <gnu/libc-version.h>
#include <omp.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "kernels/cpu/all_cores.h"
#include "kernels/cpu/collectives.h"
#include "kernels/cpu/onednn.h"
#include "kernels/device/device_id.h"

namespace assay::cpu {
namespace {

/// Value of the first line "key   : value" of a file of /proc; empty if there is none.
std::string proc_value(const char* file, std::string_view key) {
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::optional<double> number(const std::string& text) {
  std::istringstream stream(text);
  double value = 0;
  if (stream >> value) return value;
  return std::nullopt;
}

std::optional<std::int64_t> memory_bytes(std::string_view key) {
  const auto kib = number(proc_value("/proc/meminfo", key));
  if (!kib) return std::nullopt;
  return static_cast<std::int64_t>(*kib) * 1024;
}

std::optional<double> frequency_hz(const char* file) {
  std::ifstream text(file);
  double khz = 0;
  if (text >> khz) return khz * 1e3;
  return std::nullopt;
}

/// Widest of the extensions by which libraries choose their kernels.
std::string vector_extensions() {
  const std::string flags = " " + proc_value("/proc/cpuinfo", "flags") + " ";
  std::string found = "x86-64";
  for (const std::string_view flag :
       {"avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8"}) {
    if (flags.find(" " + std::string(flag) + " ") != std::string::npos) {
      found += " " + std::string(flag);
    }
  }
  return found;
}

}  // namespace

void describe_caches(const CacheBytes& caches, DeviceInfo& info) {
  const auto of_level = [&](int level) -> std::optional<std::int64_t> {
    const auto found = caches.find(level);
    return found == caches.end() ? std::nullopt : std::optional(found->second);
  };
  info.l1_cache_bytes = of_level(1);
  info.l2_cache_bytes = of_level(2);
  info.last_level_cache_bytes = last_level(caches);
}

DeviceInfo describe_machine() {
  DeviceInfo info;
  info.device = host_kind;
  info.backend = host_kind;
  info.name = proc_value("/proc/cpuinfo", "model name");
  if (info.name.empty()) info.name = "unnamed CPU";
  info.architecture = vector_extensions();
  utsname system{};
  if (uname(&system) == 0) info.driver = std::string(system.sysname) + " " + system.release;
  info.runtime =
      "glibc " + std::string(gnu_get_libc_version()) + "; OpenMP " + std::to_string(_OPENMP);
  info.libraries = dnnl_version_text() + "; " + gloo_version_text();
  info.compute_units = cores_among(usable_processors());
  info.memory_total_bytes = memory_bytes("MemTotal");
  info.memory_free_bytes = memory_bytes("MemAvailable");
  if (const auto mhz = number(proc_value("/proc/cpuinfo", "cpu MHz"))) info.clock_hz = *mhz * 1e6;
  info.clock_max_hz = frequency_hz("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  // Two threads on one core take turns at its units; a user who says how many shall have them.
  if (std::getenv("OMP_NUM_THREADS") == nullptr && std::getenv("OMP_PLACES") == nullptr &&
      std::getenv("GOMP_CPU_AFFINITY") == nullptr) {
    info.local_processors = one_of_each_core();
  }
  describe_caches(cache_bytes(), info);
  return info;
}

}  // namespace assay::cpu
