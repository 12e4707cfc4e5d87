#include "reports/page/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <stdexcept>

#include "reports/assets.h"
#include "reports/text/xml_text.h"

namespace assay::page {
namespace {

namespace mustache = kainjow::mustache;

constexpr std::string_view templates_folder = "page/templates/";
constexpr std::string_view ending = ".mustache";

mustache::data data_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::object: {
      mustache::data object;
      for (const auto& [key, value] : json.items()) object[key] = data_of(value);
      return object;
    }
    case Json::value_t::array: {
      mustache::list list;
      list.reserve(json.size());
      for (const Json& value : json) list.push_back(data_of(value));
      return mustache::data(list);
    }
    case Json::value_t::string: {
      const auto& text = json.get_ref<const std::string&>();
      return text.empty() ? mustache::data(false) : mustache::data(text);
    }
    case Json::value_t::boolean:
      return mustache::data(json.get<bool>());
    case Json::value_t::null:
      return mustache::data(false);
    default:
      return mustache::data(json.dump());
  }
}

std::string path_of(std::string_view name) {
  return fmt::format("{}{}{}", templates_folder, name, ending);
}

}  // namespace

bool has_template(std::string_view name) {
  return std::ranges::count(all_assets(), path_of(name), &Asset::path) > 0;
}

std::string render(std::string_view name, const Json& data) {
  mustache::data root = data_of(data);
  for (const Asset& one : all_assets()) {
    std::string_view partial = one.path;
    if (!partial.starts_with(templates_folder)) continue;
    partial.remove_prefix(templates_folder.size());
    partial.remove_suffix(ending.size());
    root["/" + std::string(partial)] =
        mustache::data(mustache::partial([&one] { return std::string(one.text); }));
  }
  mustache::mustache page(std::string(asset(path_of(name))));
  page.set_custom_escape([](const std::string& text) { return xml_text(text); });
  const std::string text = page.render(root);
  if (!page.is_valid()) {
    throw std::logic_error(fmt::format("template {}: {}", name, page.error_message()));
  }
  return text;
}

}  // namespace assay::page
