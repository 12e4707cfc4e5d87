#include "emulator/machine/instructions/async_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/mbarrier_object.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/machine/undefined.h"

// st.async and red.async: stores to the shared memory of a cluster's block, which an mbarrier
// object there counts.
namespace emulator {
namespace {

/// Values of T in registers; count: how many. Null `update`: they are stored.
template <class T, AsyncCopy::Update update>
void store(Warp& warp, const Code& code, Mask lanes) {
  const CopySite& site = *code.copy;
  const unsigned bytes = code.count * static_cast<unsigned>(sizeof(T));
  for_lanes(lanes, [&](int lane) {
    AsyncCopy copy;
    copy.code = &code;
    copy.warp = &warp;
    copy.lane = lane;
    copy.is_bulk = true;
    copy.update = update;
    copy.bytes = bytes;
    StoredBytes stored;
    for (unsigned k = 0; k < code.count; ++k) {
      const Place place = (*code.more)[k];
      if (warp.frame()->undefined != nullptr && place.bank == 0)
        stored.add(*warp.frame()->undefined, {place.offset, sizeof(T)}, lane, k * sizeof(T),
                   sizeof(T));
      const auto* value = reinterpret_cast<const std::byte*>(&warp.at<T>(place)[lane]);
      copy.staged.insert(copy.staged.end(), value, value + sizeof(T));
    }
    for (unsigned k = 0; stored.undefined != 0 && k < bytes; ++k)
      copy.marks.push_back((stored.undefined >> k & 1) == 0 ? mark_written
                           : stored.is_result               ? mark_result
                                                            : mark_copy);
    start_at(warp, lane, std::move(copy),
             locate(warp, site.to.space, lane, lane_address(warp, site.to, lane), bytes,
                    update == nullptr ? Access::write : Access::atomic),
             site.barrier.space, lane_address(warp, site.barrier, lane));
  });
}

template <class T, class Op>
void update_with(std::byte* to, const std::byte* from) {
  T old, value;
  std::memcpy(&old, to, sizeof old);
  std::memcpy(&value, from, sizeof value);
  const T next = Op::apply(old, value);
  std::memcpy(to, &next, sizeof next);
}

struct Add {
  template <class T>
  static T apply(T old, T b) {
    return static_cast<T>(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
  }
};
struct Min {
  template <class T>
  static T apply(T old, T b) {
    return std::min(old, b);
  }
};
struct Max {
  template <class T>
  static T apply(T old, T b) {
    return std::max(old, b);
  }
};
struct And {
  template <class T>
  static T apply(T old, T b) {
    return old & b;
  }
};
struct Or {
  template <class T>
  static T apply(T old, T b) {
    return old | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T old, T b) {
    return old ^ b;
  }
};
struct Increment {
  template <class T>
  static T apply(T old, T b) {
    return old >= b ? T{0} : static_cast<T>(old + 1);
  }
};
struct Decrement {
  template <class T>
  static T apply(T old, T b) {
    return old == 0 || old > b ? b : static_cast<T>(old - 1);
  }
};

template <class T, class Op>
void emit_update(Decoder& decoder) {
  decoder.emit(store<T, update_with<T, Op>>);
}

/// The place, the values and the mbarrier object.
void take_operands(Decoder& decoder, ptx::Type type) {
  CopySite& site = decoder.layout().code().copy_sites.emplace_back();
  decoder.code.copy = &site;
  decoder.expect_operands(3);
  site.to = decoder.address_in(0, ptx::Space::cluster);
  site.barrier = decoder.address_in(2, ptx::Space::cluster);
  site.has_barrier = true;
  const ptx::Operand& value = decoder.operand(1);
  const bool is_vector = value.kind == ptx::OperandKind::vector;
  if ((is_vector ? value.elements.size() : 1) != decoder.code.count)
    decoder.fail("the vector has another number of elements");
  auto& places = decoder.layout().code().place_lists.emplace_back();
  if (!is_vector) places.push_back(decoder.source(value, type));
  for (const ptx::Operand& each : value.elements) places.push_back(decoder.source(each, type));
  decoder.code.more = &places;
}

void expect_form(Decoder& decoder) {
  decoder.needs(90);
  decoder.expect("shared::cluster");
  decoder.expect("mbarrier::complete_tx::bytes");
}

void decode_red(Decoder& decoder) {
  decoder.expect("relaxed");
  decoder.expect("cluster");
  expect_form(decoder);
  std::string_view op;
  for (const std::string_view name : {"add", "min", "max", "and", "or", "xor", "inc", "dec"})
    if (op.empty() && decoder.take(name)) op = name;
  const ptx::Type type = decoder.type();
  take_operands(decoder, type);
  const bool is_u32 = type == ptx::Type::u32, is_s32 = type == ptx::Type::s32;
  if (op == "inc" && is_u32) return emit_update<std::uint32_t, Increment>(decoder);
  if (op == "dec" && is_u32) return emit_update<std::uint32_t, Decrement>(decoder);
  if (op == "min" && is_u32) return emit_update<std::uint32_t, Min>(decoder);
  if (op == "min" && is_s32) return emit_update<std::int32_t, Min>(decoder);
  if (op == "max" && is_u32) return emit_update<std::uint32_t, Max>(decoder);
  if (op == "max" && is_s32) return emit_update<std::int32_t, Max>(decoder);
  if (op == "add" && (is_u32 || is_s32)) return emit_update<std::uint32_t, Add>(decoder);
  if (op == "add" && type == ptx::Type::u64) return emit_update<std::uint64_t, Add>(decoder);
  if (op == "and" && type == ptx::Type::b32) return emit_update<std::uint32_t, And>(decoder);
  if (op == "or" && type == ptx::Type::b32) return emit_update<std::uint32_t, Or>(decoder);
  if (op == "xor" && type == ptx::Type::b32) return emit_update<std::uint32_t, Xor>(decoder);
  if (op.empty()) decoder.fail("an operation is missing");
  decoder.fail_type(type);
}

void decode_st(Decoder& decoder) {
  decoder.take("weak");
  expect_form(decoder);
  decoder.code.count = decoder.take("v2") ? 2 : decoder.take("v4") ? 4 : 1;
  const ptx::Type type = decoder.type();
  const std::size_t bytes = ptx::bytes_of(type);
  const bool is_known = (bytes == 4 || bytes == 8) && type != ptx::Type::f16x2 &&
                        type != ptx::Type::bf16x2 && bytes * decoder.code.count <= 16;
  if (!is_known) decoder.fail_type(type);
  take_operands(decoder, type);
  decoder.emit(bytes == 4 ? store<std::uint32_t, nullptr> : store<std::uint64_t, nullptr>);
}

}  // namespace

void decode_async_store(Decoder& decoder, bool reduces) {
  reduces ? decode_red(decoder) : decode_st(decoder);
}

}  // namespace emulator
