#include <algorithm>
#include <array>

#include "tests/cuda_emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

constexpr std::array table{
    // Sorted by name.
    OpcodeRow{"abs", decode_abs},
    OpcodeRow{"activemask", decode_activemask},
    OpcodeRow{"add", decode_add},
    OpcodeRow{"addc", decode_addc},
    OpcodeRow{"and", decode_and},
    OpcodeRow{"atom", decode_atom},
    OpcodeRow{"bar", decode_bar},
    OpcodeRow{"barrier", decode_barrier},
    OpcodeRow{"bfe", decode_bfe},
    OpcodeRow{"bfi", decode_bfi},
    OpcodeRow{"bfind", decode_bfind},
    OpcodeRow{"bmsk", decode_bmsk},
    OpcodeRow{"bra", decode_bra},
    OpcodeRow{"brev", decode_brev},
    OpcodeRow{"brkpt", decode_brkpt},
    OpcodeRow{"brx", decode_brx},
    OpcodeRow{"call", decode_call},
    OpcodeRow{"clz", decode_clz},
    OpcodeRow{"cnot", decode_cnot},
    OpcodeRow{"copysign", decode_copysign},
    OpcodeRow{"cos", decode_cos},
    OpcodeRow{"cvt", decode_cvt},
    OpcodeRow{"cvta", decode_cvta},
    OpcodeRow{"div", decode_div},
    OpcodeRow{"dp2a", decode_dp2a},
    OpcodeRow{"dp4a", decode_dp4a},
    OpcodeRow{"elect", decode_elect},
    OpcodeRow{"ex2", decode_ex2},
    OpcodeRow{"exit", decode_exit},
    OpcodeRow{"fence", decode_fence},
    OpcodeRow{"fma", decode_fma},
    OpcodeRow{"fns", decode_fns},
    OpcodeRow{"isspacep", decode_isspacep},
    OpcodeRow{"ld", decode_ld},
    OpcodeRow{"ldmatrix", decode_ldmatrix},
    OpcodeRow{"ldu", decode_ldu},
    OpcodeRow{"lg2", decode_lg2},
    OpcodeRow{"lop3", decode_lop3},
    OpcodeRow{"mad", decode_mad},
    OpcodeRow{"mad24", decode_mad24},
    OpcodeRow{"madc", decode_madc},
    OpcodeRow{"match", decode_match},
    OpcodeRow{"max", decode_max},
    OpcodeRow{"membar", decode_fence},
    OpcodeRow{"min", decode_min},
    OpcodeRow{"mma", decode_mma},
    OpcodeRow{"mov", decode_mov},
    OpcodeRow{"movmatrix", decode_movmatrix},
    OpcodeRow{"mul", decode_mul},
    OpcodeRow{"mul24", decode_mul24},
    OpcodeRow{"nanosleep", decode_nanosleep},
    OpcodeRow{"neg", decode_neg},
    OpcodeRow{"not", decode_not},
    OpcodeRow{"or", decode_or},
    OpcodeRow{"pmevent", decode_pmevent},
    OpcodeRow{"popc", decode_popc},
    OpcodeRow{"prefetch", decode_prefetch},
    OpcodeRow{"prefetchu", decode_prefetchu},
    OpcodeRow{"prmt", decode_prmt},
    OpcodeRow{"rcp", decode_rcp},
    OpcodeRow{"red", decode_red},
    OpcodeRow{"rem", decode_rem},
    OpcodeRow{"ret", decode_ret},
    OpcodeRow{"rsqrt", decode_rsqrt},
    OpcodeRow{"sad", decode_sad},
    OpcodeRow{"selp", decode_selp},
    OpcodeRow{"set", decode_set},
    OpcodeRow{"setp", decode_setp},
    OpcodeRow{"shf", decode_shf},
    OpcodeRow{"shfl", decode_shfl},
    OpcodeRow{"shl", decode_shl},
    OpcodeRow{"shr", decode_shr},
    OpcodeRow{"sin", decode_sin},
    OpcodeRow{"slct", decode_slct},
    OpcodeRow{"sqrt", decode_sqrt},
    OpcodeRow{"st", decode_st},
    OpcodeRow{"stmatrix", decode_stmatrix},
    OpcodeRow{"sub", decode_sub},
    OpcodeRow{"subc", decode_subc},
    OpcodeRow{"szext", decode_szext},
    OpcodeRow{"tanh", decode_tanh},
    OpcodeRow{"testp", decode_testp},
    OpcodeRow{"trap", decode_trap},
    OpcodeRow{"vote", decode_vote},
    OpcodeRow{"wmma", decode_wmma},
    OpcodeRow{"xor", decode_xor},
};
static_assert(std::ranges::is_sorted(table, {}, &OpcodeRow::name));

}  // namespace

DecodeFunction find_opcode(std::string_view name) {
  const auto* row = std::ranges::lower_bound(table, name, {}, &OpcodeRow::name);
  return row != table.end() && row->name == name ? row->decode : nullptr;
}

}  // namespace emulator
