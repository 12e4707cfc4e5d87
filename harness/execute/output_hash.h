#pragma once

#include <span>
#include <string>

#include "kernels/core/host_tensor.h"

namespace assay {

/// Returns the XXH3 (64 bits, seed 0) of the elements of all tensors in turn, without gaps between
/// rows, as 16 hexadecimal digits. Equal on every machine for equal bits; shows accidental
/// differences, not forged ones.
std::string output_hash(std::span<const HostTensor> outputs);

}  // namespace assay
