#include "session/workers/reference_folder.h"

#include <system_error>

namespace assay {

namespace fs = std::filesystem;

ReferenceFolder::ReferenceFolder(const fs::path& directory, std::string_view name, bool shares) {
  const fs::path folder = directory / name;
  std::error_code error;
  fs::remove_all(folder, error);  // left by a killed run
  if (shares && fs::create_directory(folder, error)) path_ = fs::absolute(folder);
}

ReferenceFolder::~ReferenceFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace assay
