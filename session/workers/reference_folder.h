#pragma once

#include <filesystem>
#include <string_view>

namespace assay {

/// Folder in which the workers of a run share references; removed when the run ends.
class ReferenceFolder {
 public:
  /// Removes the folder that a killed run left in `directory`. Makes a new one if the workers are
  /// to share and it can be made; otherwise they share nothing.
  ReferenceFolder(const std::filesystem::path& directory, std::string_view name, bool shares);
  ~ReferenceFolder();
  ReferenceFolder(const ReferenceFolder&) = delete;
  ReferenceFolder& operator=(const ReferenceFolder&) = delete;

  /// Empty if there is none.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace assay
