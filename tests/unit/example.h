#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/compare.h"
#include "harness/plan/case.h"

namespace assay::oracle {

/// One op on inputs that the test sets.
struct Example {
  OpInstance op;
  std::vector<std::vector<HostTensor>> inputs{1};

  explicit Example(const std::string& case_id) : op(parse_case_id(case_id).op) {
    for (const TensorSpec& spec : op.signature.inputs) inputs[0].emplace_back(spec);
  }

  template <class T>
  Example& set(std::size_t input, const std::vector<T>& values) {
    std::memcpy(inputs[0].at(input).bytes().data(), values.data(), values.size() * sizeof(T));
    return *this;
  }

  template <class T>
  Verdict judge(std::size_t pass, const std::vector<T>& output) const {
    const auto reference = reference::find(op);
    const reference::Problem problem{op, inputs};
    return compare(reference, problem, reference::solve(reference, problem),
                   tolerance(passes(op).at(pass).rule, op), std::as_bytes(std::span(output)), 0);
  }

  /// The first pass of this name.
  template <class T>
  Verdict judge(std::string_view pass, const std::vector<T>& output) const {
    const Passes all = passes(op);
    const auto named = [&](const Pass& p) { return p.name == pass; };
    return judge(static_cast<std::size_t>(std::ranges::find_if(all, named) - all.begin()), output);
  }
};

}  // namespace assay::oracle
