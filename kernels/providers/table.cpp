#include "kernels/providers/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay::providers {
namespace {

/// Formats that the op has, or those that an offer names.
std::vector<Format> formats_of(const Op& op, const char* text) {
  if (text == nullptr) return op.formats;
  std::vector<Format> formats;
  std::vector<std::string> known;
  for (const Format format : op.formats) known.emplace_back(name(format));
  for (const std::string& word : split(text, ',')) {
    const auto format = parse_format(word);
    if (!format || std::ranges::find(op.formats, *format) == op.formats.end()) {
      throw UsageError(fmt::format("its op {}: {}", op.name, unknown_name("dtype", word, known)));
    }
    formats.push_back(*format);
  }
  return formats;
}

}  // namespace

Offers read_offers(const assay_kernel_table& table) {
  if (table.version != ASSAY_KERNEL_VERSION) {
    throw UsageError(
        fmt::format("it is made for version {} of assay_kernel.h, and this program has version {}: "
                    "compile it again with the header in the folder of assay --include-dir",
                    table.version, ASSAY_KERNEL_VERSION));
  }
  if (table.name == nullptr || table.create == nullptr || table.launch == nullptr ||
      table.destroy == nullptr || table.last_error == nullptr) {
    throw UsageError("its table lacks a name, or one of create, launch, destroy and last_error");
  }
  std::vector<std::string> known;
  for (const Op& op : op_table()) {
    if (may_be_offered(op)) known.emplace_back(op.name);
  }
  Offers offers{.name = table.name};
  for (const assay_offer& offer :
       std::span(table.offers, static_cast<std::size_t>(std::max(0, table.offer_count)))) {
    const std::string word = offer.op == nullptr ? "" : offer.op;
    const Op* op = find_op(word);
    if (op == nullptr || !may_be_offered(*op)) {
      throw UsageError("it offers an op that it cannot: " + unknown_name("op", word, known));
    }
    offers.ops.push_back({word, formats_of(*op, offer.dtypes), offer.takes_views != 0});
  }
  if (offers.ops.empty()) throw UsageError("it offers no op");
  return offers;
}

}  // namespace assay::providers
