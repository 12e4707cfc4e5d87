#include <chrono>
#include <cstring>

#include "emulator/machine/address_windows.h"
#include "emulator/machine/block.h"
#include "emulator/machine/cluster_addresses.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

struct Copy {
  template <class T>
  static T apply(T a) {
    return a;
  }
};

void move_predicate(Warp& warp, const Code& code, Mask lanes) {
  Mask& d = warp.predicate(code.d);
  d = (d & ~lanes) | (warp.predicate(code.a) & lanes);
}

void is_explicit_cluster(Warp& warp, const Code& code, Mask lanes) {
  Mask& d = warp.predicate(code.d);
  d = warp.block().context().is_explicit_cluster ? d | lanes : d & ~lanes;
}

template <class Whole, class Part>
void pack(Warp& warp, const Code& code, Mask lanes) {
  Whole* d = warp.at<Whole>(code.d);
  Whole packed[warp_lanes] = {};
  for (std::size_t k = 0; k < code.count; ++k) {
    const Part* part = warp.at<Part>((*code.more)[k]);
    for_lanes(lanes, [&](int i) {
      packed[i] = static_cast<Whole>(
          packed[i] | static_cast<Whole>(static_cast<Whole>(part[i]) << (8 * sizeof(Part) * k)));
    });
  }
  for_lanes(lanes, [&](int i) { d[i] = packed[i]; });
}

template <class Whole, class Part>
void unpack(Warp& warp, const Code& code, Mask lanes) {
  Whole whole[warp_lanes];
  std::memcpy(whole, warp.at<Whole>(code.a), sizeof whole);
  for (std::size_t k = 0; k < code.count; ++k) {
    Part* part = warp.at<Part>((*code.more)[k]);
    for_lanes(lanes,
              [&](int i) { part[i] = static_cast<Part>(whole[i] >> (8 * sizeof(Part) * k)); });
  }
}

/// Special registers that change. variant: which one.
enum Changing : unsigned char { clock32, clock64, clock_hi, timer, timer_lo, timer_hi, zero };

template <class T>
void read_changing(Warp& warp, const Code& code, Mask lanes) {
  std::uint64_t value = 0;
  if (code.variant == clock32 || code.variant == clock64 || code.variant == clock_hi)
    value = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  if (code.variant == timer || code.variant == timer_lo || code.variant == timer_hi) {
    value = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                           std::chrono::system_clock::now().time_since_epoch())
                                           .count());
  }
  if (code.variant == clock_hi || code.variant == timer_hi) value >>= 32;
  T* d = warp.at<T>(code.d);
  for_lanes(lanes, [=](int i) { d[i] = static_cast<T>(value); });
}

bool decode_changing(Decoder& decoder, ptx::Type type) {
  struct Row {
    std::string_view name;
    Changing which;
    std::size_t bytes;
  };
  static constexpr Row rows[] = {
      {"%clock", clock32, 4},           {"%clock64", clock64, 8},
      {"%clock_hi", clock_hi, 4},       {"%globaltimer", timer, 8},
      {"%globaltimer_lo", timer_lo, 4}, {"%globaltimer_hi", timer_hi, 4}};
  for (const Row& row : rows) {
    if (decoder.operand(1).name != row.name) continue;
    if (ptx::bytes_of(type) != row.bytes) decoder.fail_type(type);
    decoder.code.variant = row.which;
    decoder.code.d = decoder.destination(0, type);
    decoder.emit(row.bytes == 8 ? read_changing<std::uint64_t> : read_changing<std::uint32_t>);
    return true;
  }
  return false;
}

ptx::Type bits_of_bytes(const Decoder& decoder, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return ptx::Type::b8;
    case 2:
      return ptx::Type::b16;
    case 4:
      return ptx::Type::b32;
    case 8:
      return ptx::Type::b64;
    default:
      decoder.fail("a vector of this form is not known");
  }
}

template <template <class, class> class Make>
Code::Run pick_halves(const Decoder& decoder, std::size_t whole, std::size_t part) {
  if (whole == 8 && part == 4) return Make<std::uint64_t, std::uint32_t>::run();
  if (whole == 8 && part == 2) return Make<std::uint64_t, std::uint16_t>::run();
  if (whole == 8 && part == 1) return Make<std::uint64_t, std::uint8_t>::run();
  if (whole == 4 && part == 2) return Make<std::uint32_t, std::uint16_t>::run();
  if (whole == 4 && part == 1) return Make<std::uint32_t, std::uint8_t>::run();
  if (whole == 2 && part == 1) return Make<std::uint16_t, std::uint8_t>::run();
  decoder.fail("a vector of this form is not known");
}
template <class Whole, class Part>
struct Pack {
  static Code::Run run() { return pack<Whole, Part>; }
};
template <class Whole, class Part>
struct Unpack {
  static Code::Run run() { return unpack<Whole, Part>; }
};

