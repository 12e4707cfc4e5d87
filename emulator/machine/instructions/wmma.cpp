#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/machine/access.h"
#include "emulator/machine/instructions/collective.h"
#include "emulator/machine/instructions/multiply.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/machine/undefined.h"

namespace emulator {
namespace {

struct ShapeRow {
  std::string_view name;
  int m, n, k;
};
constexpr std::array shapes{ShapeRow{"m16n16k16", 16, 16, 16}, ShapeRow{"m32n8k16", 32, 8, 16},
                            ShapeRow{"m8n32k16", 8, 32, 16}, ShapeRow{"m16n16k8", 16, 16, 8},
                            ShapeRow{"m8n8k4", 8, 8, 4}};

/// PTX ISA, "wmma.mma": each kind has one k, and all shapes of that k.
struct KindRow {
  MatrixKind kind;
  int k, compute_capability;
};
constexpr std::array kinds{KindRow{MatrixKind::f16, 16, 70}, KindRow{MatrixKind::integer, 16, 72},
                           KindRow{MatrixKind::bf16, 16, 80}, KindRow{MatrixKind::tf32, 8, 80},
                           KindRow{MatrixKind::f64, 4, 80}};

const ShapeRow& take_shape(Decoder& decoder) {
  const ShapeRow* shape = decoder.take_row(shapes);
  if (shape == nullptr) decoder.fail("a shape that is known here is missing");
  return *shape;
}

/// Whether the matrix lies by columns.
bool take_layout(Decoder& decoder) {
  struct Row {
    std::string_view name;
  };
  static constexpr std::array rows{Row{"row"}, Row{"col"}};
  const Row* row = decoder.take_row(rows);
  if (row == nullptr) decoder.fail("'.row' or '.col' is missing");
  return row == &rows[1];
}

[[noreturn]] void fail_shape(const Decoder& decoder, const ShapeRow& shape, MatrixType type) {
  decoder.fail(fmt::format(".{} of .{} is not implemented", shape.name, name_of(type)));
}

MatrixKind check_factor(const Decoder& decoder, const ShapeRow& shape, MatrixType type) {
  const MatrixKind kind = kind_of(decoder, type);
  const auto* row = std::ranges::find(kinds, kind, &KindRow::kind);
  if (row == kinds.end() || row->k != shape.k) fail_shape(decoder, shape, type);
  decoder.needs(row->compute_capability);
  return kind;
}

/// An accumulator alone does not tell what is multiplied.
void check_accumulator(const Decoder& decoder, const ShapeRow& shape, MatrixType type) {
  const auto fits = [&](const KindRow& row) {
    return row.k == shape.k && accumulates(row.kind, type);
  };
  const auto* row = std::ranges::find_if(kinds, fits);
  if (row == kinds.end()) fail_shape(decoder, shape, type);
  decoder.needs(row->compute_capability);
}

/// A matrix in memory: code.b is the stride, where flag2 is set; flag3: it lies by columns.
struct InMemory {
  std::uint64_t stride;
  std::uint64_t bytes;

  InMemory(Warp& warp, const Code& code)
      : stride(static_cast<std::uint64_t>(code.flag3 ? code.matrix->m : code.matrix->n)),
        bytes(bytes_of(code.matrix->d.type)) {
    const std::byte* base = warp.at<std::byte>(code.a);
    const auto* strides = code.flag2 ? warp.at<std::uint32_t>(code.b) : nullptr;
    if (strides != nullptr) stride = strides[0];
    const std::uint64_t first = lane_address(code, base, 0);
    for (int lane = 1; lane < warp_lanes; ++lane)
      if (lane_address(code, base, lane) != first ||
          (strides != nullptr && strides[lane] != stride))
        warp.fault(FaultKind::illegal_address, lane, "lanes of one warp name different matrices");
    // PTX ISA, "Matrix storage": the first row is aligned to the bytes that a lane holds. That of
    // the others follows the C++ guide, which wants strides of 16 bytes.
    const std::uint64_t held = code.matrix->d.registers.size() * (bytes == 8 ? 8 : 4);
    if (first % held != 0 || stride * bytes % std::min<std::uint64_t>(held, 16) != 0)
      warp.fault(FaultKind::misaligned_address, 0,
                 fmt::format("the matrix at {:#x} with a stride of {} bytes is not aligned to {}",
                             first, stride * bytes, held));
  }

