#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "emulator/tests/device.h"

namespace emulator::test {

/// The first lines of a module, before its functions.
std::string module_head(const std::string& target = "sm_75");

/// A kernel `test` whose parameters are all .u64. The body finds registers %p<16>, %h<16> (.b16),
/// %r<64>, %l<32> (.b64), %f<16> and %d<16>; %r0 is the thread's index in the grid (x only), and
/// each parameter stands in a register of its name: `%out`.
std::string kernel(std::initializer_list<const char*> parameters, const std::string& body);

/// "[%address] element %r0": computes `%l31 = base + %r0 * bytes`.
std::string element(const std::string& base, int bytes);

/// st.global of a register at the thread's element.
std::string store_u32(const std::string& base, const std::string& value);

/// Runs `body`, which writes one u32 for each thread to %out and may read %in, and returns them.
std::vector<std::uint32_t> run_u32(const std::string& body, const Shape& shape,
                                   const std::vector<std::uint32_t>& in = {0},
                                   std::size_t results_per_thread = 1,
                                   const std::string& functions = "", int capability = 75);

/// The text that Program or execute throws; empty when nothing.
struct Caught {
  bool any = false;
  FaultKind kind{};
  std::string text;
};

template <class Function>
Caught caught_from(Function function) {
  try {
    function();
  } catch (const Fault& fault) {
    return {true, fault.kind, fault.what()};
  }
  return {};
}

}  // namespace emulator::test
