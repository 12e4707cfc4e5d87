#pragma once

namespace assay {

/// Adds the suite of the ops that are defined (kernels/ops/defined.h).
void add_suite_of_defined_ops();

}  // namespace assay
