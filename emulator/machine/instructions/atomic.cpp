#include <array>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/float_rules.h"
#include "emulator/machine/instructions/async_store.h"
#include "emulator/machine/instructions/half_rules.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/machine/ordering.h"
#include "emulator/machine/undefined.h"

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

/// The new value does not depend on the old one, which nothing may have written.
template <class Op>
inline constexpr bool is_exchange = std::is_same_v<Op, Exchange>;

/// Updates one element and returns what it was.
template <class T, class Op>
T update_element(Warp& warp, const Code& code, int lane, std::uint64_t address, T b, T c,
                 bool& changes, UndefinedBytes& undefined) {
  const Target target = locate(warp, code, lane, address, sizeof(T),
                               is_exchange<Op> ? Access::exchange : Access::atomic);
  if (target.space == ptx::Space::parameter || target.space == ptx::Space::local)
    warp.fault(FaultKind::illegal_address, lane,
               "atomic operations are for global and shared memory");
  T* place = reinterpret_cast<T*>(target.data);
  if (target.window != nullptr)
    warp.block().context().late_stores.end(target.window->begin + target.offset);
  release_before(warp, code, lane, target);
  T value = __atomic_load_n(place, __ATOMIC_SEQ_CST), next;
  do {
    next = Op::apply(value, b, c, target.space == ptx::Space::global);
  } while (
      !__atomic_compare_exchange_n(place, &value, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  note_atomic(warp, code, lane, target, sizeof(T), next != value);
  if (is_exchange<Op> && target.written != nullptr && !all_written(target.written, sizeof(T))) {
    undefined.look(warp, code, lane, target, sizeof(T));
    std::memset(target.written, mark_written, sizeof(T));
  }
  acquire_after(warp, code, lane, target);
  changes |= next != value;
  return value;
}

/// Calls `f(lane)` in an order that rotates, as none is promised.
template <class F>
void for_lanes_in_any_order(Warp& warp, Mask lanes, F f) {
  const auto first = static_cast<int>(warp.block().random().below(warp_lanes));
  for (int step = 0; step < warp_lanes; ++step)
    if (const int lane = (first + step) % warp_lanes; has_lane(lanes, lane)) f(lane);
}

/// d = old value; flag3: there is a d.
template <class T, class Op>
void update(Warp& warp, const Code& code, Mask lanes) {
  const std::byte* base = warp.at<std::byte>(code.a);
  const T *b = warp.at<T>(code.b), *c = warp.at<T>(code.c);
  T old[warp_lanes];
  std::uint64_t seen = 0;
  bool changes = false;
  UndefinedBytes undefined;
  for_lanes_in_any_order(warp, lanes, [&](int lane) {
    const std::uint64_t address = lane_address(code, base, lane);
    old[lane] =
        update_element<T, Op>(warp, code, lane, address, b[lane], c[lane], changes, undefined);
    seen = seen * 31 + static_cast<std::uint64_t>(old[lane]) + address;
  });
  if (code.flag3) {
    T* d = warp.at<T>(code.d);
    for_lanes(lanes, [&](int lane) { d[lane] = old[lane]; });
    if (undefined.lanes != 0) {
      std::uint64_t bits[warp_lanes];
      for_lanes(lanes, [&](int lane) { bits[lane] = bits_of_bytes(undefined.of(lane)); });
      note_loaded(warp, {code.d.offset, sizeof(T)}, lanes, undefined.results & lanes, bits);
    }
  }
  // A lock that is taken, or a flag that is read by adding zero.
  if (!changes && warp.same_as_before(code, seen)) warp.spin();
}

/// `more`: the registers that are added, then those of the old values. Each element is an atomic
/// operation of its own.
template <class T, class Op>
void update_vector(Warp& warp, const Code& code, Mask lanes) {
  const std::byte* base = warp.at<std::byte>(code.a);
  const unsigned count = code.count;
  std::array<std::array<T, 8>, warp_lanes> old;
  for_lanes_in_any_order(warp, lanes, [&](int lane) {
    const std::uint64_t address = lane_address(code, base, lane);
    if (address % (count * sizeof(T)) != 0)
      warp.fault(FaultKind::misaligned_address, lane,
                 "the address of a vector is no multiple of its size");
    bool changes = false;
    UndefinedBytes undefined;
    for (unsigned k = 0; k < count; ++k) {
      const T b = warp.at<T>((*code.more)[k])[lane];
      old[static_cast<std::size_t>(lane)][k] = update_element<T, Op>(
          warp, code, lane, address + k * sizeof(T), b, T{0}, changes, undefined);
    }
  });
  if (!code.flag3) return;
  for (unsigned k = 0; k < count; ++k) {
    T* d = warp.at<T>((*code.more)[count + k]);
    for_lanes(lanes, [&](int lane) { d[lane] = old[static_cast<std::size_t>(lane)][k]; });
  }
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

/// add of .v2, .v4 or .v8 in global memory.
void decode_vector(Decoder& decoder, unsigned count, std::string_view op, bool noftz,
                   bool has_result) {
  decoder.needs(90);
  if (op != "add") decoder.fail("only additions of vectors are implemented");
  if (decoder.code.space != ptx::Space::global) decoder.fail("vectors are for .global");
  const ptx::Type type = decoder.type();
  const bool is_half = type == ptx::Type::f16 || type == ptx::Type::bf16,
             is_pair = type == ptx::Type::f16x2 || type == ptx::Type::bf16x2;
  if (!is_half && !is_pair && type != ptx::Type::f32) decoder.fail_type(type);
  if ((is_half || is_pair) != noftz) decoder.fail(".noftz belongs to additions of halves");
  if (count * ptx::bytes_of(type) > 16) decoder.fail("a vector has at most 16 bytes");
  const std::size_t first = has_result ? 1 : 0;
  if (decoder.take_cache_policy() != first + 2) decoder.expect_operands(first + 2);
  const auto elements = [&](std::size_t index) {
    const ptx::Operand& vector = decoder.operand(index);
    if (vector.kind != ptx::OperandKind::vector || vector.elements.size() != count)
      decoder.fail("the vector has another number of elements");
    return vector.elements;
  };
  decoder.address(first);
  auto& places = decoder.layout().code().place_lists.emplace_back();
  for (const ptx::Operand& each : elements(first + 1)) places.push_back(decoder.source(each, type));
  if (has_result)
    for (const ptx::Operand& each : elements(0)) places.push_back(decoder.destination(each, type));
  decoder.code.more = &places;
  decoder.code.count = static_cast<unsigned char>(count);
  decoder.code.flag3 = has_result;
  switch (type) {
    case ptx::Type::f16:
      return decoder.emit(update_vector<std::uint16_t, AddHalf<false>>);
    case ptx::Type::bf16:
      return decoder.emit(update_vector<std::uint16_t, AddHalf<true>>);
    case ptx::Type::f16x2:
      return decoder.emit(update_vector<std::uint32_t, AddTwoHalves<false>>);
    case ptx::Type::bf16x2:
      return decoder.emit(update_vector<std::uint32_t, AddTwoHalves<true>>);
    default:
      return decoder.emit(update_vector<std::uint32_t, AddSingle>);
  }
}

void decode_update(Decoder& decoder, bool has_result) {
  if (!has_result && decoder.take("async")) return decode_async_store(decoder, true);
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
  for (const unsigned count : {2U, 4U, 8U})
    if (decoder.take(count == 2 ? "v2" : count == 4 ? "v4" : "v8"))
      return decode_vector(decoder, count, op, noftz, has_result);
  const ptx::Type type = decoder.type();
  const std::size_t first = has_result ? 1 : 0;
  const std::size_t operands = first + (op == "cas" ? 3 : 2);
  if (decoder.take_cache_policy() != operands) decoder.expect_operands(operands);
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

const Opcodes opcodes{{"atom", [](Decoder& decoder) { decode_update(decoder, true); }},
                      {"red", [](Decoder& decoder) { decode_update(decoder, false); }}};

}  // namespace
}  // namespace emulator
