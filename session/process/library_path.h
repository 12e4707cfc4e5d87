#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Files in `folders`, as LD_LIBRARY_PATH lists them, that would take the place of libraries at
/// `loaded`: those of the same names, the first of each. The C library belongs to its loader.
std::vector<std::string> replacements(std::string_view folders,
                                      std::span<const std::string> loaded);

/// Variables that mean what LD_LIBRARY_PATH among them says. The loader looks into a program's
/// DT_RPATH before it, so the libraries that this program has from elsewhere are preloaded. Throws
/// UsageError for one whose path LD_PRELOAD cannot hold.
Variables with_library_path(Variables variables);

}  // namespace assay
