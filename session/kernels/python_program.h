#pragma once

#include <filesystem>
#include <string>

#include "session/options/trial_options.h"

// The Python that runs what users write in it, and the files of Assay that it runs first.
namespace assay {

/// Folder of an installation's modules and data.
std::filesystem::path library_folder();
/// Folder of the package `assay`.
std::filesystem::path python_folder();

/// Name or path of the Python of --python. An environment that the program is installed in names
/// its own by the variable ASSAY_PYTHON (docs/package.md).
std::string python_of(const TrialOptions& options);
/// Program of that name or path; empty if there is none.
std::filesystem::path find_in_path(const std::string& program);
/// Throws UsageError if the Python of the options is no program.
void check_python(const TrialOptions& options);

/// Time limit for a file to be loaded: PyTorch from a cold disk, less than a worker may take
/// (hello_s).
inline constexpr double python_limit_s = 50;

}  // namespace assay
