#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

/// Path of the running program. Throws std::runtime_error where /proc is not mounted.
std::filesystem::path this_program();

/// Command line of this process, as it was typed.
std::vector<std::string> command_line();

}  // namespace assay
