#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/machine/flow.h"
#include "emulator/machine/product_code.h"
#include "emulator/machine/warp_state.h"
#include "emulator/ptx/module.h"

namespace emulator {

/// Registers of a frame that products of wgmma use (PTX ISA, wgmma.fence and wgmma.wait_group): no
/// other instruction may access them until a wait, and a wgmma.fence stands between any access and
/// the next product that uses them, but for sums of products of one shape.
///
/// A `mov` before a product needs no fence here: nvcc places them where it likes.
class ProductRegisters {
 public:
  explicit ProductRegisters(std::size_t register_bytes) : uses_(register_bytes / apart + 1) {}

  /// Another instruction is about to run.
  void access(const WarpState& warp, const Flow& flow, const ptx::Module& module);
  /// Product `number` of the warp begins.
  void multiply(const WarpState& warp, const Code& code, std::uint64_t number,
                const ptx::Module& module);
  /// Whether a product uses some of them for which the warp has not waited.
  bool are_used(const WarpState& warp) const { return last_ > warp.products_over; }

 private:
  static constexpr std::size_t apart = 64;  // bytes of registers, at least
  struct Use {
    // One more than the warp's number of fences at the last access; 0: none.
    std::uint32_t accessed = 0, multiplied = 0;
    std::uint64_t product = 0;  // the last one
    const Code* code = nullptr;
    bool is_factor = false;
  };
  Use& of(std::uint32_t offset) { return uses_[offset / apart]; }

  std::vector<Use> uses_;
  std::uint64_t last_ = 0;
};

}  // namespace emulator
