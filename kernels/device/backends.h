#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/backend.h"
#include "kernels/device/backend_problem.h"
#include "kernels/device/device_id.h"
#include "kernels/device/module.h"

namespace assay {

/// All backends of this process: built in, or found as modules.
class Backends {
 public:
  void add(std::unique_ptr<Backend> backend);

  /// Loads every `assay_*.so` of `folder` whose build id equals ours. Adds one line with the reason
  /// to `problems()` for each module that is not loaded. A missing folder is no problem.
  void load_modules(const std::filesystem::path& folder);

  /// Returns null when no backend has that kind.
  Backend* find(std::string_view kind) const;

  std::vector<DeviceInfo> describe() const;
  std::vector<BackendTraits> traits() const;

  /// Lists each module that was not loaded, and each library that a backend lacks.
  std::vector<BackendProblem> problems() const;

 private:
  std::vector<ModuleHandle> modules_;  // declared first: unloaded after the backends they made
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<BackendProblem> module_problems_;
};

/// Folders to search for modules, in order: `lib/assay` beside the program's folder, then each
/// folder of the environment variable ASSAY_BACKEND_PATH (separated by colons).
std::vector<std::filesystem::path> module_folders();

}  // namespace assay
