#include <atomic>
#include <cstring>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/float_rules.h"
#include "emulator/machine/instructions/half_rules.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/machine/ordering.h"

namespace emulator {
namespace {

struct Exchange {
  template <class T>
  static T apply(T, T b, T, bool) {
    return b;
  }
};
struct CompareExchange {
  template <class T>
  static T apply(T old, T b, T c, bool) {
    return old == b ? c : old;
  }
};
struct And {
  template <class T>
  static T apply(T old, T b, T, bool) {
    return old & b;
  }
};
struct Or {
  template <class T>
  static T apply(T old, T b, T, bool) {
    return old | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T old, T b, T, bool) {
    return old ^ b;
  }
};
struct Add {
  template <class T>
  static T apply(T old, T b, T, bool) {
    return static_cast<T>(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
  }
};
struct Min {
  template <class T>
  static T apply(T old, T b, T, bool) {
    return b < old ? b : old;
  }
};
struct Max {
  template <class T>
  static T apply(T old, T b, T, bool) {
    return old < b ? b : old;
  }
};
struct Increment {
  template <class T>
  static T apply(T old, T b, T, bool) {
    return old >= b ? T{0} : static_cast<T>(old + 1);
  }
};
struct Decrement {
  template <class T>
  static T apply(T old, T b, T, bool) {
    return old == 0 || old > b ? b : static_cast<T>(old - 1);
  }
};
/// In global memory subnormal numbers are flushed, in shared memory they are not (PTX ISA, atom).
struct AddSingle {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b, std::uint32_t, bool is_global) {
    float x = std::bit_cast<float>(old), y = std::bit_cast<float>(b);
    if (is_global) {
      x = flushed(x);
      y = flushed(y);
    }
    const float sum = with_canonical_nan(x + y);
    return std::bit_cast<std::uint32_t>(is_global ? flushed(sum) : sum);
  }
};
struct AddDouble {
  static std::uint64_t apply(std::uint64_t old, std::uint64_t b, std::uint64_t, bool) {
    return std::bit_cast<std::uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
  }
};
template <bool brain>
struct AddHalf {
  static std::uint16_t apply(std::uint16_t old, std::uint16_t b, std::uint16_t, bool) {
    return half_fma<brain>(old, brain ? 0x3f80 : 0x3c00, b);
  }
};
template <bool brain>
struct AddTwoHalves {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b, std::uint32_t, bool) {
    std::uint32_t result = 0;
    for (const int shift : {0, 16})
      result |= static_cast<std::uint32_t>(
                    AddHalf<brain>::apply(static_cast<std::uint16_t>(old >> shift),
                                          static_cast<std::uint16_t>(b >> shift), 0, false))
                << shift;
    return result;
  }
};

/// d = old value; flag3: there is a d. Lanes follow one another in an order that rotates, as none
/// is promised.
template <class T, class Op>
void update(Warp& warp, const Code& code, Mask lanes) {
  const std::byte* base = warp.at<std::byte>(code.a);
  const T *b = warp.at<T>(code.b), *c = warp.at<T>(code.c);
  T old[warp_lanes];
  const auto first = static_cast<int>(warp.block().random().below(warp_lanes));
  std::uint64_t seen = 0;
  bool changes = false;
  for (int step = 0; step < warp_lanes; ++step) {
    const int lane = (first + step) % warp_lanes;
    if (!has_lane(lanes, lane)) continue;
    const std::uint64_t address = lane_address(code, base, lane);
    const Target target = locate(warp, code, lane, address, sizeof(T), Access::atomic);
    if (target.space == ptx::Space::parameter || target.space == ptx::Space::local)
      warp.fault(FaultKind::illegal_address, lane,
                 "atomic operations are for global and shared memory");
    T* place = reinterpret_cast<T*>(target.data);
    if (target.window != nullptr)
      warp.block().context().late_stores.end(target.window->begin + target.offset);
    release_before(warp, code, lane, target);
    T value = __atomic_load_n(place, __ATOMIC_SEQ_CST), next;
    do {
      next = Op::apply(value, b[lane], c[lane], target.space == ptx::Space::global);
    } while (!__atomic_compare_exchange_n(place, &value, next, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    note_atomic(warp, lane, target, sizeof(T), next != value);
    acquire_after(warp, code, lane, target);
    old[lane] = value;
    changes |= next != value;
    seen = seen * 31 + static_cast<std::uint64_t>(value) + address;
  }
  if (code.flag3) {
    T* d = warp.at<T>(code.d);
    for_lanes(lanes, [&](int lane) { d[lane] = old[lane]; });
  }
  // A lock that is taken, or a flag that is read by adding zero.
  if (!changes && warp.same_as_before(code, seen)) warp.spin();
}

template <class Op>
void emit_integer(Decoder& decoder, ptx::Type type) {
  switch (type) {
    case ptx::Type::u32:
      return decoder.emit(update<std::uint32_t, Op>);
    case ptx::Type::s32:
      return decoder.emit(update<std::int32_t, Op>);
    case ptx::Type::u64:
      return decoder.emit(update<std::uint64_t, Op>);
    case ptx::Type::s64:
      return decoder.emit(update<std::int64_t, Op>);
    default:
      decoder.fail_type(type);
  }
}

template <class Op>
void emit_bits(Decoder& decoder, ptx::Type type, bool sixteen) {
  if (type == ptx::Type::b32) return decoder.emit(update<std::uint32_t, Op>);
  if (type == ptx::Type::b64) return decoder.emit(update<std::uint64_t, Op>);
  if (sixteen && type == ptx::Type::b16) return decoder.emit(update<std::uint16_t, Op>);
  decoder.fail_type(type);
}

void emit_add(Decoder& decoder, ptx::Type type, bool noftz) {
  const bool half = type == ptx::Type::f16 || type == ptx::Type::f16x2 || type == ptx::Type::bf16 ||
                    type == ptx::Type::bf16x2;
  if (half != noftz) decoder.fail(".noftz belongs to additions of halves");
  switch (type) {
    case ptx::Type::f32:
      return decoder.emit(update<std::uint32_t, AddSingle>);
    case ptx::Type::f64:
      return decoder.emit(update<std::uint64_t, AddDouble>);
    case ptx::Type::f16:
      return decoder.emit(update<std::uint16_t, AddHalf<false>>);
    case ptx::Type::bf16:
      return decoder.emit(update<std::uint16_t, AddHalf<true>>);
    case ptx::Type::f16x2:
      return decoder.emit(update<std::uint32_t, AddTwoHalves<false>>);
    case ptx::Type::bf16x2:
      return decoder.emit(update<std::uint32_t, AddTwoHalves<true>>);
    default:
      return emit_integer<Add>(decoder, type);
  }
}

void decode_update(Decoder& decoder, bool has_result) {
  decoder.code.order = Order::relaxed;
  const bool acquire_release = decoder.take("acq_rel"), acquire = decoder.take("acquire"),
             release = decoder.take("release");
  decoder.take("relaxed");
  if (acquire) decoder.code.order = Order::acquire;
  if (release) decoder.code.order = Order::release;
  if (acquire_release) decoder.code.order = Order::acquire_release;
  decoder.take_scope();
  if (!decoder.take_shared() && decoder.take("global")) decoder.code.space = ptx::Space::global;
  decoder.take_cache_hints();
  std::string_view op;
  for (const std::string_view name :
       {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"})
    if (op.empty() && decoder.take(name)) op = name;
  const bool noftz = decoder.take("noftz");
  const ptx::Type type = decoder.type();
  const std::size_t first = has_result ? 1 : 0;
  decoder.expect_operands(first + (op == "cas" ? 3 : 2));
  decoder.code.flag3 = has_result;
  if (has_result) decoder.code.d = decoder.destination(0, type);
  decoder.address(first);
  decoder.code.b = decoder.source(first + 1, type);
  decoder.code.c = op == "cas" ? decoder.source(first + 2, type) : decoder.code.b;
  if (op == "add") return emit_add(decoder, type, noftz);
  if (noftz) decoder.fail(".noftz belongs to additions of halves");
  if (op == "min") return emit_integer<Min>(decoder, type);
  if (op == "max") return emit_integer<Max>(decoder, type);
  if (op == "and") return emit_bits<And>(decoder, type, false);
  if (op == "or") return emit_bits<Or>(decoder, type, false);
  if (op == "xor") return emit_bits<Xor>(decoder, type, false);
  if (op == "exch" && has_result) return emit_bits<Exchange>(decoder, type, false);
  if (op == "cas" && has_result) return emit_bits<CompareExchange>(decoder, type, true);
  if ((op == "inc" || op == "dec") && type != ptx::Type::u32) decoder.fail_type(type);
  if (op == "inc") return decoder.emit(update<std::uint32_t, Increment>);
  if (op == "dec") return decoder.emit(update<std::uint32_t, Decrement>);
  decoder.fail("an operation is missing");
}

void run_fence(Warp& warp, const Code& code, Mask lanes) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  fence_lanes(warp, lanes, code.flag);
}

void nothing(Warp&, const Code&, Mask) {}

void run_proxy_fence(Warp& warp, const Code&, Mask lanes) {
  for_lanes(lanes, [&](int lane) { warp.block().shared_races.fence_proxy(warp, lane); });
}

/// fence.proxy and fence.mbarrier_init. False: another fence.
bool decode_proxy_fence(Decoder& decoder) {
  Code::Run run = nothing;
  if (decoder.take("mbarrier_init")) {
    decoder.needs(90);
    decoder.expect("release");
    decoder.expect("cluster");
  } else if (decoder.take("proxy")) {
    if (!decoder.take("alias")) {
      decoder.expect("async");
      decoder.needs(90);
      // Global memory has one proxy here.
      if (!decoder.take("global")) {
        decoder.take_shared();
        run = run_proxy_fence;
      }
    }
  } else {
    return false;
  }
  decoder.expect_operands(0);
  decoder.emit(run);
  return true;
}

/// fence{.sc,.acq_rel,.acquire,.release}.scope and membar.{cta,gl,sys}. flag: the whole GPU or
/// more, not only the block.
void decode_fence(Decoder& decoder) {
  if (decode_proxy_fence(decoder)) return;
  if (!decoder.take("sc") && !decoder.take("acq_rel") &&
      (decoder.take("acquire") || decoder.take("release")))
    decoder.needs(90);
  if (decoder.take("cta"))
    decoder.code.flag = false;
  else if (decoder.take_scope())
    decoder.code.flag = true;
  else
    decoder.fail("a scope is missing");
  decoder.expect_operands(0);
  decoder.emit(run_fence);
}

const Opcodes opcodes{{"atom", [](Decoder& decoder) { decode_update(decoder, true); }},
                      {"red", [](Decoder& decoder) { decode_update(decoder, false); }},
                      {"fence", decode_fence},
                      {"membar", decode_fence}};

}  // namespace
}  // namespace emulator
