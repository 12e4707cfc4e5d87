#pragma once

#include <span>
#include <string_view>

#include "kernels/reference/expected.h"

namespace assay::reference {

struct ReferenceRow {
  std::string_view op;
  Reference (*choose)(const OpInstance&);
};

/// References, by family: the function NAME_references() of each file NAME.cpp that has one.
std::span<std::span<const ReferenceRow> (*const)()> references_families();

}  // namespace assay::reference
