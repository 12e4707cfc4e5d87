#include "kernels/device/backends.h"

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "kernels/core/names.h"
#include "kernels/core/this_program.h"

namespace assay {
namespace {

constexpr std::string_view module_prefix = "assay_";

/// Returns "toy" for assay_toy.so.
std::string kind_of_module(const std::filesystem::path& file) {
  return file.stem().string().substr(module_prefix.size());
}

}  // namespace

void Backends::add(std::unique_ptr<Backend> backend) { backends_.push_back(std::move(backend)); }

void Backends::load_modules(const std::filesystem::path& folder) {
  std::error_code missing;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with(module_prefix) && file.ends_with(".so")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // the order of a directory is arbitrary
  for (const auto& file : files) {
    try {
      LoadedModule module = load_module(file);
      modules_.push_back(std::move(module.handle));
      backends_.push_back(std::move(module.backend));
    } catch (const std::exception& error) {
      module_problems_.push_back({kind_of_module(file), error.what()});
    }
  }
}

Backend* Backends::find(std::string_view kind) const {
  const auto found = std::find_if(backends_.begin(), backends_.end(),
                                  [&](const auto& backend) { return backend->kind() == kind; });
  return found == backends_.end() ? nullptr : found->get();
}

std::vector<DeviceInfo> Backends::describe() const {
  std::vector<DeviceInfo> devices;
  for (const auto& backend : backends_) {
    auto more = backend->describe();
    std::move(more.begin(), more.end(), std::back_inserter(devices));
  }
  return devices;
}

std::vector<BackendTraits> Backends::traits() const {
  std::vector<BackendTraits> traits;
  for (const auto& backend : backends_) traits.push_back(backend->traits());
  return traits;
}

std::vector<BackendProblem> Backends::problems() const {
  std::vector<BackendProblem> problems = module_problems_;
  for (const auto& backend : backends_) {
    for (std::string& text : backend->problems()) {
      problems.push_back({backend->kind(), std::move(text)});
    }
  }
  return problems;
}

std::vector<std::filesystem::path> module_folders() {
  std::vector<std::filesystem::path> folders;
  folders.push_back(this_program().parent_path().parent_path() / "lib" / "assay");
  if (const char* path = std::getenv("ASSAY_BACKEND_PATH")) {
    for (const std::string& folder : split(path, ':')) {
      if (!folder.empty()) folders.emplace_back(folder);
    }
  }
  return folders;
}

}  // namespace assay
