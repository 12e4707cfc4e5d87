#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/core/strides.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

// Copies between memories.
namespace assay {
namespace {

/// Counts two passes of each byte: a copy within one memory reads and writes it.
Signature read_and_written(Signature signature) {
  signature.bytes = 2 * static_cast<double>(signature.inputs[0].bytes());
  return signature;
}

/// Counts one pass of each byte, in each direction of a link.
Signature passed_over(Signature signature) {
  signature.bytes = static_cast<double>(signature.inputs[0].bytes()) * signature.ranks;
  return signature;
}

Memory memory_named(const std::string& word) {
  if (word == "device") return Memory::standard;
  return word == "pinned" ? Memory::pinned : Memory::pageable;
}

/// One way is the default: it is left out of case ids, and so is not found.
bool goes_both_ways(const Params& params) { return params.find("ways") != nullptr; }

Signature copied(const TensorSpec& from, const TensorSpec& to, const Params& params) {
  Signature s{.inputs = {from}, .outputs = {to}, .is_copy = true};
  s.ranks = goes_both_ways(params) ? 2 : 1;
  s.is_mirrored = s.ranks == 2;
  return s;
}

Signature memcpy_signature(DType dtype, const Params& params) {
  TensorSpec bytes{.dtype = dtype, .shape = {params.integer("bytes")}};
  if (params.find("pages") != nullptr) {  // the default, normal, is left out
    constexpr std::int64_t huge_page_bytes = 2 << 20;
    if (bytes.shape[0] < huge_page_bytes) {
      throw NotApplicable("memcpy: pages=huge needs at least one page of 2 MiB, not " +
                          std::to_string(bytes.shape[0]) + " bytes");
    }
    bytes.memory = Memory::huge_pages;
  }
  return read_and_written({.inputs = {bytes}, .outputs = {bytes}, .is_copy = true});
}

Signature memcpy_2d_signature(DType dtype, const Params& params) {
  const std::int64_t width = params.integer("width");
  const std::int64_t pitch = params.integer("pitch");
  if (pitch < width) {
    throw NotApplicable("memcpy_2d: rows of " + std::to_string(width) + " bytes cannot be " +
                        std::to_string(pitch) + " apart: pitch must be at least width");
  }
  const Shape shape{params.integer("rows"), width};
  const TensorSpec rows{.dtype = dtype, .shape = shape, .strides = strides_of_gaps(shape, pitch)};
  return read_and_written({.inputs = {rows}, .outputs = {rows}, .is_copy = true});
}

/// Copies between host and device memory, or within a device's memory.
Signature device_memcpy_signature(DType dtype, const Params& params) {
  const std::string& from = params.word("from");
  const std::string& to = params.word("to");
  const auto refuse = [&](const std::string& why) {
    return NotApplicable("device_memcpy from " + from + " to " + to + ": " + why);
  };
  const bool within = from == "device" && to == "device";
  if (from != "device" && to != "device") throw refuse("one of them must be 'device'");
  if (params.word("by") == "kernel" && (from == "pageable" || to == "pageable")) {
    throw refuse("kernels of the device reach pinned memory of the host alone");
  }
  if (goes_both_ways(params) && to != "device") throw refuse("both ways are named by 'to=device'");
  if (goes_both_ways(params) && within) throw refuse("both ways are the same one");
  const Shape shape{params.integer("bytes")};
  const Signature s = copied({.dtype = dtype, .shape = shape, .memory = memory_named(from)},
                             {.dtype = dtype, .shape = shape, .memory = memory_named(to)}, params);
  return within ? read_and_written(s) : passed_over(s);
}

/// Copies from one device to another.
Signature peer_memcpy_signature(DType dtype, const Params& params) {
  if (params.word("by") == "kernel" && params.word("access") == "staged") {
    throw NotApplicable(
        "peer_memcpy: kernels reach another device's memory by direct access alone");
  }
  const Shape shape{params.integer("bytes")};
  Signature s = copied({.dtype = dtype, .shape = shape},
                       {.dtype = dtype, .shape = shape, .device = 1}, params);
  s.devices = 2;
  return passed_over(std::move(s));
}

/// Unique patterns: a misplaced block never looks like the right one.
Passes copies() {
  const Data unique{.distribution = Distribution::unique_words};
  return {Pass{"unique_words", {unique}, exact_rule}, Pass{"real_data", {unique}, exact_rule}};
}

/// Selects the device's copy engine, or a kernel that reads and writes.
Parameter copier() { return choice("by", {"engine", "kernel"}); }
Parameter ways() { return optional_choice("ways", {"one", "both"}); }
Parameter host_threads() { return choice("threads", {"one", "all"}); }

Op copy_on(MemorySpace memory, std::string_view name, std::string_view formula,
           std::vector<Parameter> parameters, SignatureOf signature) {
  Op op = make_op({name, formula, {DType::u8}}, std::move(parameters), signature, copies());
  op.memory_spaces = {memory};
  return op;
}

}  // namespace

std::vector<Op> copies_ops() {
  const std::vector<std::string_view> places{"pageable", "pinned", "device"};
  return {
      copy_on(MemorySpace::host, "memcpy", "y[i] = x[i], by one thread or by all",
              {choice("from", {"host"}), choice("to", {"host"}), size("bytes"), host_threads(),
               optional_choice("pages", {"normal", "huge"})},
              memcpy_signature),
      copy_on(MemorySpace::host, "memcpy_2d", "y[r][c] = x[r][c], rows `pitch` bytes apart",
              {choice("from", {"host"}), choice("to", {"host"}), extent("rows"), extent("width"),
               extent("pitch"), host_threads()},
              memcpy_2d_signature),
      copy_on(MemorySpace::device, "device_memcpy",
              "y[i] = x[i], one of them in the memory of a device; both ways: both at once",
              {choice("from", places), choice("to", places), size("bytes"), copier(), ways()},
              device_memcpy_signature),
      copy_on(MemorySpace::device, "peer_memcpy",
              "y[i] = x[i], from one device to another; both ways: both at once",
              {size("bytes"), copier(), choice("access", {"direct", "staged"}), ways()},
              peer_memcpy_signature),
  };
}

}  // namespace assay
