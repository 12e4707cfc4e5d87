#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace assay {

/// The part of the machine to which a PCI device is attached.
struct PciLocality {
  std::optional<std::int64_t> numa_node;
  std::string processors;  // "0-15,32-47"
};

/// Reads the kernel's files about a device, whose letters may be of either case. Fields that cannot
/// be read are empty.
PciLocality locality_of(std::string pci_bus_id,
                        const std::filesystem::path& devices = "/sys/bus/pci/devices");

/// Counts the PCI devices that are displays or processing accelerators, by the kernel's files.
int accelerators(const std::filesystem::path& devices = "/sys/bus/pci/devices");

}  // namespace assay
