#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace emulator {

/// An act of a kernel or a copy that no real device would have let pass, or that compute-sanitizer
/// would report.
enum class FaultKind {
  illegal_address,     // outside of every allocation, freed, another GPU's without peer access, or
                       // pageable host memory
  misaligned_address,  // not a multiple of the access's size
  uninitialised_read,  // of a byte that nothing has written
  race,                // two threads without order between them, at least one writing
  divergent_barrier,   // a barrier that not all threads reach, or a warp's with a wrong mask
  endless,             // no thread can go on
  undefined,  // use of an mbarrier object, an asynchronous copy or events without a defined result
  trap,       // `trap`, a failed assertion
  illegal_instruction,  // PTX that no device would take, or that the interpreter does not know
};

/// The text says what, which kernel, block, thread, PTX line and address.
class Fault : public std::runtime_error {
 public:
  Fault(FaultKind what_kind, const std::string& text) : std::runtime_error(text), kind(what_kind) {}
  FaultKind kind;
};

}  // namespace emulator
