#include "emulator/machine/product_registers.h"

#include <fmt/format.h>

namespace emulator {
namespace {

bool have_same_shape(const Code& one, const Code& other) {
  return one.product->n == other.product->n && one.product->k == other.product->k;
}

}  // namespace

void ProductRegisters::access(const WarpState& warp, const Flow& flow, const ptx::Module& module) {
  if (flow.is_product) return;
  const auto look = [&](const std::vector<Slot>& slots) {
    for (const Slot slot : slots) {
      if (slot.bytes == 0) continue;
      Use& use = of(slot.offset);
      if (!flow.is_plain_move) use.accessed = warp.product_fences + 1;
      if (use.product <= warp.products_over) continue;
      use.product = 0;  // told once
      warp.find(FaultKind::undefined, 0,
                fmt::format("accesses a register {} of the wgmma.mma_async at {}: nothing has "
                            "waited for it (wgmma.wait_group)",
                            use.is_factor ? "with factors" : "of the sums",
                            module.place(use.code->line)));
    }
  };
  look(flow.sources);
  look(flow.destinations);
  look(flow.stored);
}

void ProductRegisters::multiply(const WarpState& warp, const Code& code, std::uint64_t number,
                                const ptx::Module& module) {
  const std::uint32_t since_fence = warp.product_fences + 1;
  const char* problem = nullptr;
  const Code* other = nullptr;
  const auto take = [&](const Place place, bool is_factor) {
    Use& use = of(place.offset);
    const bool is_pending = use.product > warp.products_over;
    if (use.accessed == since_fence) {
      problem = "another instruction has accessed {} since the last wgmma.fence";
    } else if (use.product != 0 && !(is_factor && use.is_factor)) {
      const bool is_of_factors = is_factor || use.is_factor;
      if (is_of_factors && is_pending) {
        problem = "the wgmma.mma_async at {1} uses {0}, and nothing has waited for it";
        other = use.code;
      } else if (use.multiplied == since_fence &&
                 (is_of_factors || !have_same_shape(*use.code, code))) {
        problem = "the wgmma.mma_async at {1} has used {0} since the last wgmma.fence";
        other = use.code;
      }
    }
    const char* which = is_factor ? "a register of its factor a" : "a register of its sums";
    use = {0, since_fence, number, &code, is_factor};
    if (problem == nullptr) return;
    const std::string text = fmt::format(fmt::runtime(problem), which,
                                         other == nullptr ? "" : module.place(other->line));
    problem = nullptr;
    other = nullptr;
    warp.find(FaultKind::undefined, 0, text);
  };
  for (const Place place : code.product->d.registers) take(place, false);
  for (const Place place : code.product->a.registers) take(place, true);
  last_ = number;
}

}  // namespace emulator
