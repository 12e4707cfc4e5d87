#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay::cuda {

/// A shared library that is opened when it is first needed, so that its absence costs only what
/// needs it. Never closed: libraries that hold state of a GPU do not survive it.
class Library {
 public:
  /// `name` as the loader finds it, and then in each of `folders`.
  Library(const std::string& name, std::span<const std::filesystem::path> folders);

  bool is_open() const { return handle_ != nullptr; }
  /// "libcublasLt.so.13 not found": why it is not open.
  const std::string& problem() const { return problem_; }

  /// Null where the library has no such function.
  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(address_of(name));
  }

  /// The same into `function`; where there is none, `problem` says so, unless it says something.
  template <class Function>
  void bind(Function& function, const char* name, std::string& problem) const {
    function = find<Function>(name);
    if (function == nullptr && problem.empty())
      problem = name_ + " has no function " + std::string(name);
  }

 private:
  void* address_of(const char* name) const;

  std::string name_;
  void* handle_ = nullptr;
  std::string problem_;
};

/// Where CUDA's libraries are sought beside the loader's own places, in order: the folders of the
/// environment's ASSAY_CUDA_LIBS (separated by colons), the toolkit's usual folder, and where
/// Python packages keep them: `nvidia/<part>/lib` in each folder of `site_packages`.
std::vector<std::filesystem::path> library_folders();
std::vector<std::filesystem::path> package_folders(
    std::span<const std::filesystem::path> site_packages);

}  // namespace assay::cuda
