#include "emulator/runtime/gpus.h"

#include <algorithm>
#include <array>

namespace emulator {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

/// Limits that the compute capability alone decides: CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability". The opt-in limit of shared memory leaves 1 KiB to the
/// system from 8.0 on.
GpuModel of_capability(int major, int minor) {
  GpuModel m;
  m.major = major;
  m.minor = minor;
  const auto set = [&](std::size_t shared, std::size_t optin, int threads, int blocks) {
    m.shared_bytes_per_multiprocessor = shared * kib;
    m.shared_bytes_per_block_optin = optin * kib;
    m.threads_per_multiprocessor = threads;
    m.blocks_per_multiprocessor = blocks;
  };
  switch (10 * major + minor) {
    case 70:
      set(96, 96, 2048, 32);
      break;
    case 75:
      set(64, 64, 1024, 16);
      break;
    case 80:
      set(164, 163, 2048, 32);
      break;
    case 86:
      set(100, 99, 1536, 16);
      break;
    case 89:
      set(100, 99, 1536, 24);
      break;
    default:
      set(228, 227, 2048, 32);
      break;  // 9.0 and 10.0
  }
  return m;
}

struct Sheet {
  const char* name;
  const char* product;
  int major, minor, multiprocessors;
  std::size_t memory_gib, l2_kib;
  int memory_clock_mhz, memory_bus_bits, clock_mhz, pcie_generation, nvlinks;
  int pcie_lanes = 16;
  double watchdog_s = 0;
};

// The memory clock is half of the data rate of a line: bandwidth = 2 * clock * bus width / 8.
constexpr Sheet sheets[] = {
    // "NVIDIA Tesla V100 GPU Architecture" (WP-08608-001): 80 SMs, 6144 KB of L2, 4096-bit HBM2,
    // 900 GB/s, 6 NVLinks; boost 1530 MHz.
    {"v100", "Tesla V100-SXM2-32GB", 7, 0, 80, 32, 6144, 877, 4096, 1530, 3, 6},
    // "NVIDIA T4" data sheet: 2560 CUDA cores (40 SMs), 16 GB GDDR6, 320 GB/s, PCIe 3.0 x16.
    // "NVIDIA Turing GPU Architecture" (WP-09183-001): TU104 has a 256-bit bus and 4096 KB of L2;
    // boost 1590 MHz.
    {"t4", "Tesla T4", 7, 5, 40, 16, 4096, 5001, 256, 1590, 3, 0},
    // "NVIDIA Ampere GA102 GPU Architecture": RTX 3090 with 82 SMs, 24 GB GDDR6X at 19.5 Gb/s, 384
    // bits, 6144 KB of L2, boost 1695 MHz, PCIe 4.0, 4 NVLinks.
    {"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 24, 6144, 9751, 384, 1695, 4, 4},
    // "GeForce RTX 30 Series Laptops": RTX 3050 with 2048 CUDA cores (16 SMs), 4 GB GDDR6, 128
    // bits,
    // boost up to 1740 MHz. Reviews: 12 Gb/s, 192 GB/s, 2048 KB of L2, PCIe 4.0 x8. It serves the
    // display too: 2 s are the default of Windows ("TdrDelay").
    {"rtx3050", "NVIDIA GeForce RTX 3050 Laptop GPU", 8, 6, 16, 4, 2048, 6001, 128, 1740, 4, 0, 8,
     2},
    // "NVIDIA A100 80GB" data sheet: 2039 GB/s, PCIe 4.0. "NVIDIA A100 Tensor Core GPU
    // Architecture": 108 SMs, 40 MB of L2, 5120 bits, 12 NVLinks, boost 1410 MHz.
    {"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 80, 40 * 1024, 1593, 5120, 1410, 4, 12},
    // "NVIDIA L40S" data sheet: 18176 CUDA cores (142 SMs), 48 GB GDDR6, 864 GB/s, PCIe 4.0 x16.
    // "NVIDIA Ada GPU Architecture": AD102 has 384 bits and 96 MB of L2; boost 2520 MHz.
    {"l40s", "NVIDIA L40S", 8, 9, 142, 48, 96 * 1024, 9001, 384, 2520, 4, 0},
    // "NVIDIA H100 Tensor Core GPU Architecture": the PCIe card with 114 SMs, 80 GB HBM2e, 5120
    // bits, 2 TB/s, 50 MB of L2, boost 1755 MHz, PCIe 5.0; "NVIDIA H100 PCIe" product brief: NVLink
    // bridges with 600 GB/s, 12 links of 50 GB/s.
    {"h100", "NVIDIA H100 PCIe", 9, 0, 114, 80, 50 * 1024, 1593, 5120, 1755, 5, 12},
    // As above, the SXM5 module with 132 SMs, HBM3, 5120 bits, 3.35 TB/s, 18 NVLinks; highest clock
    // 1980 MHz.
    {"h100sxm", "NVIDIA H100 80GB HBM3", 9, 0, 132, 80, 50 * 1024, 2619, 5120, 1980, 5, 18},
    // "NVIDIA H200" data sheet: 141 GB HBM3e, 4.8 TB/s, 900 GB/s of NVLink, PCIe 5.0; the rest as
    // the H100 SXM5, with six stacks of 1024 bits.
    {"h200", "NVIDIA H200", 9, 0, 132, 141, 50 * 1024, 3125, 6144, 1980, 5, 18},
    // "NVIDIA DGX B200" data sheet: 8 GPUs with 1440 GB HBM3e and 64 TB/s, 14.4 TB/s of NVLink (18
    // links of 100 GB/s each). "NVIDIA Blackwell Tuning Guide": 148 SMs, 126 MB of L2; eight stacks
    // of 1024 bits; PCIe 5.0 in that system.
    {"b200", "NVIDIA B200", 10, 0, 148, 180, 126 * 1024, 3906, 8192, 1965, 5, 18},
};

std::array<GpuModel, std::size(sheets)> all_models() {
  std::array<GpuModel, std::size(sheets)> models;
  std::ranges::transform(sheets, models.begin(), [](const Sheet& sheet) {
    GpuModel m = of_capability(sheet.major, sheet.minor);
    m.name = sheet.name;
    m.product = sheet.product;
    m.multiprocessors = sheet.multiprocessors;
    m.memory_bytes = sheet.memory_gib * gib;
    m.l2_bytes = sheet.l2_kib * kib;
    m.memory_clock_khz = sheet.memory_clock_mhz * 1000;
    m.memory_bus_bits = sheet.memory_bus_bits;
    m.clock_khz = sheet.clock_mhz * 1000;
    m.pcie_generation = sheet.pcie_generation;
    m.pcie_lanes = sheet.pcie_lanes;
    m.nvlinks = sheet.nvlinks;
    m.watchdog_s = sheet.watchdog_s;
    return m;
  });
  return models;
}

}  // namespace

std::span<const GpuModel> gpu_models() {
  static const auto models = all_models();
  return models;
}

const GpuModel* find_gpu_model(std::string_view name) {
  const auto models = gpu_models();
  const auto found = std::ranges::find(models, name, &GpuModel::name);
  return found == models.end() ? nullptr : &*found;
}

GpuModel mig_slice_of(const GpuModel& gpu) {
  GpuModel slice = gpu;
  slice.memory_bytes = gpu.memory_bytes / 8;
  // Named by the nearest number: "MIG User Guide", profiles 1g.18gb of the H200 and 1g.23gb of the
  // B200.
  slice.product += " MIG 1g." + std::to_string((slice.memory_bytes + gib / 2) / gib) + "gb";
  slice.multiprocessors = gpu.multiprocessors / 7;
  slice.l2_bytes = gpu.l2_bytes / 8;
  slice.nvlinks = 0;
  return slice;
}

}  // namespace emulator
