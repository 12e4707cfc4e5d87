#pragma once

#include <filesystem>
#include <memory>

#include "kernels/device/backend.h"

namespace assay {

/// What a module's one C entry point returns. The classes that cross this border have no stable
/// ABI, so a module serves only the build that it came with: `build_id` decides.
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

/// Throws std::runtime_error, naming the file, when it is no module or of another build.
LoadedModule load_module(const std::filesystem::path& file);

}  // namespace assay
