#include "session/kernels/given_file.h"

#include <algorithm>
#include <string>

#include "reports/files/checksum.h"
#include "reports/files/csv_file.h"

namespace assay {

namespace fs = std::filesystem;

std::vector<fs::path> python_files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() == ".py" && file.is_regular_file()) files.push_back(file.path());
  }
  std::ranges::sort(files);
  return files;
}

GivenFile given_file(const fs::path& path) {
  if (path.empty()) return {};
  const fs::path absolute = fs::absolute(path).lexically_normal();
  if (!fs::is_directory(path)) return {.path = absolute, .crc32 = crc32_text(read_text(path))};
  std::string all;
  for (const fs::path& file : python_files_of(path)) {
    all += file.filename().string() + '\n' + read_text(file);
  }
  return {.path = absolute, .crc32 = crc32_text(all)};
}

}  // namespace assay