  std::uint64_t offset(const Code& code, Fragment::Element at) const {
    const std::uint64_t row = at.row, column = at.column;
    return bytes * (code.flag3 ? column * stride + row : row * stride + column);
  }
};

/// Calls `f(lane, target, value)` for the place in memory of each element, whose value is 8 bytes.
template <class F>
void for_each_place(Warp& warp, const Code& code, Access access, std::uint64_t* values, F f) {
  const InMemory memory(warp, code);
  const std::byte* base = warp.at<std::byte>(code.a);
  std::size_t i = 0;
  for (const Fragment::Element at : code.matrix->d.elements) {
    const int lane = static_cast<int>(i % warp_lanes);
    const std::uint64_t address = lane_address(code, base, lane) + memory.offset(code, at);
    f(lane, locate(warp, code, lane, address, static_cast<unsigned>(memory.bytes), access),
      static_cast<unsigned>(memory.bytes), values[i++]);
  }
}

/// Elements of all lanes: at most 16 of each.
constexpr std::size_t max_elements = std::size_t{16} * warp_lanes;

void load_fragment(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  std::uint64_t values[max_elements] = {}, undefined[max_elements] = {};
  UndefinedBytes found;
  std::uint64_t* next_undefined = undefined;
  for_each_place(warp, code, Access::load, values,
                 [&](int lane, const Target& target, unsigned bytes, std::uint64_t& value) {
                   note_read(warp, code, lane, target, bytes);
                   std::memcpy(&value, target.data, bytes);
                   if (target.written != nullptr && !all_written(target.written, bytes)) {
                     found.look(warp, code, lane, target, bytes);
                     *next_undefined = bits_of_bytes(found.of(lane));
                   }
                   ++next_undefined;
                 });
  const std::uint64_t* next = values;
  const Fragment& fragment = code.matrix->d;
  write_fragment(warp, fragment, [&](Fragment::Element) { return *next++; });
  if (found.lanes == 0 && warp.frame()->undefined == nullptr) return;
  // Sets the registers' undefined bits by the same elements.
  next = undefined;
  const std::size_t bytes = bytes_of(fragment.type), register_bytes = bytes == 8 ? 8 : 4;
  for (const Place place : fragment.registers) {
    std::uint64_t bits[warp_lanes] = {};
    for (std::size_t offset = 0; offset < register_bytes; offset += bytes)
      for (std::uint64_t& of_lane : bits) of_lane |= *next++ << 8 * offset;
    note_loaded(warp, {place.offset, static_cast<std::uint8_t>(register_bytes)}, all_lanes,
                found.results != 0 ? all_lanes : 0, bits);
  }
}

void store_fragment(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  std::uint64_t values[max_elements];
  std::uint64_t* next = values;
  const Fragment& fragment = code.matrix->d;
  read_fragment(warp, fragment, [&](Fragment::Element, std::uint64_t bits) { *next++ = bits; });
  const std::size_t of_register = bytes_of(fragment.type) == 8 ? 8 : 4;
  std::size_t element = 0;
  for_each_place(warp, code, Access::write, values,
                 [&](int lane, const Target& target, unsigned bytes, const std::uint64_t& value) {
                   StoredBytes stored;
                   const std::size_t at = element++ / warp_lanes * bytes;
                   const Place place = fragment.registers[at / of_register];
                   if (warp.frame()->undefined != nullptr && place.bank == 0)
                     stored.add(*warp.frame()->undefined,
                                {place.offset, static_cast<std::uint8_t>(of_register)}, lane, 0,
                                bytes, at % of_register);
                   stored.check(warp, lane, target, bytes);
                   note_write(warp, code, lane, target, bytes, &value);
                   std::memcpy(target.data, &value, bytes);
                   stored.mark(target);
                 });
}

/// wmma.load.a.sync.aligned.row.m16n16k16{.shared}.f16 r, [p]{, stride}; wmma.store.d alike.
void decode_move(Decoder& decoder, MatrixOperand operand, bool is_load) {
  take_collective(decoder);
  decoder.code.flag3 = take_layout(decoder);
  const ShapeRow& shape = take_shape(decoder);
  for (const std::string_view name : {"global", "shared", "shared::cta"})
    if (decoder.take(name)) decoder.code.space = *ptx::space_named(name);
  const MatrixType type = take_matrix_type(decoder);
  if (operand == MatrixOperand::accumulator)
    check_accumulator(decoder, shape, type);
  else
    check_factor(decoder, shape, type);
  decoder.expect_operands(2, 3);
  decoder.address(is_load ? 1 : 0);
  if (decoder.code.flag2) decoder.fail("matrices do not lie among the parameters of calls");
  decoder.code.flag2 = decoder.operands() == 3;
  if (decoder.code.flag2) decoder.code.b = decoder.source(2, ptx::Type::u32);
  MatrixCode matrix;
  matrix.m = operand == MatrixOperand::b ? shape.k : shape.m;
  matrix.n = operand == MatrixOperand::a ? shape.k : shape.n;
  matrix.d = take_wmma_fragment(decoder, is_load ? 0 : 1, operand, matrix.m, matrix.n,
                                decoder.code.flag3, type, is_load);
  decoder.code.matrix = &decoder.layout().code().matrix_codes.emplace_back(std::move(matrix));
  decoder.emit(is_load ? load_fragment : store_fragment);
}

/// wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16, or with the types of d, a, b and c.
void decode_product(Decoder& decoder) {
  take_collective(decoder);
  const bool columns_a = take_layout(decoder), columns_b = take_layout(decoder);
  const ShapeRow& shape = take_shape(decoder);
  const MatrixType d = take_matrix_type(decoder), second = take_matrix_type(decoder);
  const auto third = maybe_matrix_type(decoder);
  const MatrixType a = third ? second : MatrixType::f16, b = third.value_or(MatrixType::f16),
                   c = third ? take_matrix_type(decoder) : second;
  const MatrixKind kind = check_factor(decoder, shape, a);
  // FP32 takes sums of FP16. How the opposite rounds is not published.
  if (!accumulates(kind, d) || !accumulates(kind, c) || (d == MatrixType::f16 && c != d))
    decoder.fail(fmt::format("products of .{} are not added to .{} in .{}", name_of(a), name_of(c),
                             name_of(d)));
  if (kind == MatrixKind::f64)
    decoder.code.variant =
        static_cast<unsigned char>(decoder.rounding().value_or(Rounding::nearest));
  decoder.expect_operands(4);
  const auto [name, m, n, k] = shape;
  const auto take = [&](std::size_t index, MatrixOperand operand, int rows, int columns,
                        bool by_columns, MatrixType type) {
    return take_wmma_fragment(decoder, index, operand, rows, columns, by_columns, type, index == 0);
  };
  emit_product(
      decoder, kind,
      {m, n, k, take(0, MatrixOperand::accumulator, m, n, false, d),
       take(1, MatrixOperand::a, m, k, columns_a, a), take(2, MatrixOperand::b, k, n, columns_b, b),
       take(3, MatrixOperand::accumulator, m, n, false, c)});
}

void decode_wmma(Decoder& decoder) {
  if (decoder.take("mma")) return decode_product(decoder);
  if (decoder.take("store")) {
    decoder.expect("d");
    return decode_move(decoder, MatrixOperand::accumulator, false);
  }
  decoder.expect("load");
  if (decoder.take("a")) return decode_move(decoder, MatrixOperand::a, true);
  if (decoder.take("b")) return decode_move(decoder, MatrixOperand::b, true);
  decoder.expect("c");
  decode_move(decoder, MatrixOperand::accumulator, true);
}

const Opcodes opcodes{{"wmma", decode_wmma}};

}  // namespace
}  // namespace emulator