void decode_vector_move(Decoder& decoder, ptx::Type type) {
  const bool packs = decoder.operand(1).kind == ptx::OperandKind::vector;
  const auto& elements = decoder.operand(packs ? 1 : 0).elements;
  if (elements.empty() || ptx::bytes_of(type) % elements.size() != 0)
    decoder.fail("a vector of this form is not known");
  const std::size_t bytes = ptx::bytes_of(type) / elements.size();
  const ptx::Type part = bits_of_bytes(decoder, bytes);
  auto& places = decoder.layout().code().place_lists.emplace_back();
  for (const ptx::Operand& element : elements)
    places.push_back(packs ? decoder.source(element, part) : decoder.destination(element, part));
  decoder.code.more = &places;
  decoder.code.count = static_cast<unsigned char>(elements.size());
  if (packs) {
    decoder.code.d = decoder.destination(0, type);
    return decoder.emit(pick_halves<Pack>(decoder, ptx::bytes_of(type), bytes));
  }
  decoder.code.a = decoder.source(1, type);
  decoder.emit(pick_halves<Unpack>(decoder, ptx::bytes_of(type), bytes));
}

/// d = a + offset - offset of a window.
template <class T>
void add_offset(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T* a = warp.at<T>(code.a);
  const T by = static_cast<T>(code.offset);
  for_lanes(lanes, [=](int i) { d[i] = static_cast<T>(a[i] + by); });
}

ptx::Space take_space(Decoder& decoder) {
  if (decoder.take_shared()) return decoder.code.space;
  for (const std::string_view name : {"global", "local", "const", "param", "param::entry"})
    if (decoder.take(name)) return *ptx::space_named(name);
  decoder.fail("a space is missing");
}

/// Constants have addresses of global memory here, but belong to their own space.
ptx::Space space_of(Warp& warp, std::uint64_t address) {
  const AddressWindows& windows = address_windows();
  const ptx::Space space = windows.space_of(address);
  if (space == ptx::Space::shared) {
    namespace addresses = cluster_addresses;
    const std::uint64_t place = address - windows.base_of(space),
                        rank = static_cast<unsigned>(warp.order->rank());
    const bool is_own = !addresses::is_mapped(place) || addresses::rank_of(place) == rank;
    return is_own ? ptx::Space::shared : ptx::Space::cluster;
  }
  if (space != ptx::Space::generic) return space;
  const LaunchContext& context = warp.block().context();
  const auto& ranges = context.kernel.constant_ranges[static_cast<std::size_t>(context.launch.gpu)];
  for (const auto& [begin, end] : ranges)
    if (address >= begin && address < end) return ptx::Space::constant;
  return ptx::Space::global;
}

void is_in_space(Warp& warp, const Code& code, Mask lanes) {
  const auto* a = warp.at<std::uint64_t>(code.a);
  Mask result = 0;
  for_lanes(lanes, [&](int i) {
    const ptx::Space space = space_of(warp, a[i]);
    const bool is_part = code.space == ptx::Space::cluster && space == ptx::Space::shared;
    result |= static_cast<Mask>(space == code.space || is_part) << i;
  });
  Mask& d = warp.predicate(code.d);
  d = (d & ~lanes) | result;
}

void decode_mov(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  decoder.expect_operands(2);
  const ptx::Operand& from = decoder.operand(1);
  if (from.kind == ptx::OperandKind::vector || decoder.operand(0).kind == ptx::OperandKind::vector)
    return decode_vector_move(decoder, type);
  if (type == ptx::Type::pred) {
    decoder.code.d = decoder.destination(0, type);
    if (from.kind == ptx::OperandKind::special && from.name == "%is_explicit_cluster")
      return decoder.emit(is_explicit_cluster);
    bool negated = false;
    decoder.code.a = decoder.predicate(1, negated);
    if (negated) decoder.fail("mov negates nothing");
    return decoder.emit(move_predicate);
  }
  if (from.kind == ptx::OperandKind::special && decode_changing(decoder, type)) return;
  decoder.code.d = decoder.destination(0, type);
  if (from.kind == ptx::OperandKind::symbol && from.name != "WARP_SZ") {
    const SymbolAddress symbol = decoder.layout().symbol(from.name, decoder.instruction().line);
    if (symbol.in_frame) decoder.fail("the address of a call's parameter is not implemented");
    decoder.code.a =
        decoder.layout().address_of(symbol, from.name, from.offset, ptx::bytes_of(type));
  } else {
    decoder.code.a = decoder.source(1, type);
  }
  decoder.emit(pick_bits(decoder, type, []<class T>() -> Code::Run { return unary<T, T, Copy>; }));
}

void decode_cvta(Decoder& decoder) {
  const bool to = decoder.take("to");
  const ptx::Space space = take_space(decoder);
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::u64) decoder.fail_type(type);
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, type);
  const auto base = static_cast<std::int64_t>(address_windows().base_of(space));
  decoder.code.offset = to ? -base : base;
  const ptx::Operand& from = decoder.operand(1);
  if (from.kind == ptx::OperandKind::symbol) {
    const SymbolAddress symbol = decoder.layout().symbol(from.name, decoder.instruction().line);
    if (symbol.in_frame) decoder.fail("the address of a call's parameter is not implemented");
    decoder.code.a = decoder.layout().address_of(symbol, from.name, from.offset, 8);
  } else {
    decoder.code.a = decoder.source(1, type);
  }
  decoder.emit(add_offset<std::uint64_t>);
}

void decode_isspacep(Decoder& decoder) {
  decoder.code.space = take_space(decoder);
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, ptx::Type::pred);
  decoder.code.a = decoder.source(1, ptx::Type::u64);
  decoder.emit(is_in_space);
}

const Opcodes opcodes{{"mov", decode_mov}, {"cvta", decode_cvta}, {"isspacep", decode_isspacep}};

}  // namespace
}  // namespace emulator
