#include "kernels/device/launcher.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "kernels/core/version.h"

namespace assay {

std::unique_ptr<ProcessGroup> join_job(const LaunchInfo& info,
                                       std::span<const std::filesystem::path> folders) {
  std::string why =
      ": no MPI module is here: install Open MPI (Debian: libopenmpi-dev) and build again";
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path file = folder / launcher_file;
    // Never closed: MPI cannot be started twice. RTLD_GLOBAL: the parts that MPI loads itself need
    // its symbols.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) {
      const std::string error = dlerror();
      std::error_code missing;
      if (std::filesystem::exists(file, missing))
        why = ": " + error;  // its MPI library was not found
      continue;
    }
    const auto entry_point =
        reinterpret_cast<LauncherEntryPoint>(dlsym(handle, launcher_entry_name));
    const LauncherEntry* entry = entry_point == nullptr ? nullptr : entry_point();
    if (entry == nullptr || entry->build_id != std::string(version::build_id)) {
      throw std::runtime_error(file.string() + ": not of this build of assay");
    }
    std::unique_ptr<ProcessGroup> job(entry->join());
    if (job->size() != info.size || job->rank() != info.rank) {
      throw std::runtime_error(info.launcher + " says rank " + std::to_string(info.rank) + " of " +
                               std::to_string(info.size) + ", " + job->library() + " says rank " +
                               std::to_string(job->rank()) + " of " + std::to_string(job->size()) +
                               ": start assay by the launcher of that library");
    }
    return job;
  }
  throw std::runtime_error(info.launcher + " started this process, and its job cannot be joined" +
                           why);
}

}  // namespace assay
