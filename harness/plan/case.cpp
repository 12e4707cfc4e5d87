#include "harness/plan/case.h"

#include <vector>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay {

std::string Case::id() const {
  const bool is_short = op.op->name == suite || op.op->stands_for_suite == suite;
  const std::string id = (is_short ? "" : suite + "/") + std::string(op.op->name);
  const std::string of_dtype = id + "/" + std::string(name(op.format));
  return op.params.entries().empty() ? of_dtype : of_dtype + "/" + op.params.text();
}

Case parse_case_id(std::string_view id) {
  const auto refuse = [&](const std::string& why) {
    return UsageError("case '" + std::string(id) + "': " + why);
  };
  std::vector<std::string> parts = split(id, '/');
  const bool has_parameters = parts.size() != 2;
  if (!has_parameters) parts.emplace_back();
  if (parts.size() == 3) parts.insert(parts.begin() + 1, parts[0]);
  if (parts.size() != 4) {
    throw refuse("expected suite/op/dtype/name=value,... or suite/dtype/name=value,...");
  }
  const Op* op = find_op(parts[1]);
  if (op == nullptr) {
    std::vector<std::string> valid;
    for (const Op& known : op_table()) valid.emplace_back(known.name);
    throw refuse(unknown_name("op", parts[1], valid));
  }
  const auto format = parse_format(parts[2]);
  if (!format) {
    std::vector<std::string> valid;
    for (const Format known : all_formats()) valid.emplace_back(name(known));
    throw refuse(unknown_name("dtype", parts[2], valid));
  }
  Params params;
  const auto assignments = has_parameters ? split(parts[3], ',') : std::vector<std::string>();
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) throw refuse("'" + assignment + "' is not name=value");
    const std::string name = assignment.substr(0, equals);
    if (params.find(name) != nullptr) throw refuse("'" + name + "' is given twice");
    try {
      params.set(name, parse_parameter(*op, name, assignment.substr(equals + 1)));
    } catch (const UsageError& error) {
      throw refuse(error.what());
    }
  }
  try {
    const bool is_alias = !op->stands_for_suite.empty() && parts[0] == op->name;
    return Case{is_alias ? std::string(op->stands_for_suite) : parts[0],
                instantiate(*op, *format, params)};
  } catch (const UsageError& error) {
    throw refuse(error.what());
  }
}

}  // namespace assay
