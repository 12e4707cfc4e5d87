#pragma once

#include <filesystem>

namespace assay::cli {

/// Where the workers of a run share references, gone when the run ends.
class ReferenceFolder {
 public:
  /// Makes it within `directory` if it is wanted and can be made; else workers share nothing.
  ReferenceFolder(const std::filesystem::path& directory, bool is_wanted);
  ~ReferenceFolder();
  ReferenceFolder(const ReferenceFolder&) = delete;
  ReferenceFolder& operator=(const ReferenceFolder&) = delete;

  /// Empty when there is none.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::cli
