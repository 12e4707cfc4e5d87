#include "session/selftest/own_op_tricks.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "session/kernels/python_program.h"

namespace assay {
namespace {

/// Texts of reasons that name data or a rule of built-in ops, and those of ops of a user: the first
/// data that show the same, and their only rule.
constexpr std::pair<std::string_view, std::string_view> other_reasons[] = {
    {"all_exponents: ", "exact_data: "},
    {"effective bits", "large_data: "},
    {"exact", "measured_band"},
    {"function_bound", "measured_band"},
};

/// Extents of long cases, and shorter ones: whole new inputs for each launch leave time for few
/// launches of the long ones.
constexpr std::pair<std::string_view, std::string_view> other_extents[] = {
    {"n=1048573", "n=131071"},
    {"n=4194304", "n=1048573"},
    {"batch=512,in=512,out=512", "batch=128,in=128,out=128"},
};

std::string_view reason_on_own_op(std::string_view reason) {
  const auto* found =
      std::ranges::find(other_reasons, reason, [](const auto& r) { return r.first; });
  return found == std::end(other_reasons) ? reason : found->second;
}

/// "own_add/f32/n=1003" for "tensor_ops/add/f32/n=1003". Kernels that cheat take layers without a
/// bias and an activation alone.
std::string case_on_own_op(std::string_view case_id) {
  constexpr std::string_view suite = "tensor_ops/";
  constexpr std::string_view plain_layer = ",bias=0,act=none";
  if (case_id.starts_with(suite)) case_id.remove_prefix(suite.size());
  if (case_id.ends_with(plain_layer)) case_id.remove_suffix(plain_layer.size());
  std::string id = own_ops_prefix + std::string(case_id);
  for (const auto& [extent, shorter] : other_extents) {
    if (id.ends_with(extent)) id.replace(id.size() - extent.size(), extent.size(), shorter);
  }
  return id;
}

std::vector<Pairing> made_pairings() {
  static std::deque<std::string> ids;  // whose addresses stay
  std::vector<Pairing> pairings;
  for (Pairing pairing : fault_catalogue()) {
    if (!pairing.is_cheat) continue;
    pairing.case_id = ids.emplace_back(case_on_own_op(pairing.case_id));
    pairing.reason = reason_on_own_op(pairing.reason);
    pairing.is_own_op = true;
    // No input of an op of a user has elements that a launch has seen: it is right, as one that
    // remembers them all.
    if (pairing.fault == "remembers_some_elements") {
      pairing.status = Status::pass;
      pairing.reason = reason_on_own_op("exact");
    }
    // A launch on special values may be the first that comes before its thread.
    if (pairing.fault == "works_ahead") pairing.reason = " at [";
    pairings.push_back(pairing);
  }
  return pairings;
}

}  // namespace

std::span<const Pairing> tricks_on_own_ops() {
  static const std::vector<Pairing> pairings = made_pairings();
  return pairings;
}

std::filesystem::path own_ops_file() { return python_folder() / "assay" / "cheated_ops.py"; }

}  // namespace assay
