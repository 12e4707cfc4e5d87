#include "emulator/libraries/faults.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace emulator {
namespace {

struct Row {
  LibraryFault fault;
  std::string_view name;
};
constexpr std::array rows{
    Row{LibraryFault::gelu_tanh, "gelu_tanh"},
    Row{LibraryFault::late_bias, "late_bias"},
    Row{LibraryFault::relu_drops_nan, "relu_drops_nan"},
    Row{LibraryFault::some_drop_nan, "some_drop_nan"},
    Row{LibraryFault::minmax_drops_nan, "minmax_drops_nan"},
    Row{LibraryFault::minmax_keeps_nan, "minmax_keeps_nan"},
    Row{LibraryFault::reordered_sums, "reordered_sums"},
    Row{LibraryFault::invalid_plans, "invalid_plans"},
    Row{LibraryFault::hanging_rank, "hanging_rank"},
    Row{LibraryFault::async_error, "async_error"},
    Row{LibraryFault::tf32_for_f32, "tf32_for_f32"},
    Row{LibraryFault::wrong_algorithm, "wrong_algorithm"},
    Row{LibraryFault::missing_element, "missing_element"},
    Row{LibraryFault::row_major_scales, "row_major_scales"},
};

unsigned chosen_from_environment() {
  const char* text = std::getenv("ASSAY_EMULATOR_FAULT");
  std::string_view rest(text == nullptr ? "" : text);
  unsigned chosen = 0;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (name.empty()) continue;
    const auto* const row = std::ranges::find(rows, name, &Row::name);
    if (row == rows.end()) {
      std::fprintf(stderr, "ASSAY_EMULATOR_FAULT: no fault is named %.*s\n",
                   static_cast<int>(name.size()), name.data());
      std::abort();
    }
    chosen |= 1U << static_cast<unsigned>(row->fault);
  }
  return chosen;
}

}  // namespace

bool has_fault(LibraryFault fault) {
  // Read at each call: tests change it. getenv is cheap beside any call of a library.
  return (chosen_from_environment() >> static_cast<unsigned>(fault) & 1) != 0;
}

}  // namespace emulator
