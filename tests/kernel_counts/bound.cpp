#include "tests/kernel_counts/bound.h"

#include <algorithm>
#include <array>

namespace assay::kernel_counts {
namespace {

using emulator::Counts;
using emulator::GpuModel;
using emulator::Pipe;

using emulator::sector_bytes;
constexpr int warp = 32;
/// Warp instructions a clock: four schedulers with one each.
constexpr double issue_rate = 4;
/// Bytes a clock between a multiprocessor and its first-level cache.
constexpr double cache_bytes_per_clock = 128;

/// Results a clock and multiprocessor: "Throughput of Native Arithmetic Instructions" of the CUDA
/// C++ Programming Guide. Conversions take the lowest figure of any GPU since 7.0.
std::array<double, emulator::pipes> rates(const GpuModel& gpu) {
  std::array<double, emulator::pipes> rate{};
  const auto set = [&](Pipe pipe, double value) { rate[static_cast<std::size_t>(pipe)] = value; };
  const bool is_a100 = gpu.major == 8 && gpu.minor == 0;
  const bool is_server = is_a100 || gpu.major >= 9 || (gpu.major == 7 && gpu.minor == 0);
  set(Pipe::f32, is_a100 || gpu.major == 7 ? 64 : 128);
  set(Pipe::integer, 64);
  set(Pipe::f64, gpu.major >= 9 ? 64 : is_server ? 32 : 2);
  set(Pipe::special, 16);
  set(Pipe::widen, 64);
  set(Pipe::convert, 16);
  set(Pipe::convert_wide, is_server ? 16 : 2);
  set(Pipe::shuffle, 32);
  set(Pipe::control, 64);
  return rate;
}

/// Clocks that one multiprocessor would take if it had all of the work.
double clocks(const Counts& counts, const GpuModel& gpu) {
  const auto rate = rates(gpu);
  double issued = 0, busiest = 0;
  for (std::size_t i = 0; i < emulator::pipes; ++i) {
    const auto instructions = static_cast<double>(counts.instructions[i]);
    issued += instructions;
    if (rate[i] > 0) busiest = std::max(busiest, instructions * warp / rate[i]);
  }
  // An access takes a clock, and one for each 128 bytes of it.
  double accesses =
      static_cast<double>(counts.shared_wavefronts + counts.local_requests + counts.uniform_loads);
  for (const auto& global : {counts.loads, counts.stores, counts.atomics, counts.polls})
    accesses += std::max(static_cast<double>(global.requests),
                         static_cast<double>(global.lane_bytes) / cache_bytes_per_clock);
  return std::max({issued / issue_rate, busiest, accesses});
}

}  // namespace

double KernelBound::seconds() const { return std::max({memory_s, issue_s, latency_s}); }

std::string_view KernelBound::limited_by() const {
  if (seconds() == memory_s) return "memory";
  return seconds() == issue_s ? "issue" : "latency";
}

double bandwidth_bytes_per_s(const GpuModel& gpu) {
  return 2e3 * gpu.memory_clock_khz * gpu.memory_bus_bits / 8;
}

double needed_bytes_in_flight(const GpuModel& gpu) {
  constexpr double kib = 1024;
  if (gpu.major >= 10) return 64 * kib;
  if (gpu.major == 9) return (bandwidth_bytes_per_s(gpu) > 4e12 ? 48 : 32) * kib;
  return (gpu.major == 8 ? 16 : 12) * kib;
}

int resident_blocks(std::uint64_t threads, int registers, std::uint64_t shared_bytes,
                    const GpuModel& gpu) {
  if (threads == 0) return 0;
  constexpr std::uint64_t system_shared_bytes = 1024;  // of each block, from 8.0 on
  const std::uint64_t warps = (threads + warp - 1) / warp;
  // Registers are given to warps, 256 at a time.
  const auto per_warp = (static_cast<std::uint64_t>(registers) * warp + 255) / 256 * 256;
  std::uint64_t blocks = std::min<std::uint64_t>(
      static_cast<std::uint64_t>(gpu.blocks_per_multiprocessor),
      static_cast<std::uint64_t>(gpu.threads_per_multiprocessor) / (warps * warp));
  if (per_warp > 0)
    blocks = std::min(
        blocks, static_cast<std::uint64_t>(gpu.registers_per_multiprocessor) / (per_warp * warps));
  return static_cast<int>(std::min<std::uint64_t>(
      blocks, gpu.shared_bytes_per_multiprocessor / (shared_bytes + system_shared_bytes)));
}

KernelBound bound_of(const emulator::KernelCounts& kernel, int registers, const GpuModel& gpu,
                     const GpuModel& counted_on) {
  const Counts& counts = kernel.counts;
  const double bandwidth = bandwidth_bytes_per_s(gpu);
  const auto multiprocessors = static_cast<double>(gpu.multiprocessors);
  KernelBound bound;
  const auto touched = counts.loads.distinct_sectors + counts.stores.distinct_sectors +
                       counts.atomics.distinct_sectors;
  bound.memory_s = static_cast<double>(touched * sector_bytes) / bandwidth;
  bound.issue_s = clocks(counts, gpu) / multiprocessors / (1e3 * gpu.clock_khz);

  const std::uint64_t each = kernel.launches == 0 ? 0 : kernel.blocks / kernel.launches;
  const auto started =
      static_cast<int>((each + static_cast<std::uint64_t>(counted_on.multiprocessors) - 1) /
                       static_cast<std::uint64_t>(counted_on.multiprocessors));
  const int blocks = std::min(started, resident_blocks(kernel.threads_per_block, registers,
                                                       kernel.shared_bytes_per_block, gpu));
  bound.resident_warps = blocks * static_cast<int>((kernel.threads_per_block + warp - 1) / warp);
  if (counts.load_waits > 0 && counts.loads.sectors > 0) {  // not for one value for all lanes
    const double loaded = static_cast<double>(counts.loads.sectors * sector_bytes);
    bound.bytes_in_flight = loaded / static_cast<double>(counts.load_waits) * bound.resident_warps;
    const double share = std::min(1.0, bound.bytes_in_flight / needed_bytes_in_flight(gpu));
    bound.latency_s =
        static_cast<double>(counts.loads.distinct_sectors * sector_bytes) / bandwidth / share;
  }
  return bound;
}

}  // namespace assay::kernel_counts
