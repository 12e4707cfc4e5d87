#include "reports/atomic_file.h"

#include <system_error>

#include "reports/append_file.h"

namespace assay {

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path part = path;
  part += ".part";
  std::filesystem::remove(part);  // of a run that was killed
  try {
    AppendFile file(part);
    file.write(text);
    file.sync();  // or a power cut after the rename could leave an empty file
    std::filesystem::rename(part, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw;
  }
}

}  // namespace assay
