#pragma once

#include <memory>

#include "harness/input/guarded_tensor.h"
#include "kernels/device/device.h"

namespace assay {

/// Lets a device compare the bits of two of its tensors by its own ops, so that only two words
/// travel: `equal` of their 64-bit words, then the least and the greatest outcome. The device may
/// err here too. Whoever uses it tests it with a flipped bit and compares on the host now and then.
class BitComparer {
 public:
  /// Returns null where the host compares as fast, and where the device lacks these ops or the size
  /// is no multiple of 64 bytes. The tensors and the stream must outlive the result.
  static std::unique_ptr<BitComparer> make(Device& device, Stream& stream,
                                           const input::GuardedTensor& a,
                                           const input::GuardedTensor& b);

  /// Waits for the stream.
  bool equal();

 private:
  BitComparer(Device& device, Stream& stream, const input::GuardedTensor& a,
              const input::GuardedTensor& b);

  Device& device_;
  Stream& stream_;
  Buffer outcomes_;  // a byte for each word: 1 if it is equal
  Buffer extremes_;  // the least eight of them, and the greatest
  std::unique_ptr<Kernel> equal_;
  std::unique_ptr<Kernel> least_;
  std::unique_ptr<Kernel> greatest_;
};

}  // namespace assay
