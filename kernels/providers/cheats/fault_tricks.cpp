#include "kernels/providers/cheats/trick.h"
namespace assay::cheats {
std::span<const Entry> fault_tricks() { return {}; }
std::span<const Entry> message_tricks() { return {}; }
}  // namespace assay::cheats
