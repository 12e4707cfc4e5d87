#pragma once

#include "emulator/machine/decoder.h"

// The functions of the opcode table, by the file that holds them.
namespace emulator {

// integer.cpp
void decode_integer_add(Decoder&, ptx::Type);
void decode_integer_sub(Decoder&, ptx::Type);
void decode_integer_mul(Decoder&, ptx::Type);
void decode_integer_mad(Decoder&, ptx::Type);
void decode_integer_div(Decoder&, ptx::Type);
void decode_integer_abs(Decoder&, ptx::Type);
void decode_integer_neg(Decoder&, ptx::Type);
void decode_integer_min(Decoder&, ptx::Type);
void decode_integer_max(Decoder&, ptx::Type);
void decode_rem(Decoder&);
void decode_sad(Decoder&);
void decode_addc(Decoder&);
void decode_subc(Decoder&);
void decode_madc(Decoder&);
void decode_mul24(Decoder&);
void decode_mad24(Decoder&);
void decode_dp4a(Decoder&);
void decode_dp2a(Decoder&);

// bits.cpp
void decode_and(Decoder&);
void decode_or(Decoder&);
void decode_xor(Decoder&);
void decode_not(Decoder&);
void decode_cnot(Decoder&);
void decode_lop3(Decoder&);
void decode_shl(Decoder&);
void decode_shr(Decoder&);
void decode_shf(Decoder&);
void decode_popc(Decoder&);
void decode_clz(Decoder&);
void decode_bfind(Decoder&);
void decode_brev(Decoder&);
void decode_bfe(Decoder&);
void decode_bfi(Decoder&);
void decode_bmsk(Decoder&);
void decode_szext(Decoder&);
void decode_fns(Decoder&);
void decode_prmt(Decoder&);

// arithmetic.cpp: opcodes that integers and floating point share
void decode_add(Decoder&);
void decode_sub(Decoder&);
void decode_mul(Decoder&);
void decode_mad(Decoder&);
void decode_div(Decoder&);
void decode_abs(Decoder&);
void decode_neg(Decoder&);
void decode_min(Decoder&);
void decode_max(Decoder&);

// floating.cpp
void decode_float_add(Decoder&, ptx::Type);
void decode_float_sub(Decoder&, ptx::Type);
void decode_float_mul(Decoder&, ptx::Type);
void decode_float_div(Decoder&, ptx::Type);
void decode_float_abs(Decoder&, ptx::Type);
void decode_float_neg(Decoder&, ptx::Type);
void decode_float_min(Decoder&, ptx::Type);
void decode_float_max(Decoder&, ptx::Type);
void decode_float_mad(Decoder&, ptx::Type);
void decode_fma(Decoder&);
void decode_testp(Decoder&);
void decode_copysign(Decoder&);

// functions.cpp
void decode_approximate_div(Decoder&, ptx::Type);
void decode_rcp(Decoder&);
void decode_sqrt(Decoder&);
void decode_rsqrt(Decoder&);
void decode_sin(Decoder&);
void decode_cos(Decoder&);
void decode_lg2(Decoder&);
void decode_ex2(Decoder&);
void decode_tanh(Decoder&);

// half.cpp
void decode_half(Decoder&, ptx::Type, std::string_view opcode);

// compare.cpp
void decode_setp(Decoder&);
void decode_set(Decoder&);
void decode_selp(Decoder&);
void decode_slct(Decoder&);

// convert.cpp
void decode_cvt(Decoder&);

// convert_tf32.cpp
void decode_cvt_tf32(Decoder&);

// convert_f8.cpp
/// Returns false for a conversion that has nothing to do with pairs of 8-bit floats.
bool decode_cvt_f8(Decoder&);

// move.cpp
void decode_mov(Decoder&);
void decode_cvta(Decoder&);
void decode_isspacep(Decoder&);

// load_store.cpp
void decode_ld(Decoder&);
void decode_ldu(Decoder&);
void decode_st(Decoder&);
void decode_prefetch(Decoder&);
void decode_prefetchu(Decoder&);

// atomic.cpp
void decode_atom(Decoder&);
void decode_red(Decoder&);
void decode_fence(Decoder&);

// synchronise.cpp
void decode_bar(Decoder&);
void decode_barrier(Decoder&);
void decode_shfl(Decoder&);
void decode_vote(Decoder&);
void decode_match(Decoder&);
void decode_activemask(Decoder&);
void decode_elect(Decoder&);

// mma.cpp
void decode_mma(Decoder&);

// wmma.cpp
void decode_wmma(Decoder&);

// matrix_moves.cpp
void decode_ldmatrix(Decoder&);
void decode_stmatrix(Decoder&);
void decode_movmatrix(Decoder&);

// async_copy.cpp
void decode_cp(Decoder&);

// mbarrier.cpp
void decode_mbarrier(Decoder&);

// control.cpp
void decode_bra(Decoder&);
void decode_brx(Decoder&);
void decode_call(Decoder&);
void decode_ret(Decoder&);
void decode_exit(Decoder&);
void decode_trap(Decoder&);
void decode_brkpt(Decoder&);
void decode_nanosleep(Decoder&);
void decode_pmevent(Decoder&);
void decode_griddepcontrol(Decoder&);
void decode_setmaxnreg(Decoder&);

}  // namespace emulator
