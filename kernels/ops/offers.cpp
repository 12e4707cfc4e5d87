#include "kernels/ops/offers.h"

#include <algorithm>
#include <iterator>

#include "kernels/ops/views.h"

namespace assay {

bool may_be_offered(const Op& op) {
  return !op.is_scenario && !op.collective && !op.multi_device && op.memory_spaces.empty() &&
         op.name != "random";
}

bool Offers::have(const OpInstance& op) const {
  return may_be_offered(*op.op) && std::ranges::any_of(ops, [&](const Offer& offer) {
           return offer.op == op.op->name && (offer.takes_views || !has_view(op)) &&
                  std::ranges::find(offer.formats, op.format) != offer.formats.end();
         });
}

Offers common(const Offers& a, const Offers& b) {
  if (a.ops.empty()) return b;
  if (b.ops.empty()) return a;
  Offers both{.name = a.name == b.name ? a.name : a.name + " and " + b.name};
  for (const Offer& offer : a.ops) {
    const auto found = std::ranges::find(b.ops, offer.op, &Offer::op);
    if (found == b.ops.end()) continue;
    Offer& shared = both.ops.emplace_back(
        Offer{.op = offer.op, .takes_views = offer.takes_views && found->takes_views});
    std::ranges::copy_if(offer.formats, std::back_inserter(shared.formats), [&](Format format) {
      return std::ranges::find(found->formats, format) != found->formats.end();
    });
  }
  return both;
}

}  // namespace assay
