#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/machine/box_copy.h"
#include "emulator/machine/image.h"
#include "emulator/ptx/types.h"

namespace emulator {

class Warp;
class FunctionCode;

inline constexpr int warp_lanes = 32;
using Mask = std::uint32_t;
inline constexpr Mask all_lanes = ~Mask{0};

/// Calls `f(lane)` for each lane of the mask. The full mask is the common case, and one that
/// compilers vectorise: lanes of one instruction never depend on each other.
template <class F>
[[gnu::always_inline]] inline void for_lanes(Mask mask, F&& f) {
  if (mask == all_lanes) {
#pragma GCC ivdep
    for (int lane = 0; lane < warp_lanes; ++lane) f(lane);
  } else {
    for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
  }
}

inline bool has_lane(Mask mask, int lane) { return (mask >> lane & 1) != 0; }

/// A register's 32 values, one behind the other, or a predicate's Mask. Bank 0 is the frame's
/// registers, bank 1 the function's constants: an immediate is a register that nothing writes.
struct Place {
  std::uint32_t offset = 0;
  std::uint32_t bank = 0;
};

/// How other threads see an access (PTX ISA, memory consistency model).
enum class Order : unsigned char { weak, relaxed, acquire, release, acquire_release };

/// The threads for which an access is strong, or a fence.
enum class Scope : unsigned char { block, cluster, gpu };

/// One decoded instruction. `run` is called with the lanes that are to execute it.
struct Code {
  using Run = void (*)(Warp&, const Code&, Mask);
  static constexpr std::uint32_t unguarded = ~std::uint32_t{0};

  Run run = nullptr;
  std::uint32_t guard = unguarded;  // the offset of a predicate
  bool guard_negated = false;
  ptx::Space space = ptx::Space::generic;
  Order order = Order::weak;
  unsigned char variant = 0;  // one number that the family of `run` gives a meaning
  bool flag = false, flag2 = false, flag3 = false;
  Scope scope = Scope::gpu;
  unsigned char count = 1;            // elements of a vector
  std::uint16_t used_bytes = 0xffff;  // of what a load reads
  std::uint32_t target = 0;           // of a branch: an index of Code
  int line = 0;
  std::int64_t offset = 0;                              // of an address
  Place d, e, a, b, c, f;                               // d and e are destinations
  const std::vector<Place>* more = nullptr;             // a vector's registers
  const std::vector<std::uint32_t>* targets = nullptr;  // of a brx.idx
  union {
    const struct CallSite* call = nullptr;
    const struct CopySite* copy;  // of an asynchronous copy
    const struct MatrixCode* matrix;
    const struct ProductCode* product;  // of wgmma
    const struct ImageSite* image;      // of a texture or surface
    const struct PointerCall* pointer_call;
  };
};

/// base[lane] + offset; the base has 32 or 64 bits.
inline std::uint64_t lane_address(const Code& code, const std::byte* base, int lane) {
  const auto offset = static_cast<std::uint64_t>(code.offset);
  if (code.flag)
    return static_cast<std::uint32_t>(reinterpret_cast<const std::uint32_t*>(base)[lane] + offset);
  return reinterpret_cast<const std::uint64_t*>(base)[lane] + offset;
}

/// A second or third address of an instruction.
struct AddressPlace {
  Place base{};
  std::int64_t offset = 0;
  bool is_narrow = false;  // 32 bits
  ptx::Space space = ptx::Space::generic;
};

struct CopySite {
  AddressPlace to{}, from{}, barrier{};
  bool has_barrier = false;
  Reduction update = nullptr;  // of red.async
  // Parts of a tensor copy, whose global side is the address of a tensor map.
  std::vector<Place> coordinates{};
  Place blocks{};  // of the cluster: a mask
  bool has_blocks = false;
};

/// Operands of an access to a texture or surface.
struct ImageSite {
  ImageShape shape = ImageShape::two;
  Place handle{}, layer{}, level{}, predicate{};
  std::vector<Place> coordinates{}, values{};
  std::vector<std::uint32_t> value_bytes{};  // of a register of `values`; 0: nobody reads it
  bool has_layer = false, has_level = false, has_gradients = false;
  bool is_whole = false;       // integer coordinates
  unsigned channel = 0;        // of a gather
  unsigned element_bytes = 4;  // of a surface
};

/// Where the bytes of a call's arguments lie in the areas of caller and callee.
struct CallSite {
  struct Copy {
    std::uint32_t from, to, bytes;
  };
  const FunctionCode* callee = nullptr;  // null: one of the functions that the driver provides
  std::string_view name{};
  std::vector<Copy> arguments{}, results{};
};

/// A call through a pointer: the functions that it may lead to, by their addresses.
struct PointerCall {
  std::unordered_map<std::uint64_t, const CallSite*> sites{};
};

}  // namespace emulator
