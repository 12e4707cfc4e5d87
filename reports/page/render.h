#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace assay::page {

using Json = nlohmann::json;

/// True if there is a template reports/page/templates/NAME.mustache.
bool has_template(std::string_view name);

/// Fills the template. All text is escaped; only `{{{chart}}}`, `{{{section}}}`, `{{{style}}}` and
/// `{{{script}}}` are markup of our own. Null, false, empty text and empty lists make a section
/// disappear. A key that an object lacks is looked up in the objects around it. Throws
/// std::logic_error if the template is malformed.
std::string render(std::string_view name, const Json& data);

}  // namespace assay::page
