#include "harness/measure/theoretical.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace assay::measure {
namespace {

/// Operations per clock and multiprocessor; a multiplication and an addition count as two. 0: none,
/// or not published. sm_103 as the GB300's 1.25, 80, 1250, 2500, 2500, 5000 and 165 TFLOPS on 160
/// multiprocessors, sm_110 as the Jetson T5000's 258 TFLOPS of f16 on 20.
struct MatrixUnits {
  std::string_view architecture;
  int f64, f32, tf32, f16, bf16, e4m3, i8;
};
constexpr std::array matrix_units{
    MatrixUnits{"sm_75", 4, 128, 0, 1024, 0, 0, 2048},
    MatrixUnits{"sm_80", 128, 128, 1024, 2048, 2048, 0, 4096},
    MatrixUnits{"sm_86", 4, 256, 512, 1024, 1024, 0, 2048},
    MatrixUnits{"sm_89", 4, 256, 512, 1024, 1024, 2048, 2048},
    MatrixUnits{"sm_90", 256, 256, 2048, 4096, 4096, 8192, 8192},
    MatrixUnits{"sm_100", 128, 256, 4096, 8192, 8192, 16384, 16384},
    MatrixUnits{"sm_103", 4, 256, 4096, 8192, 8192, 16384, 512},
    MatrixUnits{"sm_110", 0, 256, 0, 8192, 8192, 0, 0},
    MatrixUnits{"sm_120", 4, 256, 512, 1024, 1024, 2048, 2048},
    MatrixUnits{"sm_121", 4, 256, 512, 1024, 1024, 2048, 2048},
};

int operations(const MatrixUnits& units, Format format) {
  const std::array<std::pair<Format, int>, 7> by_format{{{DType::f64, units.f64},
                                                         {DType::f32, units.f32},
                                                         {ProductFormat::tf32, units.tf32},
                                                         {DType::f16, units.f16},
                                                         {DType::bf16, units.bf16},
                                                         {DType::e4m3, units.e4m3},
                                                         {DType::i8, units.i8}}};
  const auto* const found = std::ranges::find(by_format, format, &std::pair<Format, int>::first);
  return found == by_format.end() ? 0 : found->second;
}

std::optional<double> matrix_rate(const DeviceInfo& device, Format format) {
  if (!device.compute_units || !device.clock_max_hz) return std::nullopt;
  const auto* const found =
      std::ranges::find(matrix_units, device.architecture, &MatrixUnits::architecture);
  const int each_clock = found == matrix_units.end() ? 0 : operations(*found, format);
  if (each_clock == 0) return std::nullopt;
  return static_cast<double>(*device.compute_units) * *device.clock_max_hz * each_clock;
}

/// Bytes per second of a link such as "PCIe 4.0 x16": bits on all lanes, less the encoding (PCI
/// Express base specifications 1.0 to 6.0). No copy reaches it, since packets have headers.
std::optional<double> link_rate(const std::string& link) {
  struct Generation {
    std::string_view name;
    double bits_per_s;
    double left_by_encoding;
  };
  constexpr std::array generations{
      Generation{"PCIe 1.0 x", 2.5e9, 8.0 / 10},   Generation{"PCIe 2.0 x", 5e9, 8.0 / 10},
      Generation{"PCIe 3.0 x", 8e9, 128.0 / 130},  Generation{"PCIe 4.0 x", 16e9, 128.0 / 130},
      Generation{"PCIe 5.0 x", 32e9, 128.0 / 130}, Generation{"PCIe 6.0 x", 64e9, 242.0 / 256},
  };
  for (const Generation& generation : generations) {
    if (!link.starts_with(generation.name)) continue;
    int lanes = 0;
    const char* first = link.data() + generation.name.size();
    if (std::from_chars(first, link.data() + link.size(), lanes).ec != std::errc()) break;
    return generation.bits_per_s * generation.left_by_encoding * lanes / 8;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> theoretical(const DeviceInfo& device, LimitKind limit) {
  switch (limit.resource) {
    case Resource::memory_read:
    case Resource::memory_write:
    case Resource::memory_copy:
    case Resource::memory_triad:
      return device.memory_peak_bytes_per_s;
    case Resource::matrix:
      return matrix_rate(device, limit.format.value());
    case Resource::link_to_device:
    case Resource::link_from_device:
      return link_rate(device.link);
    case Resource::function:
    case Resource::launch:
      break;
  }
  return std::nullopt;
}

}  // namespace assay::measure
