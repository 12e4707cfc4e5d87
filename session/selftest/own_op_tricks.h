#pragma once

#include <filesystem>
#include <span>

#include "session/selftest/fault_catalogue.h"

namespace assay {

/// The tricks of kernels of fault_catalogue() on ops of a user that compute the same, of which
/// nothing is known but their references.
std::span<const Pairing> tricks_on_own_ops();

/// File that defines these ops, and what their names begin with.
std::filesystem::path own_ops_file();
inline constexpr const char* own_ops_prefix = "own_";

}  // namespace assay
