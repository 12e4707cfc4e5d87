#include "harness/records/formula_guard.h"

#include <charconv>

namespace assay {
namespace {

bool is_number(std::string_view text) {
  const char* const end = text.data() + text.size();
  const bool has_plus = text.starts_with('+') && !text.starts_with("+-");  // from_chars takes none
  const char* const begin = text.data() + (has_plus ? 1 : 0);
  double value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error != std::errc::invalid_argument && stop == end;
}

/// True if the cell begins as a formula, after any number of apostrophes.
bool begins_a_formula(std::string_view cell) {
  const std::size_t first = cell.find_first_not_of('\'');
  return first != std::string_view::npos &&
         std::string_view("=+-@\t\r").find(cell[first]) != std::string_view::npos;
}

}  // namespace

std::string guarded(std::string_view cell) {
  return (begins_a_formula(cell) && !is_number(cell) ? "'" : "") + std::string(cell);
}

std::string_view unguarded(std::string_view cell) {
  if (cell.starts_with('\'') && begins_a_formula(cell)) cell.remove_prefix(1);
  return cell;
}

}  // namespace assay
