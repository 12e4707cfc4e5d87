#pragma once

#include <cstdint>

#include "kernels/ops/op.h"

namespace assay {

/// False if no result depends on an element of a rank's input, so that a kernel need not read it: a
/// row that no index chooses, what lies beside a slice, what a rank does not send.
bool reads(const OpInstance& op, int rank, int input, std::int64_t element);

}  // namespace assay
