#pragma once

#include <string>
#include <vector>

#include "kernels/ops/op.h"

// The ops for which somebody else has kernels.
namespace assay {

struct Offer {
  std::string op;
  std::vector<Format> formats;
  bool takes_views = false;  // the cases with a view too

  bool operator==(const Offer&) const = default;
};

/// Name and ops of a provider of kernels.
struct Offers {
  std::string name;
  std::vector<Offer> ops;

  bool have(const OpInstance& op) const;

  bool operator==(const Offers&) const = default;
};

/// The ops of both. One without ops stands for a program's own kernels, which have all.
Offers common(const Offers& a, const Offers& b);

/// True for ops that others may have kernels for: they are kernels on one device, and neither copy
/// between memories nor draw Assay's random numbers.
bool may_be_offered(const Op& op);

}  // namespace assay
