#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/collective.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/tensor_map_access.h"
#include "emulator/machine/ordering.h"

// tensormap.replace and tensormap.cp_fenceproxy: maps that a kernel makes of others.
namespace emulator {
namespace {

constexpr std::size_t part = 16;  // of a map, which one access has

enum Field : unsigned char {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  element_type,
  interleave_layout,
  swizzle_mode,
  fill_mode
};
struct FieldRow {
  std::string_view name;
  Field field;
};
constexpr std::array<FieldRow, 10> fields{{{"global_address", global_address},
                                           {"rank", rank},
                                           {"box_dim", box_dim},
                                           {"global_dim", global_dim},
                                           {"global_stride", global_stride},
                                           {"element_stride", element_stride},
                                           {"elemtype", element_type},
                                           {"interleave_layout", interleave_layout},
                                           {"swizzle_mode", swizzle_mode},
                                           {"fill_mode", fill_mode}}};

bool has_ordinal(Field field) { return field >= box_dim && field <= element_stride; }
bool is_wide(Field field) { return field == global_address || field == global_stride; }
bool is_immediate(Field field) { return field >= element_type; }
/// The largest number that means the same here and to cuTensorMapEncodeTiled.
std::uint64_t max_of(Field field) {
  switch (field) {
    case element_type:
      return 7;
    case interleave_layout:
      return 2;
    case swizzle_mode:
      return 3;
    default:
      return 1;
  }
}

/// Calls `f(Target)` for the parts of a map in shared or global memory.
template <class F>
void for_parts(Warp& warp, ptx::Space space, int lane, std::uint64_t address, Access access, F f) {
  if (address % TensorMap::alignment != 0)
    warp.fault(FaultKind::misaligned_address, lane,
               fmt::format("a tensor map at {:#x}, which is no multiple of {}", address,
                           TensorMap::alignment));
  for (std::size_t at = 0; at < sizeof(TensorMap); at += part) {
    const Target target = locate(warp, space, lane, address + at, part, access);
    if (target.space != ptx::Space::shared && target.space != ptx::Space::global)
      warp.fault(FaultKind::illegal_address, lane,
                 fmt::format("{:#x} is neither shared nor global memory", address));
    f(at, target);
  }
}

TensorMap read_map(Warp& warp, const Code& code, ptx::Space space, int lane,
                   std::uint64_t address) {
  TensorMap map;
  for_parts(warp, space, lane, address, Access::read, [&](std::size_t at, const Target& target) {
    std::memcpy(reinterpret_cast<std::byte*>(&map) + at, target.data, part);
    note_read(warp, code, lane, target, part);
  });
  if (!is_sealed(map))
    warp.fault(FaultKind::undefined, lane,
               fmt::format("the 128 bytes at {:#x} are no tensor map that cuTensorMapEncodeTiled "
                           "made, or something has changed them",
                           address));
  return map;
}

void write_map(Warp& warp, const Code& code, ptx::Space space, int lane, std::uint64_t address,
               const TensorMap& map) {
  for_parts(warp, space, lane, address, Access::write, [&](std::size_t at, const Target& target) {
    const std::byte* value = reinterpret_cast<const std::byte*>(&map) + at;
    note_write(warp, code, lane, target, part, value);
    std::memcpy(target.data, value, part);
  });
  warp.block().async().acquired_maps.erase(address);
}

void set(TensorMap& map, Field field, std::size_t ordinal, std::uint64_t value) {
  switch (field) {
    case global_address:
      map.address = value;
      break;
    case rank:
      map.rank = static_cast<std::uint8_t>(std::min<std::uint64_t>(value, 254) + 1);
      break;
    case box_dim:
      map.box[ordinal] = static_cast<std::uint16_t>(std::min<std::uint64_t>(value, 0xffff));
      break;
    case global_dim:
      map.dims[ordinal] = value;
      break;
    case global_stride:
      map.strides[ordinal] = value;
      break;
    case element_stride:
      map.element_strides[ordinal] = static_cast<std::uint8_t>(std::min<std::uint64_t>(value, 255));
      break;
    case element_type:
      map.type = static_cast<TensorElement>(value);
      break;
    case interleave_layout:
      map.interleave = static_cast<Interleave>(value);
      break;
    case swizzle_mode:
      // Which chunks move is a field of its own.
      if (static_cast<Swizzle>(value) != Swizzle::span_128 || span_of(map.swizzle) != 128)
        map.swizzle = static_cast<Swizzle>(value);
      break;
    case fill_mode:
      map.fills_with_nan = value != 0;
      break;
  }
}

/// a: the map; b: the new value; variant: a Field; target: its ordinal. Whether the map is valid
/// counts when it is used.
void replace(Warp& warp, const Code& code, Mask lanes) {
  const std::byte* base = warp.at<std::byte>(code.a);
  const auto field = static_cast<Field>(code.variant);
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t address = lane_address(code, base, lane);
    const std::uint64_t value = is_wide(field) ? warp.at<std::uint64_t>(code.b)[lane]
                                               : warp.at<std::uint32_t>(code.b)[lane];
    TensorMap map = read_map(warp, code, code.space, lane, address);
    set(map, field, code.target, value);
    seal(map);
    write_map(warp, code, code.space, lane, address, map);
  });
}

