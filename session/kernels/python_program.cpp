#include "session/kernels/python_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/core/this_program.h"

namespace assay {

namespace fs = std::filesystem;

fs::path library_folder() { return this_program().parent_path().parent_path() / "lib" / "assay"; }

fs::path python_folder() { return library_folder() / "python"; }

std::string python_of(const TrialOptions& options) {
  if (!options.python.empty()) return options.python;
  const char* python = std::getenv("ASSAY_PYTHON");
  return python == nullptr || *python == '\0' ? "python3" : python;
}

fs::path find_in_path(const std::string& program) {
  const auto is_program = [](const fs::path& file) {
    return fs::is_regular_file(file) && access(file.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos)
    return is_program(program) ? fs::path(program) : fs::path();
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    if (const fs::path file = fs::path(folder) / program; is_program(file)) return file;
  }
  return {};
}

void check_python(const TrialOptions& options) {
  if (const std::string python = python_of(options); find_in_path(python).empty()) {
    throw UsageError(fmt::format("--python: there is no program '{}'", python));
  }
}

}  // namespace assay
