#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulator/ptx/source_lines.h"

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

/// Where a kernel was when a fault was found.
struct FaultPlace {
  std::string kernel, mangled;
  std::array<unsigned, 3> block{}, thread{};
  std::vector<ptx::SourceLine> source;  // of `ptx_line`; empty without -lineinfo
  std::string ptx_file, instruction;
  int ptx_line = 0;
};

/// The text says what, which kernel, block, thread, PTX line and address.
class Fault : public std::runtime_error {
 public:
  Fault(FaultKind what_kind, const std::string& text,
        std::shared_ptr<const FaultPlace> where = nullptr)
      : std::runtime_error(text), kind(what_kind), place(std::move(where)) {}
  FaultKind kind;
  std::shared_ptr<const FaultPlace> place;  // null: no kernel's
};

/// Decides what becomes of a finding: a fault after which a GPU would go on, with wrong data.
/// Called by several threads.
class Findings {
 public:
  Findings() = default;
  virtual ~Findings() = default;
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;
  /// Whether what is found at this line of a kernel's PTX need not be told again.
  virtual bool is_known(FaultKind kind, const std::string& mangled, int ptx_line) = 0;
  /// Whether the kernel goes on. If not, the fault ends it.
  virtual bool goes_on(const Fault& fault) = 0;
};

}  // namespace emulator
