#pragma once

#include "kernels/ops/offers.h"
#include "kernels/providers/assay_kernel.h"

namespace assay::providers {

/// Throws UsageError for a table of another version, one that lacks a function, and an op or dtype
/// that does not exist.
Offers read_offers(const assay_kernel_table& table);

}  // namespace assay::providers
