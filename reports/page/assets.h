#pragma once

#include <string_view>

// Written by the build from reports/page/assets.
namespace assay::page {

extern const std::string_view style_sheet;
extern const std::string_view script;
/// SHA-256 of the script in hexadecimal, by which the page allows this script alone.
extern const std::string_view script_sha256;

}  // namespace assay::page
