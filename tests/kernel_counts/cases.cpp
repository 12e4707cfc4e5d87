#include "tests/kernel_counts/cases.h"

#include <algorithm>
#include <set>

#include "suites/filter.h"
#include "suites/select.h"

namespace assay::kernel_counts {
namespace {

/// Approximate compulsory bytes of a case, which fill every multiprocessor of a small GPU.
constexpr double case_bytes = 16 << 20;

/// Sizes of ops without `n`, and the seed of `random`.
constexpr std::pair<const char*, std::int64_t> sizes[] = {
    {"rows", 4096}, {"cols", 1024}, {"count", 4096}, {"seed", 1}};

Case enlarged(Case test) {
  const Op& op = *test.op.op;
  Params params;
  for (const auto& [name, value] : test.op.params.entries()) {
    const auto* const size =
        std::ranges::find(sizes, name, &std::pair<const char*, std::int64_t>::first);
    params.set(name, size == std::end(sizes) ? value : ParamValue{size->second});
  }
  if (params.find("n") != nullptr) {
    constexpr std::int64_t some = 1 << 20;
    params.set("n", some);
    const double each = instantiate(op, test.op.format, params).signature.bytes / some;
    std::int64_t n = some / 4;
    while (static_cast<double>(n) * each * 1.5 < case_bytes) n *= 2;
    params.set("n", n);
  }
  test.op = instantiate(op, test.op.format, params);
  return test;
}

}  // namespace

std::vector<Case> contiguous_cases(const std::string& filter) {
  const Filter wanted(filter);
  std::set<std::string> seen;
  std::vector<Case> cases;
  const auto add = [&](Case test) {
    if (wanted.matches(test.id()) && seen.insert(test.id()).second)
      cases.push_back(std::move(test));
  };
  for (const Case& test : select_cases({.suites = {"tensor_ops", "limits"}, .profile = "full"})) {
    if (test.op.op->name == "batched_matmul" || test.op.params.find("ld") != nullptr) continue;
    add(enlarged(test));
  }
  add(parse_case_id("transfers/device_memcpy/u8/from=device,to=device,bytes=8388608,by=kernel"));
  return cases;
}

}  // namespace assay::kernel_counts
