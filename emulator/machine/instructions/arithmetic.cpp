#include "emulator/machine/instructions/rows.h"

// The opcodes that integers and floating point share.
namespace emulator {
namespace {

using DecodeTyped = void (*)(Decoder&, ptx::Type);

template <DecodeTyped integer, DecodeTyped floating>
void by_type(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (ptx::is_integer(type)) return integer(decoder, type);
  if (type == ptx::Type::f32 || type == ptx::Type::f64) return floating(decoder, type);
  if (!ptx::is_float(type)) decoder.fail_type(type);
  decode_half(decoder, type, decoder.instruction().opcode);
}

const Opcodes opcodes{{"add", by_type<decode_integer_add, decode_float_add>},
                      {"sub", by_type<decode_integer_sub, decode_float_sub>},
                      {"mul", by_type<decode_integer_mul, decode_float_mul>},
                      {"mad", by_type<decode_integer_mad, decode_float_mad>},
                      {"div", by_type<decode_integer_div, decode_float_div>},
                      {"abs", by_type<decode_integer_abs, decode_float_abs>},
                      {"neg", by_type<decode_integer_neg, decode_float_neg>},
                      {"min", by_type<decode_integer_min, decode_float_min>},
                      {"max", by_type<decode_integer_max, decode_float_max>}};

}  // namespace
}  // namespace emulator
