#pragma once

#include "emulator/machine/decoder.h"

// The decoders of opcodes that several files share, by the file that holds them.
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

// functions.cpp
void decode_approximate_div(Decoder&, ptx::Type);

// half.cpp
void decode_half(Decoder&, ptx::Type, std::string_view opcode);

// convert_tf32.cpp
void decode_cvt_tf32(Decoder&);

// convert_f8.cpp
/// Returns false for a conversion that has nothing to do with pairs of 8-bit floats.
bool decode_cvt_f8(Decoder&);

// tensor_copy.cpp
/// cp.async.bulk.tensor, cp.async.bulk.prefetch.tensor and cp.reduce.async.bulk.tensor, behind
/// `tensor`.
void decode_tensor_copy(Decoder&);
void decode_tensor_prefetch(Decoder&);
void decode_tensor_reduction(Decoder&);

// bulk_reduction.cpp
/// cp.reduce, behind `reduce`.
void decode_bulk_reduction(Decoder&);

}  // namespace emulator
