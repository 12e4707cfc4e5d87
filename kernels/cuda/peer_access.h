#pragma once

#include <cstdint>

namespace assay::cuda {

/// Enables or disables direct access from GPU `from` to the memory of GPU `to`, and leaves `from`
/// the current one.
void set_peer_access(int from, int to, bool direct);

/// Throws DeviceError(not_here) if GPU `from` cannot reach the memory of GPU `to`.
void demand_peer_access(int from, int to);

/// Number of times that this process disabled an enabled access. Communicators made before may have
/// relied on it.
std::int64_t peer_access_losses();

}  // namespace assay::cuda
