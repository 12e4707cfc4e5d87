#pragma once

#include <filesystem>
#include <memory>

#include "kernels/device/backend.h"

namespace assay {

/// Result of a module's one C entry point. The classes that cross this border have no stable ABI,
/// so a module works only with the build it came with: `build_id` decides.
struct ModuleEntry {
  const char* build_id;
  Backend* (*create)();  // the caller owns the result
};

/// The name of the entry point: `extern "C" const assay::ModuleEntry* assay_module()`.
inline constexpr const char* module_entry_name = "assay_module";
using ModuleEntryPoint = const ModuleEntry* (*)();

struct CloseModule {
  void operator()(void* handle) const noexcept;
};
using ModuleHandle = std::unique_ptr<void, CloseModule>;

struct LoadedModule {
  ModuleHandle handle;
  std::unique_ptr<Backend> backend;
};

/// Throws std::runtime_error that names the file if it is no module, or belongs to another build.
LoadedModule load_module(const std::filesystem::path& file);

}  // namespace assay
