#include "kernels/device/pci_locality.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <system_error>

namespace assay {

PciLocality locality_of(std::string pci_bus_id, const std::filesystem::path& devices) {
  std::ranges::transform(pci_bus_id, pci_bus_id.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  PciLocality found;
  std::ifstream(devices / pci_bus_id / "local_cpulist") >> found.processors;
  std::int64_t node = -1;
  // The kernel writes -1 on a machine without nodes.
  if (std::ifstream(devices / pci_bus_id / "numa_node") >> node && node >= 0) {
    found.numa_node = node;
  }
  return found;
}

int accelerators(const std::filesystem::path& devices) {
  int count = 0;
  std::error_code none;
  for (const auto& device : std::filesystem::directory_iterator(devices, none)) {
    std::string code;  // "0x030200": base class, subclass, interface
    std::ifstream(device.path() / "class") >> code;
    if (code.starts_with("0x03") || code.starts_with("0x12")) ++count;
  }
  return count;
}

}  // namespace assay
