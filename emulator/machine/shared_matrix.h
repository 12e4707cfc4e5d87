#pragma once

#include <cstdint>
#include <string>

namespace emulator {

/// A factor of wgmma in shared memory, as its descriptor tells (PTX ISA, "Matrix Descriptor Format"
/// and "Canonical Layouts"). `across` counts rows of a or columns of b, `along` goes along k.
class SharedMatrix {
 public:
  /// `element_bytes`: 1, 2 or 4; factors that are not K-major have 2.
  SharedMatrix(std::uint64_t descriptor, unsigned element_bytes, bool is_mn_major);

  /// Why nothing says what the descriptor means; empty: it is documented.
  std::string problem() const;

  /// Of an element, in bytes from the beginning of shared memory. May lie behind its end.
  std::uint64_t offset(unsigned across, unsigned along) const;

  static constexpr unsigned chunk_bytes = 16;
  /// Calls `f(offset)` for each 16 bytes of a matrix of `extent` times k.
  template <class F>
  void for_each_chunk(unsigned extent, unsigned k, F f) const {
    const unsigned in_chunk = chunk_bytes / element_bytes_;
    const unsigned across = is_mn_major_ ? in_chunk : 1, along = is_mn_major_ ? 1 : in_chunk;
    for (unsigned i = 0; i < extent; i += across)
      for (unsigned l = 0; l < k; l += along) f(offset(i, l));
  }

 private:
  std::uint64_t descriptor_;
  std::uint64_t start_, leading_, stride_;  // bytes
  unsigned element_bytes_;
  bool is_mn_major_;
  unsigned swizzled_chunks_;  // of 16 bytes, in a row: 1, 2, 4 or 8
  std::uint64_t pattern_;     // the offset of the repeating pattern, modulo its 1024 bytes
};

}  // namespace emulator
