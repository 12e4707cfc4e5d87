#pragma once

#include <filesystem>
#include <string_view>

namespace assay::cli {

/// Where the workers of a run share references, gone when the run ends.
class ReferenceFolder {
 public:
  /// Makes it within `directory` if it can be made; else, and where the name is empty, workers
  /// share nothing.
  ReferenceFolder(const std::filesystem::path& directory, std::string_view name);
  ~ReferenceFolder();
  ReferenceFolder(const ReferenceFolder&) = delete;
  ReferenceFolder& operator=(const ReferenceFolder&) = delete;

  /// Empty when there is none.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::cli
