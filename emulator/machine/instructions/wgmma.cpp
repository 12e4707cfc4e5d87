#include <fmt/format.h>

#include <charconv>

#include "emulator/machine/block.h"
#include "emulator/machine/fragments.h"
#include "emulator/machine/instructions/collective.h"

// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", and setmaxnreg. All threads of a
// warp execute them together; machine/warpgroups.h has what the four warps have in common.
namespace emulator {
namespace {

Warpgroups& groups_of(Warp& warp) { return warp.block().warpgroups(); }

void multiply(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  groups_of(warp).multiply(warp, *warp.frame(), code);
}

void fence(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  groups_of(warp).step(warp, code);
  ++warp.product_fences;
}

void commit(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  groups_of(warp).step(warp, code);
  groups_of(warp).commit(warp);
}

/// target: how many groups may be pending.
void wait_groups(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  if (!groups_of(warp).wait_groups(warp, code, code.target)) warp.wait_for_warpgroup(code);
}

/// target: the count; flag: inc.
void set_max_registers(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  groups_of(warp).step(warp, code);
  groups_of(warp).set_max_registers(warp, code.target, code.flag);
}

int depth_of(MatrixKind kind) {
  return kind == MatrixKind::tf32                              ? 8
         : kind == MatrixKind::f16 || kind == MatrixKind::bf16 ? 16
                                                               : 32;
}

/// The n of .m64nNkK. PTX ISA, "Matrix Shape": integers have fewer.
int take_columns(Decoder& decoder, MatrixKind kind) {
  for (const std::string_view name : decoder.instruction().modifiers) {
    if (!name.starts_with("m64n")) continue;
    const char* const end = name.data() + name.size();
    int n = 0, k = 0;
    const auto [behind, error] = std::from_chars(name.data() + 4, end, n);
    const bool has_k = error == std::errc() && behind != end && *behind == 'k' &&
                       std::from_chars(behind + 1, end, k).ptr == end;
    const bool is_known =
        n % 8 == 0 && n >= 8 && n <= 256 && (kind != MatrixKind::integer || n <= 32 || n % 16 == 0);
    if (!has_k || k != depth_of(kind) || !is_known)
      decoder.fail(fmt::format("'.{}' is no shape of these types", name));
    decoder.expect(name);
    return n;
  }
  decoder.fail("a shape is missing");
}

bool take_choice(Decoder& decoder, std::size_t index, std::uint64_t no, std::uint64_t yes) {
  const ptx::Operand& operand = decoder.operand(index);
  if (operand.kind != ptx::OperandKind::integer || (operand.bits != no && operand.bits != yes))
    decoder.fail(fmt::format("operand {} is {} or {}", index + 1, static_cast<std::int64_t>(no),
                             static_cast<std::int64_t>(yes)));
  return operand.bits == yes;
}

void check_registers(const Decoder& decoder, const Fragment& fragment) {
  for (const Place place : fragment.registers)
    if (place.bank != 0 || place.offset == 0)
      decoder.fail("a matrix in registers has a register for each of its parts");
}

void decode_multiply(Decoder& decoder) {
  take_collective(decoder);
  ProductCode product;
  const MatrixType d = take_matrix_type(decoder);
  product.a_type = take_matrix_type(decoder);
  product.b_type = take_matrix_type(decoder);
  const MatrixKind kind = kind_of(decoder, product.a_type);
  const bool may_mix = kind == MatrixKind::f8 || kind == MatrixKind::integer;
  if (kind == MatrixKind::f64 || kind_of(decoder, product.b_type) != kind ||
      (!may_mix && product.a_type != product.b_type) || !accumulates(kind, d))
    decoder.fail(fmt::format("no product of .{} and .{} in .{} is known", name_of(product.a_type),
                             name_of(product.b_type), name_of(d)));
  product.n = take_columns(decoder, kind);
  product.k = depth_of(kind);
  product.saturates = kind == MatrixKind::integer && decoder.take("satfinite");
  product.d =
      take_mma_fragment(decoder, 0, MatrixOperand::accumulator, rows_of_warp, product.n, d, true);
  check_registers(decoder, product.d);
  const bool has_registers = decoder.operand(1).kind == ptx::OperandKind::vector;
  if (has_registers) {
    product.a = take_mma_fragment(decoder, 1, MatrixOperand::a, rows_of_warp, product.k,
                                  product.a_type, false);
    check_registers(decoder, product.a);
  } else {
    product.a_descriptor = decoder.source(1, ptx::Type::b64);
  }
  product.b_descriptor = decoder.source(2, ptx::Type::b64);
  product.scale = decoder.predicate(3, product.is_scale_negated);
  const bool has_signs = kind != MatrixKind::integer;
  const bool has_majors = kind == MatrixKind::f16 || kind == MatrixKind::bf16;
  decoder.expect_operands(!has_signs ? 4 : !has_majors ? 6 : has_registers ? 7 : 8);
  if (has_signs) {
    product.negates_a = take_choice(decoder, 4, 1, ~std::uint64_t{0});
    product.negates_b = take_choice(decoder, 5, 1, ~std::uint64_t{0});
  }
  if (has_majors) {
    product.is_a_mn_major = !has_registers && take_choice(decoder, 6, 0, 1);
    product.is_b_mn_major = take_choice(decoder, has_registers ? 6 : 7, 0, 1);
  }
  decoder.code.product = &decoder.layout().code().products.emplace_back(std::move(product));
  decoder.emit(multiply);
}

void needs_hopper(Decoder& decoder) {
  const ptx::Module& module = decoder.layout().module();
  if (module.target != 90 || !module.is_target_specific)
    decoder.fail("'wgmma' needs the target sm_90a");
}

void decode_wgmma(Decoder& decoder) {
  needs_hopper(decoder);
  if (decoder.take("mma_async")) {
    if (decoder.take("sp")) decoder.fail("sparse products are not emulated");
    if (decoder.take("b1")) decoder.fail("products of single bits are not emulated");
    return decode_multiply(decoder);
  }
  const bool fences = decoder.take("fence"), commits = !fences && decoder.take("commit_group");
  if (!fences && !commits) decoder.expect("wait_group");
  take_collective(decoder);
  decoder.expect_operands(fences || commits ? 0 : 1);
  if (fences) return decoder.emit(fence);
  if (commits) return decoder.emit(commit);
  const ptx::Operand& pending = decoder.operand(0);
  if (pending.kind != ptx::OperandKind::integer || pending.bits > 0xffffffff)
    decoder.fail("the number of groups is a constant");
  decoder.code.target = static_cast<std::uint32_t>(pending.bits);
  decoder.emit(wait_groups);
}

/// The pool of registers is not emulated: an increase never waits.
void decode_setmaxnreg(Decoder& decoder) {
  decoder.needs(90);
  if (!decoder.layout().module().is_target_specific)
    decoder.fail("'setmaxnreg' needs .target sm_90a");
  decoder.code.flag = decoder.take("inc");
  if (!decoder.code.flag) decoder.expect("dec");
  take_collective(decoder);
  if (decoder.type() != ptx::Type::u32) decoder.fail("setmaxnreg takes .u32");
  decoder.expect_operands(1);
  const ptx::Operand& count = decoder.operand(0);
  if (count.kind != ptx::OperandKind::integer || count.bits < 24 || count.bits > 256 ||
      count.bits % 8 != 0)
    decoder.fail("a count of registers is a multiple of 8 from 24 to 256");
  decoder.code.target = static_cast<std::uint32_t>(count.bits);
  decoder.emit(set_max_registers);
}

const Opcodes opcodes{{"wgmma", decode_wgmma}, {"setmaxnreg", decode_setmaxnreg}};

}  // namespace
}  // namespace emulator
