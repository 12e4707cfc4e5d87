#pragma once

#include <filesystem>

namespace assay {

/// Path of the running program. Throws std::runtime_error where /proc is not mounted.
std::filesystem::path this_program();

}  // namespace assay
