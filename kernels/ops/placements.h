#pragma once

#include "kernels/ops/row.h"

// Ops that are steps on the placement layer (harness/placement): where tensors and modules are, and
// how they get there. No backend has a kernel of these names; the layer calls kernels of others.
namespace assay {

/// Which devices a family needs beside the CPU, which is always there.
enum class Needs {
  nothing,       // also makes sense on the CPU alone
  other_device,  // at least one beside the CPU
};

/// y = x by a detour of one step or several; n elements.
Op placed_copy(const OpRow& row, Needs needs);
Op visible_mask_op(const OpRow& row);
/// The same over `devices` devices together.
Op placed_copy_over_devices(const OpRow& row);
Op most_free_op(const OpRow& row);
/// Rows and columns that lie as `layout` says.
Op round_trip_op(const OpRow& row);
Op device_guard_op(const OpRow& row);
Op results_stay_op(const OpRow& row);
/// [1, 2, 3] squared.
Op square_123_op(const OpRow& row);
Op linear_module_op(const OpRow& row);
Op sequential_op(const OpRow& row);
Op manual_seed_op(const OpRow& row);
Op manual_seed_all_op(const OpRow& row);
Op data_parallel_op(const OpRow& row);
Op distributed_gradient_op(const OpRow& row);

}  // namespace assay
