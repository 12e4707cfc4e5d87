#include <fmt/format.h>

#include <cstring>

#include "emulator/machine/access.h"
#include "emulator/machine/address_windows.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/collective.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/machine/undefined.h"

// Matrices of 8 x 8 elements of 16 bits, `count` of them. Lane l holds elements 2 (l % 4) and the
// next one of row l / 4, or of that column when flag2 (.trans) is set. Row r of matrix j lies at
// the address of lane 8 j + r.
namespace emulator {
namespace {

constexpr int extent = 8;
constexpr unsigned row_bytes = 16;
using Matrix = std::uint16_t[extent][extent];

std::uint16_t& element(Matrix& matrix, int lane, int which, bool transposed) {
  const int across = lane / 4, along = 2 * (lane % 4) + which;
  return transposed ? matrix[along][across] : matrix[across][along];
}

std::uint32_t held_by(Matrix& matrix, int lane, bool transposed) {
  return element(matrix, lane, 0, transposed) | std::uint32_t{element(matrix, lane, 1, transposed)}
                                                    << 16;
}

void hold(Matrix& matrix, int lane, bool transposed, std::uint32_t bits) {
  element(matrix, lane, 0, transposed) = static_cast<std::uint16_t>(bits);
  element(matrix, lane, 1, transposed) = static_cast<std::uint16_t>(bits >> 16);
}

Target locate_shared_row(Warp& warp, const Code& code, int lane, Access access) {
  const std::uint64_t address = lane_address(code, warp.at<std::byte>(code.a), lane);
  const Target target = locate(warp, code, lane, address, row_bytes, access);
  if (target.space != ptx::Space::shared || target.owner != nullptr)
    warp.fault(FaultKind::illegal_address, lane,
               fmt::format("the row at {:#x} is not in shared memory of the block", address));
  return target;
}

/// Before compute capability 8.0 lanes whose rows are not asked for need valid addresses too.
void check_other_address(Warp& warp, const Code& code, int lane) {
  std::uint64_t address = lane_address(code, warp.at<std::byte>(code.a), lane);
  if (code.space == ptx::Space::generic) address -= address_windows().base_of(ptx::Space::shared);
  if (address % row_bytes != 0 || address >= warp.block().shared_bytes())
    warp.fault(FaultKind::illegal_address, lane,
               fmt::format("for this target all lanes need addresses of rows in shared memory, and "
                           "{:#x} is none",
                           address));
}

/// flag3: all lanes need valid addresses.
void load_matrices(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  Matrix matrices[4], undefined[4] = {};
  UndefinedBytes bytes;
  for (int lane = 0; lane < extent * code.count; ++lane) {
    const Target target = locate_shared_row(warp, code, lane, Access::load);
    note_read(warp, code, lane, target, row_bytes);
    std::memcpy(matrices[lane / extent][lane % extent], target.data, row_bytes);
    if (all_written(target.written, row_bytes)) continue;
    bytes.look(warp, code, lane, target, row_bytes);
    for (unsigned k = 0; k < extent; ++k)
      undefined[lane / extent][lane % extent][k] =
          static_cast<std::uint16_t>(bits_of_bytes(bytes.of(lane) >> 2 * k & 3u));
  }
  for (int lane = extent * code.count; code.flag3 && lane < warp_lanes; ++lane)
    check_other_address(warp, code, lane);
  for (std::size_t j = 0; j < code.count; ++j) {
    auto* d = warp.at<std::uint32_t>((*code.more)[j]);
    for (int lane = 0; lane < warp_lanes; ++lane) d[lane] = held_by(matrices[j], lane, code.flag2);
    if (bytes.lanes == 0 && warp.frame()->undefined == nullptr) continue;
    std::uint64_t bits[warp_lanes];
    for (int lane = 0; lane < warp_lanes; ++lane)
      bits[lane] = held_by(undefined[j], lane, code.flag2);
    note_loaded(warp, {(*code.more)[j].offset, 4}, all_lanes, bytes.results != 0 ? all_lanes : 0,
                bits);
  }
}

void store_matrices(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  Matrix matrices[4], undefined[4] = {};
  Mask results = 0;
  for (std::size_t j = 0; j < code.count; ++j) {
    const Place place = (*code.more)[j];
    const auto* from = warp.at<std::uint32_t>(place);
    for (int lane = 0; lane < warp_lanes; ++lane) hold(matrices[j], lane, code.flag2, from[lane]);
    UndefinedRegisters* registers = warp.frame()->undefined.get();
    if (registers == nullptr || place.bank != 0) continue;
    for (int lane = 0; lane < warp_lanes; ++lane)
      hold(undefined[j], lane, code.flag2,
           static_cast<std::uint32_t>(registers->bits({place.offset, 4}, lane)));
    results |= registers->results({place.offset, 4});
  }
  for (int lane = 0; lane < extent * code.count; ++lane) {
    const Target target = locate_shared_row(warp, code, lane, Access::write);
    const auto& row = matrices[lane / extent][lane % extent];
    note_write(warp, code, lane, target, row_bytes, row);
    std::memcpy(target.data, row, row_bytes);
    StoredBytes stored{.is_result = results != 0};
    for (unsigned k = 0; k < row_bytes; ++k)
      if (undefined[lane / extent][lane % extent][k / 2] >> 8 * (k % 2) & 0xff)
        stored.undefined |= 1u << k;
    stored.mark(target);
  }
}

void transpose(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto* a = warp.at<std::uint32_t>(code.a);
  Matrix matrix;
  for (int lane = 0; lane < warp_lanes; ++lane) hold(matrix, lane, false, a[lane]);
  for (int lane = 0; lane < warp_lanes; ++lane) d[lane] = held_by(matrix, lane, true);
}

/// .sync.aligned.m8n8.x1{.trans}{.shared}.b16
void take_form(Decoder& decoder, std::size_t address, std::size_t registers) {
  take_collective(decoder);
  decoder.expect("m8n8");
  decoder.code.count = decoder.take("x4") ? 4 : decoder.take("x2") ? 2 : 1;
  if (decoder.code.count == 1) decoder.expect("x1");
  if (decoder.take("shared") || decoder.take("shared::cta"))
    decoder.code.space = ptx::Space::shared;
  const bool transposed = decoder.take("trans");
  decoder.expect("b16");
  decoder.expect_operands(2);
  decoder.address(address);
  if (decoder.code.flag2) decoder.fail("a parameter is not in shared memory");
  decoder.code.flag2 = transposed;
  const ptx::Operand& operand = decoder.operand(registers);
  const bool is_vector = operand.kind == ptx::OperandKind::vector;
  const std::size_t count = is_vector ? operand.elements.size() : 1;
  if (count != decoder.code.count)
    decoder.fail(fmt::format("{} registers for {} matrices", count, decoder.code.count));
  auto& places = decoder.layout().code().place_lists.emplace_back();
  for (std::size_t j = 0; j < count; ++j) {
    const ptx::Operand& each = is_vector ? operand.elements[j] : operand;
    places.push_back(registers == 0 ? decoder.destination(each, ptx::Type::b32)
                                    : decoder.source(each, ptx::Type::b32));
  }
  decoder.code.more = &places;
}

void decode_ldmatrix(Decoder& decoder) {
  decoder.needs(75);
  take_form(decoder, 1, 0);
  decoder.code.flag3 = decoder.layout().module().target < 80;
  decoder.emit(load_matrices);
}

void decode_stmatrix(Decoder& decoder) {
  decoder.needs(90);
  take_form(decoder, 0, 1);
  decoder.emit(store_matrices);
}

void decode_movmatrix(Decoder& decoder) {
  decoder.needs(75);
  take_collective(decoder);
  for (const std::string_view modifier : {"m8n8", "trans", "b16"}) decoder.expect(modifier);
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, ptx::Type::b32);
  decoder.code.a = decoder.source(1, ptx::Type::b32);
  decoder.emit(transpose);
}

const Opcodes opcodes{
    {"ldmatrix", decode_ldmatrix}, {"stmatrix", decode_stmatrix}, {"movmatrix", decode_movmatrix}};

}  // namespace
}  // namespace emulator
