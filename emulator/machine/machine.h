#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/machine/device_heap.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/image.h"
#include "emulator/machine/memory.h"
#include "emulator/machine/unordered.h"

namespace emulator {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// A GPU as the data sheets and the programming guide's table of compute capabilities tell it.
struct GpuModel {
  std::string name;     // "h100"
  std::string product;  // "NVIDIA H100 PCIe"
  int major = 7, minor = 5;
  int multiprocessors = 1;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  int memory_clock_khz = 0, memory_bus_bits = 0, clock_khz = 0;
  int pcie_generation = 0, pcie_lanes = 0, nvlinks = 0;
  double watchdog_s = 0;  // a display's, which ends kernels that take longer; 0: none
  std::size_t shared_bytes_per_block = 48 << 10, shared_bytes_per_block_optin = 64 << 10,
              shared_bytes_per_multiprocessor = 64 << 10;
  int threads_per_multiprocessor = 1024, blocks_per_multiprocessor = 16,
      registers_per_multiprocessor = 65536;
};

/// Answers of `cudaFuncGetAttributes`, as far as PTX tells them.
struct KernelFacts {
  std::string name, demangled;
  std::size_t static_shared_bytes = 0, local_bytes = 0, constant_bytes = 0, parameter_bytes = 0;
  int registers = 0;                           // an estimate: PTX has virtual ones
  int max_threads = 1024;                      // .maxntid
  std::array<unsigned, 3> required_threads{};  // .reqntid; zeros: none
  std::array<unsigned, 3> required_cluster{};  // .reqnctapercluster, in blocks; zeros: none
  unsigned max_cluster_blocks = 0;             // .maxclusterrank; 0: none
  bool needs_cluster = false;                  // .explicitcluster
};

/// One parsed module on all GPUs: `.global` and `.const` variables have an address on each.
class Program {
 public:
  /// Throws Fault(illegal_instruction) that names the line.
  Program(std::string_view ptx, const std::string& file, Memory& memory, int gpus);
  ~Program();
  std::vector<std::string> kernels() const;
  const KernelFacts& facts(std::string_view kernel) const;  // throws std::out_of_range
  /// Offsets and sizes of the parameters within the parameter block.
  struct Parameter {
    std::size_t offset, bytes;
  };
  std::span<const Parameter> parameters(std::string_view kernel) const;
  /// Gives the variables of a GPU, but for managed ones, their initial values again.
  void reset_variables(int gpu);
  /// 0: no such variable.
  std::uintptr_t variable(std::string_view name, int gpu, std::size_t* bytes = nullptr) const;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Puts the PTX of a program's files together, as the device linker does. Throws
/// Fault(illegal_instruction).
std::string link_ptx(const std::vector<std::string_view>& modules);

struct Launch {
  std::string kernel;
  Dim3 grid, block;
  Dim3 cluster{0, 0, 0};  // in blocks; zeros: what the kernel asks for
  std::size_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;  // the whole block, laid out as the PTX says
  int gpu = 0;
  std::size_t stack_bytes = 1024;  // of a thread, for recursion (cudaLimitStackSize)
  /// cooperative_groups::grid_workspace of a cooperative launch; 0: it is none.
  std::uintptr_t grid_workspace = 0;
  std::uint64_t number = 0;  // Memory::next_launch; 0: `execute` takes one
  std::shared_ptr<const Unordered> unordered = nullptr;  // null: all work is ordered
  /// Set when a kernel writes memory of the host, which may wait for it without a call.
  std::shared_ptr<std::atomic<bool>> told_host = nullptr;
  std::shared_ptr<const ImageObjects> images = nullptr;  // null: there are none
  DeviceHeap* heap = nullptr;                            // of malloc and free; null: it is full
};

/// How kernels are executed. From the environment: ASSAY_EMULATOR_SEED, ..._THREADS,
/// ..._APPROXIMATE (adds the documented maximum error to *.approx), ..._COVERAGE=FILE (appends the
/// PTX lines that ran).
struct Settings {
  std::uint64_t seed = 0;
  int threads = 0;  // 0: all cores
  bool approximate = false;
  Findings* findings = nullptr;  // null: each one ends its launch
  static Settings from_environment();
};

/// Executes the launch to its end, in the calling thread and others. Blocks start in an order drawn
/// from the seed, and each warp may be overtaken by any other. Checks of the launch's shape against
/// the GPU are the runtime's. Throws Fault. What the kernel asserts or prints goes to stderr and
/// stdout.
void execute(Program& program, const Launch& launch, const GpuModel& gpu, Memory& memory,
             const Settings& settings);

/// Instructions times lanes that this process has executed, of blocks that have ended.
std::uint64_t executed_lane_instructions();

}  // namespace emulator
