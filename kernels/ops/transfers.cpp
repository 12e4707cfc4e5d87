#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/signatures.h"

// The signatures of copies between memories.
namespace assay {
namespace {

/// Within one memory each byte passes twice.
Signature read_and_written(Signature signature) {
  signature.bytes = 2 * static_cast<double>(signature.inputs[0].bytes());
  return signature;
}

/// Over a link each byte passes once, on each of the ways.
Signature passed_over(Signature signature) {
  signature.bytes = static_cast<double>(signature.inputs[0].bytes()) * signature.ranks;
  return signature;
}

Memory memory_named(const std::string& word) {
  if (word == "device") return Memory::standard;
  return word == "pinned" ? Memory::pinned : Memory::pageable;
}

/// Left out of case ids, and so not found, where it is the one way.
bool goes_both_ways(const Params& params) { return params.find("ways") != nullptr; }

Signature copied(const TensorSpec& from, const TensorSpec& to, const Params& params) {
  Signature s{.inputs = {from}, .outputs = {to}, .is_copy = true};
  s.ranks = goes_both_ways(params) ? 2 : 1;
  s.is_mirrored = s.ranks == 2;
  return s;
}

}  // namespace

Signature memcpy_signature(DType dtype, const Params& params) {
  TensorSpec bytes{.dtype = dtype, .shape = {params.integer("bytes")}};
  if (params.find("pages") != nullptr) {  // else normal, which is left out
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
  const TensorSpec rows{
      .dtype = dtype, .shape = {params.integer("rows"), width}, .row_stride = pitch};
  return read_and_written({.inputs = {rows}, .outputs = {rows}, .is_copy = true});
}

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

}  // namespace assay
