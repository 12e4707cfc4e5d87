#include "kernels/core/params.h"

#include <stdexcept>

namespace assay {

std::string to_text(const ParamValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

void Params::set(std::string_view name, ParamValue value) {
  for (Entry& entry : entries_) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  entries_.emplace_back(std::string(name), std::move(value));
}

const ParamValue* Params::find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

namespace {

const ParamValue& at(const Params& params, std::string_view name) {
  if (const ParamValue* value = params.find(name)) return *value;
  throw std::out_of_range("no parameter '" + std::string(name) + "'");
}

}  // namespace

std::int64_t Params::integer(std::string_view name) const {
  return std::get<std::int64_t>(at(*this, name));
}

const std::string& Params::word(std::string_view name) const {
  return std::get<std::string>(at(*this, name));
}

std::int64_t Params::integer_or(std::string_view name, std::int64_t default_value) const {
  const ParamValue* value = find(name);
  return value == nullptr ? default_value : std::get<std::int64_t>(*value);
}

std::string Params::text(std::string_view separator) const {
  std::string text;
  for (const Entry& entry : entries_) {
    if (!text.empty()) text += separator;
    text += entry.first + "=" + to_text(entry.second);
  }
  return text;
}

}  // namespace assay
