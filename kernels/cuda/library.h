#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay::cuda {

/// A shared library, opened when first needed, so that its absence affects only its users. Never
/// closed: libraries that hold GPU state do not survive it.
class Library {
 public:
  /// Looks for `name` in each of `folders`; in the loader's places where an empty path stands among
  /// them, or first where none does.
  Library(const std::string& name, std::span<const std::filesystem::path> folders);

  bool is_open() const { return handle_ != nullptr; }
  /// Reason why it is not open: "libcublasLt.so.13 not found".
  const std::string& problem() const { return problem_; }

  /// Returns null if the library has no such function.
  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(address_of(name));
  }

  /// Sets `function`. If the library lacks it, sets `problem`, unless that has text already.
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

/// Folders to search for CUDA's libraries, in order: those of the environment variable
/// ASSAY_CUDA_LIBS (separated by colons), the loader's places, `lib` of Conda's environment, the
/// toolkit's usual folder, and the folders of Python packages: `nvidia/<part>/lib` in each folder
/// of `site_packages`.
std::vector<std::filesystem::path> library_folders();
std::vector<std::filesystem::path> package_folders(
    std::span<const std::filesystem::path> site_packages);

}  // namespace assay::cuda
