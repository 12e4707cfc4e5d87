#pragma once

#include <optional>
#include <string>

#include "kernels/core/collective.h"
#include "kernels/ops/op.h"

// What backends need to know of a collective op of the table, beside its tensors.
namespace assay {

/// Empty for any other op.
std::optional<Collective> collective_of(const OpInstance& op);

/// True if the output of this collective is a reduction: its op has the parameter `reduce`.
bool reduces(Collective collective);

/// Rank that broadcasts, or to which all reduce; 0 for other collectives.
int root_of(const OpInstance& op);

/// Peers of a rank in a send_recv: its neighbours in the ring, or the one of its pair.
Peers peers_of(const OpInstance& op, int rank);

}  // namespace assay
