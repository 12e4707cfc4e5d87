#pragma once

#include <span>
#include <string_view>

// Files of this folder that the build puts into the program, by their path below reports/.
namespace assay {

struct Asset {
  std::string_view path;
  std::string_view text;
};

std::span<const Asset> all_assets();

/// Returns a template, a style sheet or a script: "page/templates/table.mustache". Throws
/// std::logic_error for a path that the build does not know (reports/CMakeLists.txt).
std::string_view asset(std::string_view path);

/// SHA-256 of "page/assets/page.js" in hexadecimal, by which the page allows this script alone.
extern const std::string_view script_sha256;

}  // namespace assay
