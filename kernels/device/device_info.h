#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace assay {

/// Facts about one device, found without using it. A field that the device lacks is empty. Only
/// `device`, `backend` and `name` are always present.
struct DeviceInfo {
  std::string device;  // "cpu", "cuda:0"
  std::string backend;
  std::string name;
  std::string uuid;
  std::string pci_bus_id;
  std::string architecture;                   // instruction set or compute capability
  std::string driver;                         // kernel or GPU driver, with version
  std::string runtime;                        // language runtime, with version
  std::string libraries;                      // "oneDNN 2.6.3; Gloo 0.5.0"
  std::optional<std::int64_t> compute_units;  // cores that this process may use; multiprocessors
  std::optional<std::int64_t> memory_total_bytes;
  std::optional<std::int64_t> memory_free_bytes;
  std::optional<double> clock_hz;
  std::optional<double> clock_max_hz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::string ecc;                                     // "on", "off"
  std::string link;                                    // fastest possible: "PCIe 5.0 x16"
  std::string processes;                               // "1234 python; 99 assay"
  std::optional<std::int64_t> last_level_cache_bytes;  // sum over all such caches
  std::optional<double> memory_peak_bytes_per_s;       // clock x width of its memory
  std::string link_now;                                // "PCIe 1.0 x16": slower while idle
  /// "simulated": figures of no real hardware. Empty for a real device.
  std::string stand_in;
  std::optional<std::int64_t> numa_node;  // of the host's memory that is nearest to it
  std::string local_processors;           // those of the host that are nearest to it: "0-15,32-47"
  std::optional<std::int64_t> l1_cache_bytes;  // sums over all caches for data of the level
  std::optional<std::int64_t> l2_cache_bytes;
};

/// Calls `visit(name, field)` for each field in the order of the columns of devices.csv. The CSV,
/// the JSON and the worker protocol share this one list of names.
template <class Info, class Visitor>
void visit_fields(Info& info,
                  Visitor&& visit) requires std::same_as<std::remove_const_t<Info>, DeviceInfo> {
  visit("device", info.device);
  visit("backend", info.backend);
  visit("name", info.name);
  visit("uuid", info.uuid);
  visit("pci_bus_id", info.pci_bus_id);
  visit("architecture", info.architecture);
  visit("driver", info.driver);
  visit("runtime", info.runtime);
  visit("libraries", info.libraries);
  visit("compute_units", info.compute_units);
  visit("memory_total_bytes", info.memory_total_bytes);
  visit("memory_free_bytes", info.memory_free_bytes);
  visit("clock_hz", info.clock_hz);
  visit("clock_max_hz", info.clock_max_hz);
  visit("temperature_c", info.temperature_c);
  visit("power_w", info.power_w);
  visit("power_limit_w", info.power_limit_w);
  visit("ecc", info.ecc);
  visit("link", info.link);
  visit("processes", info.processes);
  visit("last_level_cache_bytes", info.last_level_cache_bytes);
  visit("memory_peak_bytes_per_s", info.memory_peak_bytes_per_s);
  visit("link_now", info.link_now);
  visit("stand_in", info.stand_in);
  visit("numa_node", info.numa_node);
  visit("local_processors", info.local_processors);
  visit("l1_cache_bytes", info.l1_cache_bytes);
  visit("l2_cache_bytes", info.l2_cache_bytes);
}

}  // namespace assay
