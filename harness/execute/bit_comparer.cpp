#include "harness/execute/bit_comparer.h"

#include <array>
#include <cstdint>

#include "kernels/core/status.h"

namespace assay {
namespace {

constexpr std::size_t word_bytes = 8;
/// Eight words that are equal.
constexpr std::uint64_t all_equal = 0x0101010101010101;
/// Keeps the two results on lines of their own, aligned as any op may demand.
constexpr std::size_t extreme_step_bytes = 256;

OpInstance on_words(std::string_view op, std::size_t words) {
  Params params;
  params.set("n", static_cast<std::int64_t>(words));
  return instantiate(*find_op(op), DType::i64, params);
}

}  // namespace

BitComparer::BitComparer(Device& device, Stream& stream, const input::GuardedTensor& a,
                         const input::GuardedTensor& b)
    : device_(device),
      stream_(stream),
      outcomes_(device, a.spec().bytes() / word_bytes),
      extremes_(device, 2 * extreme_step_bytes) {
  const std::size_t words = a.spec().bytes() / word_bytes;
  const std::size_t eights = words / word_bytes;
  equal_ =
      device.prepare(on_words("equal", words), {&stream, {a.data(), b.data()}, {outcomes_.data()}});
  least_ = device.prepare(on_words("reduce_min", eights),
                          {&stream, {outcomes_.data()}, {extremes_.data()}});
  greatest_ =
      device.prepare(on_words("reduce_max", eights),
                     {&stream, {outcomes_.data()}, {extremes_.data() + extreme_step_bytes}});
}

std::unique_ptr<BitComparer> BitComparer::make(Device& device, Stream& stream,
                                               const input::GuardedTensor& a,
                                               const input::GuardedTensor& b) {
  const bool fits = a.spec().is_dense() && a.spec().bytes() > 0 &&
                    a.spec().bytes() % (word_bytes * word_bytes) == 0;
  const bool on_device = a.spec().memory == Memory::standard && !device.is_readable_by_host();
  if (!fits || !on_device) return nullptr;
  try {
    return std::unique_ptr<BitComparer>(new BitComparer(device, stream, a, b));
  } catch (const DeviceError& error) {
    if (error.failure() == Failure::device_lost) throw;
    return nullptr;
  }
}

bool BitComparer::equal() {
  // Poisons what the last comparison left: ops that do nothing must not pass for equal.
  device_.fill(outcomes_.data(), std::byte{0}, outcomes_.bytes());
  device_.fill(extremes_.data(), std::byte{0}, extremes_.bytes());
  equal_->launch();
  least_->launch();
  greatest_->launch();
  stream_.synchronize();
  std::array<std::uint64_t, 2> extremes{};
  device_.download(&extremes[0], extremes_.data(), word_bytes);
  device_.download(&extremes[1], extremes_.data() + extreme_step_bytes, word_bytes);
  return extremes[0] == all_equal && extremes[1] == all_equal;
}

}  // namespace assay
