// kernel_cheats.so: kernels that cheat, one trick each, for `assay selftest`. The environment's
// ASSAY_CHEAT names the trick; without it, or with a word that begins with "right", they are
// honest. docs/faults.md lists them. ASSAY_CHEAT_PREFIX begins the names of the ops that it offers:
// as "own_" those of ops that a user defines.
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/providers/assay_kernel.h"
#include "kernels/providers/cheats/trick.h"

namespace assay::cheats {

bool is_poisoned(const Problem& p, const float* y) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(y);
  const auto size = static_cast<std::size_t>(p.n) * sizeof *y;
  const std::size_t some = size < 64 ? size : 64;
  return some > 1 && std::memcmp(bytes, bytes + 1, some - 1) == 0 &&
         std::memcmp(bytes + size - some, bytes + size - some + 1, some - 1) == 0 &&
         bytes[0] == bytes[size - 1];
}

bool are_whole(const Problem& p, const Launch& l) {
  constexpr std::int64_t looked_at = 64;
  const std::int64_t step = p.a < looked_at ? 1 : p.a / looked_at;
  for (std::int64_t i = 0; i < p.a; i += step) {
    if (!(l.a[i] > -0x1p31F && l.a[i] < 0x1p31F)) return false;
    if (l.a[i] != static_cast<float>(static_cast<std::int64_t>(l.a[i]))) return false;
  }
  return true;
}

void compute_lowered(const Problem& p, const Launch& l) {
  const auto lowered = [](const float* from, std::int64_t n) {
    constexpr std::uint32_t dropped = (1U << 13U) - 1;
    std::vector<float> to(from, from + n);
    for (float& x : to) x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & ~dropped);
    return to;
  };
  const std::vector<float> a = lowered(l.a, p.a);
  const std::vector<float> b = lowered(l.b, p.b);
  compute(p, {a.data(), b.data(), l.y});
}

namespace {

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}
std::string_view trick_name() {
  static const std::string_view name = variable("ASSAY_CHEAT");
  return name;
}
std::string_view prefix() {
  static const std::string_view text = variable("ASSAY_CHEAT_PREFIX");
  return text;
}

/// Null if there is no such trick: a misspelt one must not pass for a caught one.
std::unique_ptr<Trick> make_trick(const Problem& problem) {
  const std::string_view name = trick_name();
  if (name.empty() || name.starts_with("right")) {
    constexpr auto honest = [](const Problem& p, const Launch& l) { compute(p, l); };
    return make_of<honest>(problem);
  }
  for (const auto& family :
       {plain_tricks(), memory_tricks(), change_tricks(), data_tricks(), thread_tricks(),
        fault_tricks(), message_tricks(), clock_tricks(), process_tricks()}) {
    for (const Entry& entry : family) {
      if (entry.name == name) return entry.make(problem);
    }
  }
  return nullptr;
}

std::int64_t elements(const assay_tensor& tensor) {
  std::int64_t n = 1;
  for (std::int32_t i = 0; i < tensor.dimensions; ++i) n *= tensor.shape[i];
  return n;
}

bool is_contiguous(const assay_tensor& tensor) {
  std::int64_t stride = 1;
  for (std::int32_t i = tensor.dimensions; i-- > 0;) {
    if (tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

/// The text of "act", and the number of any other parameter.
const assay_parameter* find(const assay_problem& problem, std::string_view name) {
  for (std::int32_t i = 0; i < problem.parameter_count; ++i) {
    if (problem.parameters[i].name == name) return &problem.parameters[i];
  }
  return nullptr;
}

const char* last_error = "";

std::int32_t create(const assay_problem* given, void** kernel) {
  const assay_tensor& y = given->outputs[0];
  Problem p{.op = given->op + prefix().size(),
            .inputs = given->input_count,
            .a = elements(given->inputs[0]),
            .b = given->input_count > 1 ? elements(given->inputs[1]) : 0,
            .n = elements(y)};
  if (y.dimensions > 0) p.columns = y.shape[y.dimensions - 1];
  p.rows = p.columns == 0 ? 0 : p.n / p.columns;
  if (p.is("linear")) p.depth = given->inputs[0].shape[1];
  const assay_parameter* activation = find(*given, "act");
  const bool has_more =
      p.inputs > 2 || (activation != nullptr && activation->text != std::string_view("none"));
  if (has_more || !is_contiguous(y) || !is_contiguous(given->inputs[0])) {
    last_error = "the tensors are not contiguous, or there is a bias or an activation";
    return ASSAY_NOT_MINE;
  }
  auto trick = make_trick(p);
  if (trick == nullptr) {
    last_error = "ASSAY_CHEAT names no trick";
    return ASSAY_FAILED;
  }
  *kernel = trick.release();
  return ASSAY_OK;
}

std::int32_t launch(void* kernel, const void* const* inputs, void* const* outputs,
                    void* /*stream*/) {
  // An op of one input has no second address to read.
  auto* trick = static_cast<Trick*>(kernel);
  try {
    trick->launch({static_cast<const float*>(inputs[0]),
                   trick->has_second_input() ? static_cast<const float*>(inputs[1]) : nullptr,
                   static_cast<float*>(outputs[0])});
  } catch (const std::bad_alloc&) {
    last_error = "no memory";
    return ASSAY_OUT_OF_MEMORY;
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay::cheats

extern "C" const assay_kernel_table* assay_kernels() {
  using namespace assay::cheats;
  static const std::array offers = [] {
    constexpr std::array ops{"add",   "relu", "exp",  "sum",  "mean",    "dot",
                             "norm2", "prod", "scan", "sort", "softmax", "linear"};
    static std::array<std::string, ops.size()> names;
    std::array<assay_offer, ops.size()> all{};
    for (std::size_t i = 0; i < ops.size(); ++i) {
      names[i] = std::string(prefix()) + ops[i];
      all[i] = {names[i].c_str(), "f32", 0};
    }
    return all;
  }();
  static const assay_kernel_table table{
      .version = ASSAY_KERNEL_VERSION,
      .name = "cheats",
      .offers = offers.data(),
      .offer_count = std::size(offers),
      .create = create,
      .launch = launch,
      .destroy = [](void* kernel) { delete static_cast<Trick*>(kernel); },
      .last_error = [] { return last_error; },
      .describe = nullptr,
      .devices = nullptr,
  };
  return &table;
}