/// copy: to global, from shared memory. All lanes of the warp copy
/// the same map.
void copy_and_fence(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  const CopySite& site = *code.copy;
  const int first = std::countr_zero(lanes);
  const std::uint64_t to = lane_address(warp, site.to, first),
                      from = lane_address(warp, site.from, first);
  for_lanes(lanes, [&](int lane) {
    if (lane_address(warp, site.to, lane) != to || lane_address(warp, site.from, lane) != from)
      warp.fault(FaultKind::undefined, lane, "lanes of a warp copy different tensor maps");
  });
  const TensorMap map = read_map(warp, code, site.from.space, first, from);
  write_map(warp, code, site.to.space, first, to, map);
  fence_lanes(warp, lanes, code.scope);
}

void decode_replace(Decoder& decoder) {
  decoder.expect("tile");
  const FieldRow* row = decoder.take_row(fields);
  if (row == nullptr) decoder.fail("a field of a tensor map is missing");
  const Field field = row->field;
  if (decoder.take("global"))
    decoder.code.space = ptx::Space::global;
  else if (decoder.take("shared::cta"))
    decoder.code.space = ptx::Space::shared;
  decoder.expect("b1024");
  const ptx::Type type = is_wide(field) ? ptx::Type::b64 : ptx::Type::b32;
  if (decoder.type() != type) decoder.fail("the field has another type");
  const std::size_t value = has_ordinal(field) ? 2 : 1;
  decoder.expect_operands(value + 1);
  decoder.address(0);
  if (has_ordinal(field)) {
    const ptx::Operand& ordinal = decoder.operand(1);
    const std::uint64_t end = TensorMap::max_rank - (field == global_stride ? 1 : 0);
    if (ordinal.kind != ptx::OperandKind::integer || ordinal.bits >= end)
      decoder.fail("the ordinal is a constant below the number of dimensions");
    decoder.code.target = static_cast<std::uint32_t>(ordinal.bits);
  }
  const ptx::Operand& operand = decoder.operand(value);
  if (is_immediate(field) &&
      (operand.kind != ptx::OperandKind::integer || operand.bits > max_of(field)))
    decoder.fail(fmt::format("the value of this field is a constant up to {} here", max_of(field)));
  decoder.code.b = decoder.source(value, type);
  decoder.code.variant = field;
  decoder.emit(replace);
}

void decode_copy(Decoder& decoder) {
  decoder.expect("global");
  decoder.expect("shared::cta");
  decoder.expect("tensormap::generic");
  decoder.expect("release");
  if (!decoder.take_scope()) decoder.fail("a scope is missing");
  take_collective(decoder);
  decoder.expect_operands(3);
  const ptx::Operand& size = decoder.operand(2);
  if (size.kind != ptx::OperandKind::integer || size.bits != sizeof(TensorMap))
    decoder.fail("the size of a tensor map is 128");
  CopySite& site = decoder.layout().code().copy_sites.emplace_back();
  site.to = decoder.address_in(0, ptx::Space::global);
  site.from = decoder.address_in(1, ptx::Space::shared);
  decoder.code.copy = &site;
  decoder.emit(copy_and_fence);
}

void decode_tensormap(Decoder& decoder) {
  decoder.needs(90);
  if (decoder.take("replace")) {
    if (!decoder.layout().module().is_target_specific)
      decoder.fail("tensormap.replace needs a target like sm_90a");
    return decode_replace(decoder);
  }
  decoder.expect("cp_fenceproxy");
  decode_copy(decoder);
}

const Opcodes opcodes{{"tensormap", decode_tensormap}};

}  // namespace
}  // namespace emulator
