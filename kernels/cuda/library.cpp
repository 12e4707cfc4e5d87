#include "kernels/cuda/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <system_error>

namespace assay::cuda {
namespace fs = std::filesystem;
namespace {

/// Lists a folder's entries in name order; empty if the folder is unreadable.
std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code unreadable;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, unreadable), end; !unreadable && at != end;
       at.increment(unreadable)) {
    found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

bool is_folder(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_directory(path, unreadable);
}

std::vector<fs::path> split(const char* list) {
  std::vector<fs::path> paths;
  std::string_view rest(list == nullptr ? "" : list);
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) paths.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return paths;
}

/// Lists the folders of the active environment, of the user and of the system's Pythons.
std::vector<fs::path> site_packages() {
  std::vector<fs::path> found;
  std::vector<fs::path> prefixes = split(std::getenv("VIRTUAL_ENV"));
  std::ranges::copy(split(std::getenv("CONDA_PREFIX")), std::back_inserter(prefixes));
  if (const char* home = std::getenv("HOME")) prefixes.push_back(fs::path(home) / ".local");
  for (const char* prefix : {"/usr/local", "/usr"}) prefixes.emplace_back(prefix);
  for (const fs::path& prefix : prefixes) {
    for (const fs::path& python : entries(prefix / "lib")) {
      if (!python.filename().string().starts_with("python3")) continue;
      for (const char* kind : {"site-packages", "dist-packages"}) {
        if (is_folder(python / kind)) found.push_back(python / kind);
      }
    }
  }
  return found;
}

}  // namespace

Library::Library(const std::string& name, std::span<const fs::path> folders) : name_(name) {
  problem_ = name + " not found";
  const auto open = [&](const fs::path& file) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    return handle_ != nullptr;
  };
  if (std::ranges::none_of(folders, &fs::path::empty)) open(name);
  for (const fs::path& folder : folders) {
    if (handle_ != nullptr) break;
    std::error_code unreadable;
    const fs::path file = folder / name;
    if (!folder.empty() && !fs::exists(file, unreadable)) continue;
    if (!open(file) && !folder.empty()) problem_ = dlerror();  // exists, does not load
  }
  if (handle_ != nullptr) problem_.clear();
}

void* Library::address_of(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

std::vector<fs::path> package_folders(std::span<const fs::path> site_packages) {
  std::vector<fs::path> found;
  for (const fs::path& packages : site_packages) {
    for (const fs::path& part : entries(packages / "nvidia")) {
      if (is_folder(part / "lib")) found.push_back(part / "lib");
    }
  }
  return found;
}

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders = split(std::getenv("ASSAY_CUDA_LIBS"));
  folders.emplace_back();  // the loader's places
  for (const fs::path& conda : split(std::getenv("CONDA_PREFIX"))) folders.push_back(conda / "lib");
  for (const char* usual : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib",
                            "/usr/local/nvidia/lib64", "/usr/lib/x86_64-linux-gnu"}) {
    folders.emplace_back(usual);
  }
  std::ranges::copy(package_folders(site_packages()), std::back_inserter(folders));
  return folders;
}

}  // namespace assay::cuda
