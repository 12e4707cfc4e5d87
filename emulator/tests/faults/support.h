#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "emulator/tests/device.h"

namespace emulator::test {

/// Facts that a report must name.
struct Report {
  FaultKind kind;
  std::optional<std::uintptr_t> address;
  std::optional<unsigned> block, thread;  // the x of each
};

/// Fails unless the fault is of that kind and its text names the kernel, a block, a thread and,
/// where the report has one, the address.
void expect_report(const Fault& fault, const std::string& kernel, const Report& report);

/// A device and the kernels of one .cu file.
class FaultTest {
 public:
  explicit FaultTest(const std::string& file, int gpus = 1)
      : device(gpus), kernels(device, ptx_of(file), file + ".ptx") {}

  template <class... Arguments>
  void expect_fault(const Report& report, const std::string& kernel, const Shape& shape,
                    const Arguments&... arguments) {
    SCOPED_TRACE(kernel + ", seed " + std::to_string(kernels.settings.seed));
    try {
      kernels.run(kernel, shape, arguments...);
      ADD_FAILURE() << "not found";
    } catch (const Fault& fault) {
      expect_report(fault, kernel, report);
    }
  }

  template <class... Arguments>
  void expect_none(const std::string& kernel, const Shape& shape, const Arguments&... arguments) {
    SCOPED_TRACE(kernel + ", seed " + std::to_string(kernels.settings.seed));
    try {
      kernels.run(kernel, shape, arguments...);
    } catch (const Fault& fault) {
      ADD_FAILURE() << "false alarm: " << fault.what();
    }
  }

  Device device;
  Kernels kernels;
};

/// Calls `function` with settings of `count` seeds; every other time on several host threads.
template <class Function>
void for_seeds(Kernels& kernels, std::uint64_t count, Function function) {
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    kernels.settings.seed = seed;
    kernels.settings.threads = seed % 2 == 0 ? 2 : 1;
    function();
  }
}

}  // namespace emulator::test
