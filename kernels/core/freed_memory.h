#pragma once

namespace assay {

/// Keeps freed memory in the process, for one that uses tensors of the same sizes repeatedly. By
/// default the allocator returns each to the system, which clears its pages again: a quarter of the
/// time of a check.
void keep_freed_memory();

}  // namespace assay
