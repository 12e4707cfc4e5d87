#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "kernels/cpu/caches.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/streaming.h"
#include "kernels/cpu/vectorize.h"
#include "kernels/device/piece_rows.h"

// Ops that lay pieces of their inputs out anew, of single words or of long runs.
namespace assay::cpu {
namespace {

/// Copies words that lie `step` apart. The usual steps are loops of their own: vectors of one
/// value, and vectors that are reversed.
template <class Word>
ASSAY_VECTOR_CLONES void copy_apart(const Word* from, std::int64_t step, std::int64_t count,
                                    Word* to) {
  if (step == 0) {
    std::fill_n(to, count, *from);
  } else if (step == -1) {
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[-i];
  } else {
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * step];
  }
}

/// Copies a run. A call of memcpy takes longer than few words.
template <class Word>
void copy_run(const Word* from, std::int64_t count, Word* to) {
  constexpr std::int64_t few = 4;
  if (count > few) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(Word));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
}

/// Copies a long run past the caches.
template <class Word>
void stream_run(const Word* from, std::int64_t count, Word* to) {
  stream_out(to, from, static_cast<std::size_t>(count) * sizeof(Word));
}

/// Lays words [place, place + count) of a piece of a line. Runs are copied by `copy`.
template <class Word, class Copy>
void lay_piece(const WordPiece<Word>& piece, std::int64_t line, std::int64_t place,
               std::int64_t count, Word* to, const Copy& copy) {
  const Word* const from = piece.from + line * piece.line_step;
  if (piece.run == 1) {
    copy_apart(from + place * piece.run_step, piece.run_step, count, to);
    return;
  }
  std::int64_t run = place / piece.run;
  std::int64_t within = place % piece.run;
  while (count > 0) {
    const std::int64_t some = std::min(count, piece.run - within);
    copy(from + run * piece.run_step + within, some, to);
    to += some;
    count -= some;
    ++run;
    within = 0;
  }
}

/// Lays words [first, first + count) of the output.
template <class Word, class Copy>
void lay(const WordPieces<Word>& pieces, std::int64_t first, std::int64_t count, Word* to,
         const Copy& copy) {
  std::int64_t line = first / pieces.line_words;
  std::int64_t place = first % pieces.line_words;
  for (; count > 0; ++line) {
    for (const WordPiece<Word>& piece : pieces.of_line) {
      if (place >= piece.length) {
        place -= piece.length;
        continue;
      }
      const std::int64_t some = std::min(count, piece.length - place);
      lay_piece(piece, line, place, some, to, copy);
      to += some;
      count -= some;
      place = 0;
    }
  }
}

/// Does the same with stores past the caches.
template <class Word>
void stream(const WordPieces<Word>& pieces, std::int64_t first, std::int64_t count, Word* to) {
  constexpr std::int64_t staged = staged_bytes / static_cast<std::int64_t>(sizeof(Word));
  // Few words beside long runs may take part of a cache line.
  const auto is_long = [](const WordPiece<Word>& piece) {
    return std::min(piece.run, piece.length) >= staged;
  };
  if (std::ranges::any_of(pieces.of_line, is_long) &&
      std::ranges::all_of(pieces.of_line, [&](const WordPiece<Word>& piece) {
        return piece.length < staged || is_long(piece);
      })) {
    lay(pieces, first, count, to, stream_run<Word>);
    end_streaming();
    return;
  }
  alignas(64) std::array<Word, static_cast<std::size_t>(staged)> stage;
  for (std::int64_t i = 0; i < count; i += staged) {
    const std::int64_t some = std::min(staged, count - i);
    lay(pieces, first + i, some, stage.data(), copy_run<Word>);
    stream_out(to + i, stage.data(), static_cast<std::size_t>(some) * sizeof(Word));
  }
  end_streaming();
}

struct CpuLayer {
  struct Word16 {
    std::uint64_t half[2];
  };

  template <class Word>
  static std::unique_ptr<Kernel> kernel_of(const WordPieces<Word>& pieces, const Binding& binding) {
    constexpr std::int64_t bytes = 2 * sizeof(Word);
    const std::int64_t words = pieces.lines * pieces.line_words;
    return std::make_unique<FunctionKernel>(
        "runs of " + std::to_string(sizeof(Word)) + "-byte words, OpenMP",
        [=, to = static_cast<Word*>(binding.outputs[0]), streams = exceeds_caches(words * bytes)] {
          parallel_blocks(words, bytes, [&](std::int64_t, std::int64_t first, std::int64_t count) {
            streams ? stream(pieces, first, count, to + first)
                    : lay(pieces, first, count, to + first, copy_run<Word>);
          });
        });
  }
};

}  // namespace

std::span<const KernelRow> pieces_kernels() { return piece_rows<CpuLayer>; }

}  // namespace assay::cpu
