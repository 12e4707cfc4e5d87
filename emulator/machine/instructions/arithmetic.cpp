#include "emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

using DecodeTyped = void (*)(Decoder&, ptx::Type);

void by_type(Decoder& decoder, DecodeTyped integer, DecodeTyped floating) {
  const ptx::Type type = decoder.type();
  if (ptx::is_integer(type)) return integer(decoder, type);
  if (type == ptx::Type::f32 || type == ptx::Type::f64) return floating(decoder, type);
  if (!ptx::is_float(type)) decoder.fail_type(type);
  decode_half(decoder, type, decoder.instruction().opcode);
}

}  // namespace

void decode_add(Decoder& decoder) { by_type(decoder, decode_integer_add, decode_float_add); }
void decode_sub(Decoder& decoder) { by_type(decoder, decode_integer_sub, decode_float_sub); }
void decode_mul(Decoder& decoder) { by_type(decoder, decode_integer_mul, decode_float_mul); }
void decode_mad(Decoder& decoder) { by_type(decoder, decode_integer_mad, decode_float_mad); }
void decode_div(Decoder& decoder) { by_type(decoder, decode_integer_div, decode_float_div); }
void decode_abs(Decoder& decoder) { by_type(decoder, decode_integer_abs, decode_float_abs); }
void decode_neg(Decoder& decoder) { by_type(decoder, decode_integer_neg, decode_float_neg); }
void decode_min(Decoder& decoder) { by_type(decoder, decode_integer_min, decode_float_min); }
void decode_max(Decoder& decoder) { by_type(decoder, decode_integer_max, decode_float_max); }

}  // namespace emulator
