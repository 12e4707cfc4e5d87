#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/machine/code.h"
#include "emulator/machine/counts/pipe.h"
#include "emulator/machine/flow.h"
#include "emulator/machine/matrix_code.h"
#include "emulator/machine/product_code.h"
#include "emulator/ptx/module.h"

namespace emulator {

/// The code of one function within one kernel.
class FunctionCode {
 public:
  /// A special register, which a warp fills when it starts.
  struct SpecialPlace {
    std::size_t special;  // its number (special_registers.h)
    std::uint32_t offset;
    std::size_t bytes;  // of it that are read: 2 (as code of PTX 1.x does), 4 or 8
  };
  /// The address of a local variable, which a frame knows.
  struct LocalPlace {
    std::uint32_t offset;
    std::uint64_t address;  // within the function's part of the stack
    std::size_t bytes;
  };
  /// A constant that is an address, which differs from GPU to GPU.
  struct Relocation {
    std::uint32_t offset;
    std::string_view symbol;
    std::int64_t addend;
    std::size_t bytes;
  };

  const ptx::Function* function = nullptr;
  std::vector<Code> codes;
  std::uint32_t register_bytes = 0;   // of a frame
  std::uint32_t parameter_bytes = 0;  // of a frame's area for calls, for each lane
  std::size_t local_bytes = 0;        // of the stack, for each activation
  bool allocates_stack = false;       // alloca
  std::vector<SpecialPlace> specials;
  std::vector<LocalPlace> locals;
  std::vector<std::byte> constants;
  std::vector<Relocation> relocations;
  std::vector<std::vector<std::byte>> constants_of_gpu;  // with addresses filled in
  std::unique_ptr<std::uint8_t[]> executed;  // for each Code, when coverage is asked for
  std::vector<Cost> costs;                   // for each Code, when counts are asked for
  std::vector<Flow> flows;                   // for each Code

  // Code points to them; a deque keeps its elements where they are.
  std::deque<std::vector<Place>> place_lists;
  std::deque<std::vector<std::uint32_t>> target_lists;
  std::deque<CallSite> call_sites;
  std::deque<PointerCall> pointer_calls;
  std::deque<MatrixCode> matrix_codes;
  std::deque<ProductCode> products;
  std::deque<CopySite> copy_sites;
  std::deque<ImageSite> image_sites;
};

/// A kernel with all functions that it calls.
struct KernelCode {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::string demangled;
  FunctionCode* entry = nullptr;
  std::deque<FunctionCode> functions;
  std::size_t static_shared_bytes = 0;
  std::size_t local_bytes = 0;  // of a thread's stack, without what recursion takes
  bool is_recursive = false;    // or takes stack while it runs
  std::size_t dynamic_shared_alignment = 1;
  int registers = 0;
  /// [begin, end) of the .const variables on each GPU.
  std::vector<std::vector<std::pair<std::uintptr_t, std::uintptr_t>>> constant_ranges;

  std::size_t dynamic_shared_begin() const {
    return ptx::align_up(static_shared_bytes, dynamic_shared_alignment);
  }
  /// Shared memory of a block, static and dynamic.
  std::size_t shared_bytes(std::size_t dynamic_bytes) const {
    return dynamic_bytes == 0 ? static_shared_bytes : dynamic_shared_begin() + dynamic_bytes;
  }
};

}  // namespace emulator
