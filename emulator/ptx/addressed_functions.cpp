#include "emulator/ptx/addressed_functions.h"

#include <algorithm>
#include <set>

namespace emulator::ptx {
namespace {

/// The name at the end of `mov.u64 %rd1, name`; empty for another statement.
std::string_view moved_name(std::string_view statement) {
  const std::size_t mov = statement.find("mov."), comma = statement.rfind(',');
  if (mov == statement.npos || comma == statement.npos) return {};
  statement.remove_prefix(comma + 1);
  const std::size_t begin = statement.find_first_not_of(" \t\n");
  if (begin == statement.npos) return {};
  statement.remove_prefix(begin);
  return statement.substr(0, statement.find_first_of(" \t\n+"));
}

}  // namespace

std::vector<const Function*> addressed_functions(const Module& module) {
  std::set<std::string_view> names;
  for (const Variable& variable : module.variables)
    for (const InitialValue& value : variable.initial) names.insert(value.symbol);
  for (std::string_view rest = module.text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    names.insert(moved_name(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<const Function*> functions;
  for (const Function& function : module.functions)
    if (function.has_body && !function.is_entry && names.contains(function.name))
      functions.push_back(&function);
  return functions;
}

}  // namespace emulator::ptx
