#include "emulator/machine/instructions/async_store.h"

#include <fmt/format.h>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/bulk_box.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/mbarrier_object.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/machine/undefined.h"

// st.async and red.async: stores to the shared memory of a cluster's block, which an mbarrier
// object there counts.
namespace emulator {
namespace {

/// Values of T in registers; count: how many.
template <class T>
void store(Warp& warp, const Code& code, Mask lanes) {
  const CopySite& site = *code.copy;
  const unsigned bytes = code.count * static_cast<unsigned>(sizeof(T));
  for_lanes(lanes, [&](int lane) {
    AsyncCopy copy;
    copy.code = &code;
    copy.warp = &warp;
    copy.lane = lane;
    copy.is_bulk = true;
    copy.update = site.update;
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
                    site.update == nullptr ? Access::write : Access::atomic),
             site.barrier.space, lane_address(warp, site.barrier, lane));
  });
}

/// Returns what red.async does to an element, or null where the PTX ISA does not offer it.
Reduction find_red(ReduceOp op, ptx::Type type) {
  const bool is_u32 = type == ptx::Type::u32, is_s32 = type == ptx::Type::s32;
  switch (op) {
    case ReduceOp::inc:
    case ReduceOp::dec:
      return is_u32 ? find_reduction(op, TensorElement::u32) : nullptr;
    case ReduceOp::min:
    case ReduceOp::max:
      return is_u32   ? find_reduction(op, TensorElement::u32)
             : is_s32 ? find_reduction(op, TensorElement::s32)
                      : nullptr;
    case ReduceOp::add:
      return is_u32 || is_s32         ? find_reduction(op, TensorElement::u32)
             : type == ptx::Type::u64 ? find_reduction(op, TensorElement::u64)
                                      : nullptr;
    default:
      return type == ptx::Type::b32 ? find_reduction(op, TensorElement::u32) : nullptr;
  }
}

/// The place, the values and the mbarrier object.
CopySite& take_operands(Decoder& decoder, ptx::Type type) {
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
  return site;
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
  const ReduceOp op = take_reduction(decoder);
  const ptx::Type type = decoder.type();
  if (find_red(op, type) == nullptr) decoder.fail_type(type);
  take_operands(decoder, type).update = find_red(op, type);
  decoder.emit(ptx::bytes_of(type) == 4 ? store<std::uint32_t> : store<std::uint64_t>);
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
  decoder.emit(bytes == 4 ? store<std::uint32_t> : store<std::uint64_t>);
}

}  // namespace

void decode_async_store(Decoder& decoder, bool reduces) {
  reduces ? decode_red(decoder) : decode_st(decoder);
}

}  // namespace emulator
