#pragma once

#include <vector>

#include "kernels/ops/op.h"

// Families of ops that share parameters, tensors and rules, one file each. table.cpp joins them.
namespace assay {

std::vector<Op> elementwise_ops();
std::vector<Op> function_ops();
std::vector<Op> cast_ops();
std::vector<Op> random_ops();
std::vector<Op> reduction_ops();
std::vector<Op> scan_ops();
std::vector<Op> sort_ops();
std::vector<Op> rowwise_ops();
std::vector<Op> layout_ops();
std::vector<Op> matmul_ops();
std::vector<Op> quantize_ops();
std::vector<Op> copy_ops();
std::vector<Op> memory_stream_ops();
std::vector<Op> collective_ops();

}  // namespace assay
