#include "emulator/ptx/types.h"

#include <array>

namespace emulator::ptx {
namespace {

struct Row {
  Type type;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array rows{
    Row{Type::pred, "pred", 0},   Row{Type::b8, "b8", 1},     Row{Type::b16, "b16", 2},
    Row{Type::b32, "b32", 4},     Row{Type::b64, "b64", 8},   Row{Type::b128, "b128", 16},
    Row{Type::u8, "u8", 1},       Row{Type::u16, "u16", 2},   Row{Type::u32, "u32", 4},
    Row{Type::u64, "u64", 8},     Row{Type::s8, "s8", 1},     Row{Type::s16, "s16", 2},
    Row{Type::s32, "s32", 4},     Row{Type::s64, "s64", 8},   Row{Type::f16, "f16", 2},
    Row{Type::f16x2, "f16x2", 4}, Row{Type::bf16, "bf16", 2}, Row{Type::bf16x2, "bf16x2", 4},
    Row{Type::f32, "f32", 4},     Row{Type::f64, "f64", 8},
};

}  // namespace

std::optional<Type> type_named(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::string_view name_of(Type type) { return rows[static_cast<std::size_t>(type)].name; }
std::size_t bytes_of(Type type) { return rows[static_cast<std::size_t>(type)].bytes; }
bool is_signed(Type type) { return type >= Type::s8 && type <= Type::s64; }
bool is_float(Type type) { return type >= Type::f16; }
bool is_bits(Type type) { return type >= Type::b8 && type <= Type::b128; }
bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }

std::optional<Space> space_named(std::string_view name) {
  if (name == "global") return Space::global;
  if (name == "shared" || name == "shared::cta" || name == "shared::cluster") return Space::shared;
  if (name == "local") return Space::local;
  if (name == "const") return Space::constant;
  if (name == "param" || name == "param::entry" || name == "param::func") return Space::parameter;
  if (name == "reg") return Space::reg;
  return std::nullopt;
}

}  // namespace emulator::ptx
