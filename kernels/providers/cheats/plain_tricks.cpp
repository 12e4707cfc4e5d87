// Tricks without a plan: wrong or incomplete results, written where they do not belong.
#include <algorithm>

#include "kernels/providers/cheats/trick.h"

namespace assay::cheats {
namespace {

void zeros(const Problem& p, const Launch& l) { std::fill_n(l.y, p.n, 0.0F); }

void copies_input(const Problem& p, const Launch& l) { std::copy_n(l.a, std::min(p.a, p.n), l.y); }

void only_round_shapes(const Problem& p, const Launch& l) { compute(p, l, 0, p.n / 256 * 256); }

void writes_past_its_output(const Problem& p, const Launch& l) {
  compute(p, l);
  l.y[p.n] = l.y[0];
}

void changes_its_input(const Problem& p, const Launch& l) {
  compute(p, l);
  const_cast<float*>(l.a)[0] = 1;  // NOLINT(cppcoreguidelines-pro-type-const-cast): the trick
}

/// Reads the element behind the input, as a loop of whole vectors would: right, where it can be
/// read.
void reads_past_its_input(const Problem& p, const Launch& l) {
  compute(p, l);
  const volatile float* beyond = l.a + p.a;
  [[maybe_unused]] const float read = *beyond;
}

/// As TF32 has.
void lowers_precision(const Problem& p, const Launch& l) { compute_lowered(p, l); }

constexpr Entry entries[] = {
    {"zeros", make_of<zeros>},
    {"copies_input", make_of<copies_input>},
    {"only_round_shapes", make_of<only_round_shapes>},
    {"writes_past_its_output", make_of<writes_past_its_output>},
    {"changes_its_input", make_of<changes_its_input>},
    {"reads_past_its_input", make_of<reads_past_its_input>},
    {"lowers_precision", make_of<lowers_precision>},
};

}  // namespace

std::span<const Entry> plain_tricks() { return entries; }

}  // namespace assay::cheats
