#pragma once

#include <string>
#include <string_view>

#include "reports/page/page_input.h"
#include "reports/page/render.h"

namespace assay::page {

/// Beginning of each page.
inline constexpr std::string_view page_begin =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"generator\" content=\"assay\">";

/// Returns what the templates show: parts by their name, null where a page has no such part.
Json page_data(const PageInput& input);

/// Returns one HTML file that needs no other and no network. It reads from top to bottom without
/// scripts. With scripts its tables sort and filter, with their state in the URL. Throws UsageError
/// if `baseline` names no column.
std::string page_html(const PageInput& input);

}  // namespace assay::page
