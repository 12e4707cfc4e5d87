#include <emmintrin.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/async_store.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/machine/instructions/tensor_map_access.h"
#include "emulator/machine/ordering.h"
#include "emulator/machine/undefined.h"

namespace emulator {
namespace {

/// Whole elements at a time, as other threads may read or write them; 16 bytes are one access on
/// hosts with AVX.
void copy_strongly(void* to, const void* from, unsigned bytes, bool is_load) {
  const auto move = [&]<class T>() {
    T value;
    if (is_load) {
      value = __atomic_load_n(static_cast<const T*>(from), __ATOMIC_SEQ_CST);
      std::memcpy(to, &value, sizeof value);
    } else {
      std::memcpy(&value, from, sizeof value);
      __atomic_store_n(static_cast<T*>(to), value, __ATOMIC_SEQ_CST);
    }
  };
  switch (bytes) {
    case 1:
      return move.template operator()<std::uint8_t>();
    case 2:
      return move.template operator()<std::uint16_t>();
    case 4:
      return move.template operator()<std::uint32_t>();
    case 8:
      return move.template operator()<std::uint64_t>();
    default:
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
      _mm_storeu_si128(static_cast<__m128i*>(to),
                       _mm_loadu_si128(static_cast<const __m128i*>(from)));
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
}

std::uintptr_t address_of(const Target& target) { return target.window->begin + target.offset; }

/// Reads global memory strongly: with luck, what was there before another block's store. Returns
/// what was released with it.
std::size_t load_strongly(Warp& warp, const Target& target, unsigned bytes, void* to) {
  const Block& block = warp.block();
  if (target.window != nullptr) {
    const auto released = block.context().late_stores.read(block.index(), address_of(target),
                                                           {static_cast<std::byte*>(to), bytes});
    if (released) return *released;
  }
  copy_strongly(to, target.data, bytes, true);
  return all_released;
}

/// Half of the strong stores to global memory are late for up to four reads. None is where work is
/// counted: counts must repeat.
void store_strongly(Warp& warp, const Target& target, unsigned bytes, const void* from,
                    bool was_written, std::size_t released) {
  Block& block = warp.block();
  if (target.window != nullptr) {
    const bool may_be_late = was_written && block.counts == nullptr;
    const std::uint64_t drawn = may_be_late ? block.random().below(8) : 0;
    std::array<std::byte, LateStores::max_bytes> present{};
    copy_strongly(present.data(), target.data, bytes, true);
    block.context().late_stores.add(block.index(), address_of(target), {present.data(), bytes},
                                    drawn <= 4 ? static_cast<unsigned>(drawn) : 0, released);
  }
  copy_strongly(target.data, from, bytes, false);
}

/// The undefined bits of an element that begins at byte `at` of what each lane has loaded.
template <class T, class Register>
void note_loaded(Warp& warp, Place place, Mask lanes, const UndefinedBytes& undefined,
                 std::size_t at) {
  std::uint64_t bits[warp_lanes];
  for_lanes(lanes, [&](int lane) {
    const unsigned bytes = undefined.of(lane) >> at;
    bits[lane] = static_cast<Register>(static_cast<T>(bits_of_bytes(bytes)));
  });
  note_loaded(warp, {place.offset, sizeof(Register)}, lanes, undefined.results & lanes, bits);
}

/// Finds what is undefined of a lane's elements of T, in registers of Register, before a store.
template <class T, class Register>
StoredBytes stored_bytes(Warp& warp, const Code& code, int lane) {
  StoredBytes stored;
  for (unsigned k = 0; k < code.count; ++k) {
    const Place place = (*code.more)[k];
    if (place.bank == 0)
      stored.add(*warp.frame()->undefined, {place.offset, sizeof(Register)}, lane, k * sizeof(T),
                 sizeof(T));
  }
  return stored;
}

Target shared_target(Warp& warp, std::uint32_t offset) {
  MarkedBytes& shared = warp.block().shared;
  return {shared.bytes.data() + offset, shared.written.data() + offset, ptx::Space::shared, offset};
}

/// Elements of T in memory; registers of Register, into which a signed T is extended.
template <class T, class Register>
void load(Warp& warp, const Code& code, Mask lanes) {
  const std::byte* base = warp.at<std::byte>(code.a);
  const unsigned count = code.count, bytes = count * sizeof(T);
  const bool strong = code.order != Order::weak;
  Register* registers[8];
  for (unsigned k = 0; k < count; ++k) registers[k] = warp.at<Register>((*code.more)[k]);
  if (lanes == all_lanes && !strong && !code.flag && code.space == ptx::Space::global &&
      code.used_bytes == 0xffff && warp.frame()->undefined == nullptr) {
    if (const std::byte* row = locate_row(warp, code, base, bytes, Access::load)) {
      for (unsigned k = 0; k < count; ++k) {
#pragma GCC ivdep
        for (unsigned lane = 0; lane < warp_lanes; ++lane) {
          T value;
          std::memcpy(&value, row + std::size_t{lane} * bytes + k * sizeof(T), sizeof value);
          registers[k][lane] = static_cast<Register>(value);
        }
      }
      return;
    }
  }
  if (!strong && code.space == ptx::Space::shared && code.used_bytes == 0xffff &&
      warp.frame()->undefined == nullptr) {
    std::uint32_t offsets[warp_lanes];
    if (locate_shared(warp, code, base, lanes, bytes, Access::load, offsets)) {
      for_lanes(warp.block().shared_races.read_row(warp, lanes, offsets, bytes), [&](int lane) {
        note_read(warp, code, lane, shared_target(warp, offsets[lane]), bytes);
      });
      const std::byte* shared = warp.block().shared.bytes.data();
      for (unsigned k = 0; k < count; ++k) {
        Register* d = registers[k];
        for_lanes(lanes, [&](int lane) {
          T value;
          std::memcpy(&value, shared + offsets[lane] + k * sizeof(T), sizeof value);
          d[lane] = static_cast<Register>(value);
        });
      }
      return;
    }
  }
  std::uint64_t seen = 0;
  UndefinedBytes undefined;
  // The address may be one of the destinations.
  alignas(16) T values[warp_lanes][16 / sizeof(T)];
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t address = lane_address(code, base, lane);
    const Target target = locate(warp, code, lane, address, bytes, Access::load);
    note_read(warp, code, lane, target, bytes);
    if (target.written != nullptr && !all_written(target.written, bytes)) [[unlikely]]
      undefined.look(warp, code, lane, target, bytes);
    if (strong) {
      const std::size_t released = load_strongly(warp, target, bytes, values[lane]);
      acquire_after(warp, code, lane, target, released);
      for (unsigned k = 0; k < count; ++k)
        seen = seen * 31 + static_cast<std::uint64_t>(values[lane][k]) + address;
    } else {
      std::memcpy(values[lane], target.data, bytes);
    }
  });
  for (unsigned k = 0; k < count; ++k)
    for_lanes(lanes,
              [&](int lane) { registers[k][lane] = static_cast<Register>(values[lane][k]); });
  if (undefined.lanes != 0 || warp.frame()->undefined != nullptr) [[unlikely]]
    for (unsigned k = 0; k < count; ++k)
      note_loaded<T, Register>(warp, (*code.more)[k], lanes, undefined, k * sizeof(T));
  if (strong && warp.same_as_before(code, seen)) warp.spin();
}

template <class T, class Register>
void store(Warp& warp, const Code& code, Mask lanes) {
  const std::byte* base = warp.at<std::byte>(code.a);
  const unsigned count = code.count, bytes = count * sizeof(T);
  const bool strong = code.order != Order::weak;
  const bool follows = warp.frame()->undefined != nullptr;
  const Register* registers[8];
  for (unsigned k = 0; k < count; ++k) registers[k] = warp.at<Register>((*code.more)[k]);
  if (lanes == all_lanes && !strong && !code.flag && code.space == ptx::Space::global && !follows) {
    if (std::byte* row = locate_row(warp, code, base, bytes, Access::write)) {
      for (unsigned k = 0; k < count; ++k) {
        for (unsigned lane = 0; lane < warp_lanes; ++lane) {
          const T value = static_cast<T>(registers[k][lane]);
          std::memcpy(row + std::size_t{lane} * bytes + k * sizeof(T), &value, sizeof value);
        }
      }
      return;
    }
  }
  const auto values_of = [&](int lane, T* values) {
    for (unsigned k = 0; k < count; ++k) values[k] = static_cast<T>(registers[k][lane]);
  };
  if (std::uint32_t offsets[warp_lanes];
      !strong && code.space == ptx::Space::shared && !follows &&
      locate_shared(warp, code, base, lanes, bytes, Access::write, offsets)) {
    const Mask left = warp.block().shared_races.write_row(warp, lanes, offsets, bytes);
    const auto store_lane = [&](int lane, bool is_noted) {
      const Target target = shared_target(warp, offsets[lane]);
      alignas(16) T values[16 / sizeof(T)];
      values_of(lane, values);
      if (!is_noted) note_write(warp, code, lane, target, bytes, values);
      std::memcpy(target.data, values, bytes);
      std::memset(target.written, mark_written, bytes);
    };
    for_lanes(lanes & ~left, [&](int lane) { store_lane(lane, true); });
    for_lanes(left, [&](int lane) { store_lane(lane, false); });
    return;
  }
  for_lanes(lanes, [&](int lane) {
    const Target target =
        locate(warp, code, lane, lane_address(code, base, lane), bytes, Access::write);
    alignas(16) T values[16 / sizeof(T)];
    values_of(lane, values);
    const bool was_written = target.written != nullptr && all_written(target.written, bytes);
    StoredBytes stored;
    if (follows) [[unlikely]] {
      stored = stored_bytes<T, Register>(warp, code, lane);
      stored.check(warp, lane, target, bytes);
    }
    note_write(warp, code, lane, target, bytes, values);
    if (strong) {
      const std::size_t released =
          target.window != nullptr ? warp.block().global_races.released(target) : 0;
      release_before(warp, code, lane, target);
      store_strongly(warp, target, bytes, values, was_written, released);
    } else {
      std::memcpy(target.data, values, bytes);
    }
    if (follows) [[unlikely]]
      stored.mark(target);
  });
}

/// Parameters of the kernel: one block of bytes for all lanes; of calls (flag2): an area of each
/// lane.
struct ParameterArea {
  std::byte* data;
  std::size_t stride, bytes;
};
ParameterArea parameter_area(Warp& warp, const Code& code) {
  if (code.flag2) {
    Frame& frame = *warp.frame();
    return {frame.parameters.data(), frame.function->parameter_bytes,
            frame.function->parameter_bytes};
  }
  const std::vector<std::byte>& bytes = warp.block().context().parameters;
  return {const_cast<std::byte*>(bytes.data()), 0, bytes.size()};
}

/// Marks of undefined bytes of parameters: mark_result, mark_copy or 0.
void look_at_parameters(const std::vector<std::uint8_t>& marks, std::size_t at, unsigned bytes,
                        int lane, UndefinedBytes& undefined) {
  for (unsigned k = 0; k < bytes; ++k) {
    if (marks[at + k] == 0) continue;
    if (marks[at + k] == mark_result) undefined.results |= Mask{1} << lane;
    undefined.set(lane, undefined.of(lane) | 1u << k);
  }
}

template <class T, class Register>
void mark_parameters(Warp& warp, Place place, int lane, std::size_t at) {
  Frame& frame = *warp.frame();
  StoredBytes stored;
  if (frame.undefined != nullptr && place.bank == 0)
    stored.add(*frame.undefined, {place.offset, sizeof(Register)}, lane, 0, sizeof(T));
  if (stored.undefined == 0 && frame.undefined_parameters.empty()) return;
  frame.undefined_parameters.resize(frame.parameters.size());
  for (unsigned k = 0; k < sizeof(T); ++k)
    frame.undefined_parameters[at + k] = (stored.undefined >> k & 1) == 0 ? std::uint8_t{0}
                                         : stored.is_result               ? mark_result
                                                                          : mark_copy;
}

template <class T, class Register>
void load_parameter(Warp& warp, const Code& code, Mask lanes) {
  const ParameterArea area = parameter_area(warp, code);
  const std::byte* base = warp.at<std::byte>(code.a);
  std::uint64_t addresses[warp_lanes];
  for_lanes(lanes, [&](int lane) { addresses[lane] = lane_address(code, base, lane); });
  for (unsigned k = 0; k < code.count; ++k) {
    auto* d = warp.at<Register>((*code.more)[k]);
    for_lanes(lanes, [&](int lane) {
      const std::uint64_t at = addresses[lane] + k * sizeof(T);
      if (at > area.bytes || sizeof(T) > area.bytes - at)
        warp.fault(FaultKind::illegal_address, lane, "the parameters end before");
      T value;
      std::memcpy(&value, area.data + static_cast<std::size_t>(lane) * area.stride + at,
                  sizeof value);
      d[lane] = static_cast<Register>(value);
    });
    const Frame& frame = *warp.frame();
    const bool may_be_undefined = code.flag2 && !frame.undefined_parameters.empty();
    if (frame.undefined == nullptr && !may_be_undefined) continue;
    UndefinedBytes undefined;
    if (may_be_undefined)
      for_lanes(lanes, [&](int lane) {
        look_at_parameters(
            frame.undefined_parameters,
            static_cast<std::size_t>(lane) * area.stride + addresses[lane] + k * sizeof(T),
            sizeof(T), lane, undefined);
      });
    note_loaded<T, Register>(warp, (*code.more)[k], lanes, undefined, 0);
  }
}

template <class T, class Register>
void store_parameter(Warp& warp, const Code& code, Mask lanes) {
  const ParameterArea area = parameter_area(warp, code);
  const std::byte* base = warp.at<std::byte>(code.a);
  for (unsigned k = 0; k < code.count; ++k) {
    const auto* from = warp.at<Register>((*code.more)[k]);
    for_lanes(lanes, [&](int lane) {
      const std::uint64_t at = lane_address(code, base, lane) + k * sizeof(T);
      if (at > area.bytes || sizeof(T) > area.bytes - at)
        warp.fault(FaultKind::illegal_address, lane, "the parameters end before");
      const T value = static_cast<T>(from[lane]);
      const std::size_t place = static_cast<std::size_t>(lane) * area.stride + at;
      std::memcpy(area.data + place, &value, sizeof value);
      if (warp.frame()->undefined != nullptr || !warp.frame()->undefined_parameters.empty())
        mark_parameters<T, Register>(warp, (*code.more)[k], lane, place);
    });
  }
}

/// Calls `f.operator()<T, Register>()` for the type in memory and the width of the registers.
template <class F>
Code::Run pick_memory(const Decoder& decoder, ptx::Type type, std::size_t register_bytes, F f) {
  const auto with_register = [&]<class T>() -> Code::Run {
    if (register_bytes == 1)
      if constexpr (sizeof(T) <= 1) return f.template operator()<T, std::uint8_t>();
    if (register_bytes == 2)
      if constexpr (sizeof(T) <= 2) return f.template operator()<T, std::uint16_t>();
    if (register_bytes == 4)
      if constexpr (sizeof(T) <= 4) return f.template operator()<T, std::uint32_t>();
    if (register_bytes == 8) return f.template operator()<T, std::uint64_t>();
    decoder.fail("a register is narrower than its type");
  };
  if (ptx::is_signed(type)) {
    switch (ptx::bytes_of(type)) {
      case 1:
        return with_register.template operator()<std::int8_t>();
      case 2:
        return with_register.template operator()<std::int16_t>();
      case 4:
        return with_register.template operator()<std::int32_t>();
      default:
        break;
    }
  }
  switch (ptx::bytes_of(type)) {
    case 1:
      return with_register.template operator()<std::uint8_t>();
    case 2:
      return with_register.template operator()<std::uint16_t>();
    case 4:
      return with_register.template operator()<std::uint32_t>();
    case 8:
      return with_register.template operator()<std::uint64_t>();
    default:
      decoder.fail_type(type);
  }
}

void take_space(Decoder& decoder) {
  if (decoder.take_shared()) return;
  for (const std::string_view name :
       {"global", "local", "const", "param", "param::entry", "param::func"})
    if (decoder.take(name)) decoder.code.space = *ptx::space_named(name);
}

unsigned char take_vector(Decoder& decoder) {
  if (decoder.take("v2")) return 2;
  return decoder.take("v4") ? 4 : decoder.take("v8") ? 8 : 1;
}

/// The registers of the value, all of one width; returns it.
std::size_t take_registers(Decoder& decoder, std::size_t index, ptx::Type type, bool is_load) {
  const ptx::Operand& value = decoder.operand(index);
  std::vector<ptx::Operand> one{value};
  const bool is_vector = value.kind == ptx::OperandKind::vector;
  const auto& elements = is_vector ? value.elements : one;
  if (elements.size() != decoder.code.count)
    decoder.fail("the vector has another number of elements");
  if (elements.size() * ptx::bytes_of(type) > 16) decoder.fail("a vector has at most 16 bytes");
  std::size_t bytes = ptx::bytes_of(type);
  for (const ptx::Operand& element : elements)
    if (decoder.is_register(element)) bytes = ptx::bytes_of(decoder.register_type(element));
  const ptx::Type width = bytes == 1   ? ptx::Type::b8
                          : bytes == 2 ? ptx::Type::b16
                          : bytes == 4 ? ptx::Type::b32
                                       : ptx::Type::b64;
  auto& places = decoder.layout().code().place_lists.emplace_back();
  for (const ptx::Operand& element : elements) {
    if (is_load)
      places.push_back(decoder.destination(element, width));
    else
      places.push_back(decoder.source(element, decoder.is_register(element) ? width : type));
  }
  decoder.code.more = &places;
  return bytes;
}

/// .weak, .volatile, .relaxed.scope, .acquire.scope, .release.scope, .mmio.
void take_order(Decoder& decoder, bool is_load) {
  const bool is_volatile = decoder.take("volatile");
  const bool relaxed = decoder.take("relaxed");
  const bool acquire = is_load && decoder.take("acquire");
  const bool release = !is_load && decoder.take("release");
  decoder.take("weak");
  if (is_volatile || relaxed) decoder.code.order = Order::relaxed;
  if (acquire) decoder.code.order = Order::acquire;
  if (release) decoder.code.order = Order::release;
  const bool scope = decoder.take_scope();
  if ((relaxed || acquire || release) != scope)
    decoder.fail("a scope belongs to .relaxed, .acquire and .release");
}

void prefetch(Warp&, const Code&, Mask) {}

void decode_ld(Decoder& decoder) {
  take_order(decoder, true);
  take_space(decoder);
  decoder.take("nc");
  decoder.take_cache_hints();
  decoder.code.count = take_vector(decoder);
  const ptx::Type type = decoder.type();
  if (decoder.take_cache_policy() != 2) decoder.expect_operands(2);
  const std::size_t bytes = take_registers(decoder, 0, type, true);
  decoder.address(1);
  if (decoder.code.space == ptx::Space::parameter)
    return decoder.emit(pick_memory(decoder, type, bytes, []<class T, class R>() -> Code::Run {
      return load_parameter<T, R>;
    }));
  decoder.emit(pick_memory(decoder, type, bytes,
                           []<class T, class R>() -> Code::Run { return load<T, R>; }));
}

void decode_st(Decoder& decoder) {
  if (decoder.take("async")) return decode_async_store(decoder, false);
  take_order(decoder, false);
  take_space(decoder);
  decoder.take_cache_hints();
  decoder.code.count = take_vector(decoder);
  const ptx::Type type = decoder.type();
  if (decoder.take_cache_policy() != 2) decoder.expect_operands(2);
  decoder.address(0);
  const std::size_t bytes = take_registers(decoder, 1, type, false);
  if (decoder.code.space == ptx::Space::constant) decoder.fail("constants are not written");
  if (decoder.code.space == ptx::Space::parameter) {
    if (!decoder.code.flag2) decoder.fail("the parameters of a kernel are not written");
    return decoder.emit(pick_memory(decoder, type, bytes, []<class T, class R>() -> Code::Run {
      return store_parameter<T, R>;
    }));
  }
  decoder.emit(pick_memory(decoder, type, bytes,
                           []<class T, class R>() -> Code::Run { return store<T, R>; }));
}

void decode_prefetch(Decoder& decoder) {
  if (decoder.take("tensormap")) return decode_tensor_map_prefetch(decoder);
  for (const std::string_view name :
       {"global", "local", "const", "L1", "L2", "L2::evict_last", "L2::evict_normal"})
    decoder.take(name);
  decoder.expect_operands(1);
  decoder.address(0);
  decoder.emit(prefetch);
}

void decode_prefetchu(Decoder& decoder) {
  decoder.expect("L1");
  decoder.expect_operands(1);
  decoder.address(0);
  decoder.emit(prefetch);
}

const Opcodes opcodes{{"ld", decode_ld},
                      {"ldu", decode_ld},
                      {"st", decode_st},
                      {"prefetch", decode_prefetch},
                      {"prefetchu", decode_prefetchu}};

}  // namespace
}  // namespace emulator
