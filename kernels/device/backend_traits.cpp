#include "kernels/device/backend_traits.h"

#include <algorithm>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay {

const BackendTraits& traits_of(std::span<const BackendTraits> backends, std::string_view kind) {
  const auto found = std::ranges::find(backends, kind, &BackendTraits::kind);
  if (found != backends.end()) return *found;
  std::vector<std::string> kinds;
  for (const BackendTraits& backend : backends) kinds.push_back(backend.kind);
  throw UsageError(unknown_name("device", std::string(kind), kinds));
}

bool applies_to(const OpInstance& op, const BackendTraits& backend) {
  const Op& row = *op.op;
  const auto has = [](const auto& values, auto value) {
    return std::ranges::find(values, value) != values.end();
  };
  if (!row.memory_spaces.empty() && !has(row.memory_spaces, backend.memory)) return false;
  return backend.has_matrix_units || !has(row.matrix_unit_formats, op.format);
}

}  // namespace assay
