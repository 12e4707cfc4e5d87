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

/// The backends of this process: those built in, and those found as modules.
class Backends {
 public:
  void add(std::unique_ptr<Backend> backend);

  /// Loads every `assay_*.so` of `folder` whose build id equals ours. A module that is not loaded
  /// leaves a line in `problems()` that says why. A missing folder is no problem.
  void load_modules(const std::filesystem::path& folder);

  /// Null when there is no backend of that kind.
  Backend* find(std::string_view kind) const;

  std::vector<DeviceInfo> describe() const;
  std::vector<BackendTraits> traits() const;

  /// Each module that was not loaded, and each library that a backend misses.
  std::vector<BackendProblem> problems() const;

 private:
  std::vector<ModuleHandle> modules_;  // declared first: unloaded after the backends they made
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<BackendProblem> module_problems_;
};

/// Where modules are sought, in order: `lib/assay` beside the program's folder, then each folder
/// of the environment's ASSAY_BACKEND_PATH (separated by colons).
std::vector<std::filesystem::path> module_folders();

}  // namespace assay
