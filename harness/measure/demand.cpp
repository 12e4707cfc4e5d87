#include "harness/measure/demand.h"

namespace assay::measure {
namespace {

double written_bytes(const Signature& signature) {
  double bytes = 0;
  for (const TensorSpec& tensor : signature.outputs) bytes += static_cast<double>(tensor.bytes());
  return bytes;
}

/// True for memory of the host, as opposed to the computing device's.
bool is_of_host(Memory memory) { return memory == Memory::pageable || memory == Memory::pinned; }

/// Stream with the nearest share of writes: 0, a third, a half, all.
Resource nearest_stream(double share_written) {
  if (share_written < 1.0 / 6) return Resource::memory_read;
  if (share_written < 5.0 / 12) return Resource::memory_triad;
  if (share_written < 3.0 / 4) return Resource::memory_copy;
  return Resource::memory_write;
}

/// True for many sums of products.
bool is_matrix_product(const Signature& signature) {
  return signature.factors_per_term >= 2 && signature.inputs[0].shape.size() >= 2;
}

}  // namespace

std::vector<Demand> demands(const OpInstance& op,
                            std::optional<std::int64_t> last_level_cache_bytes) {
  const Signature& signature = op.signature;
  std::vector<Demand> found;
  if (op.op->collective || signature.devices > 1 || signature.is_mirrored) return found;
  if (is_matrix_product(signature) && signature.flops >= min_product_flops) {
    found.push_back({{Resource::matrix, op.format}, signature.flops});
  }
  const Memory from = signature.inputs.empty() ? Memory::standard : signature.inputs[0].memory;
  const Memory to = signature.outputs[0].memory;
  if (is_of_host(from) || is_of_host(to)) {
    // Copies of pageable memory cross the link too, through a buffer.
    if (is_of_host(from) != is_of_host(to)) {
      found.push_back({{is_of_host(from) ? Resource::link_to_device : Resource::link_from_device},
                       signature.bytes});
    }
    return found;
  }
  if (last_level_cache_bytes &&
      signature.bytes >= static_cast<double>(caches_to_exceed * *last_level_cache_bytes)) {
    found.push_back(
        {{nearest_stream(written_bytes(signature) / signature.bytes)}, signature.bytes});
    if (op.op->evaluates_function) {
      found.push_back({{Resource::function, op.format, std::string(op.op->name)}, signature.flops});
    }
  }
  return found;
}

}  // namespace assay::measure
