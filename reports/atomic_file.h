#pragma once

#include <filesystem>
#include <string_view>

namespace assay {

/// Writes the whole file under a name beside it, then renames: a reader sees the old content or
/// the new, never a part. Throws std::system_error that names the file; the old one stands then.
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace assay
