#include "kernels/ops/arithmetic.h"

namespace assay {

std::string_view name(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::f32:
      return "f32";
    case Arithmetic::tf32:
      return "tf32";
    case Arithmetic::operands:
      return "operands";
    case Arithmetic::eager:
      return "eager";
  }
  __builtin_unreachable();
}

std::optional<Arithmetic> wider_than(Arithmetic now, Arithmetic allowed) {
  if (now == allowed) return std::nullopt;
  const bool has_a_step_between = now == Arithmetic::f32 && allowed == Arithmetic::eager;
  return has_a_step_between ? Arithmetic::operands : allowed;
}

}  // namespace assay
