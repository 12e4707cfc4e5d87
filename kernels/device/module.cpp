#include "kernels/device/module.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "kernels/core/version.h"

namespace assay {

void CloseModule::operator()(void* handle) const noexcept { dlclose(handle); }

LoadedModule load_module(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    return std::runtime_error(file.string() + ": not loaded: " + why);
  };
  ModuleHandle handle(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle) throw refuse(dlerror());
  // dlsym returns a pointer to an object; POSIX prescribes this cast to a function.
  const auto entry_point =
      reinterpret_cast<ModuleEntryPoint>(dlsym(handle.get(), module_entry_name));
  if (entry_point == nullptr) throw refuse("it has no entry point assay_module");
  const ModuleEntry* entry = entry_point();
  if (entry == nullptr) throw refuse("its entry point gives nothing");
  if (entry->build_id != std::string(version::build_id)) {
    throw refuse("it was built as " + std::string(entry->build_id) + ", this program as " +
                 version::build_id);
  }
  std::unique_ptr<Backend> backend(entry->create());
  if (backend == nullptr) throw refuse("it makes no backend");
  return {std::move(handle), std::move(backend)};
}

}  // namespace assay
