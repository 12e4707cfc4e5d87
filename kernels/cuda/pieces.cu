#include <algorithm>
#include <cstddef>
#include <string>

#include "kernels/cuda/map.cuh"
#include "kernels/device/piece_rows.h"

// Ops that lay pieces of their inputs out anew: vectors of the output, each loaded from where its
// words lie.
namespace assay::cuda {
namespace {

/// Lines as threads take them: those of the output, or of a single piece its long runs, of which a
/// line has `runs`.
template <class Word>
struct Lines {
  std::int64_t count;
  std::int64_t words;
  std::int64_t runs;
  WordPiece<Word> pieces[max_pieces];
};

/// Fewer words than of a warp are no line.
constexpr std::int64_t least_words = 32;

template <class Word>
Lines<Word> lines_of(const WordPieces<Word>& all) {
  Lines<Word> lines{.count = all.lines, .words = all.line_words, .runs = 1};
  for (std::size_t i = 0; i < max_pieces; ++i) lines.pieces[i] = all.of_line[i];
  WordPiece<Word>& only = lines.pieces[0];
  if (only.length == all.line_words && only.run < only.length && only.run >= least_words) {
    lines.runs = only.length / only.run;
    lines.count *= lines.runs;
    lines.words = only.length = only.run;
  }
  return lines;
}

/// Division of numbers that mostly have 32 bits, which is fast.
__device__ std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if ((a | b) >> 32 == 0) return static_cast<unsigned>(a) / static_cast<unsigned>(b);
  return a / b;
}

/// A line, and the sources of its words.
template <class Word>
class Line {
 public:
  __device__ Line(const Lines<Word>& lines, std::int64_t line)
      : lines_(lines),
        line_(lines.runs == 1 ? line : quotient(line, lines.runs)),
        run_(line - line_ * lines.runs) {}

  /// Address of the word at `place`. `follow`: how many words follow each other from there on.
  __device__ const Word* source(std::int64_t place, std::int64_t& follow) const {
#pragma unroll
    for (const WordPiece<Word>& piece : lines_.pieces) {
      if (place < piece.length) {
        const Word* const from = piece.from + line_ * piece.line_step;
        const bool is_whole = piece.run >= piece.length;
        const std::int64_t in_line = is_whole         ? 0
                                     : piece.run == 1 ? place
                                                      : quotient(place, piece.run);
        const std::int64_t within = place - in_line * piece.run;
        follow = piece.run - within;
        return from + (run_ + in_line) * piece.run_step + within;
      }
      place -= piece.length;
    }
    return nullptr;  // behind the line
  }

  template <int N>
  __device__ Vector<Word, N> at(std::int64_t place) const {
    std::int64_t follow = 0;
    const Word* from = source(place, follow);
    if (follow >= N && is_vector_aligned<N>(from)) return load_vector<N>(from);
    Vector<Word, N> vector;
    vector.at[0] = *from;
#pragma unroll
    for (int j = 1; j < N; ++j) {
      from = --follow > 0 ? from + 1 : source(place + j, follow);
      vector.at[j] = *from;
    }
    return vector;
  }

 private:
  const Lines<Word>& lines_;
  std::int64_t line_;
  std::int64_t run_;
};

/// Lays the vectors of a line from `head` on, of which each thread along x has up to K, and the
/// single words before and behind them.
template <int N, int K, class Word>
__device__ void lay_line(const Line<Word>& line, std::int64_t words, std::int64_t head, Word* to) {
  const std::int64_t vectors = (words - head) / N;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x * K + threadIdx.x;
  WordOfVector<Word, N> held[K];
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const std::int64_t i = first + std::int64_t{k} * blockDim.x;
    if (i < vectors)
      held[k] = std::bit_cast<WordOfVector<Word, N>>(line.template at<N>(head + i * N));
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const std::int64_t i = first + std::int64_t{k} * blockDim.x;
    if (i < vectors) store_vector(to + head + i * N, std::bit_cast<Vector<Word, N>>(held[k]));
  }
  const std::int64_t singles = words - vectors * N;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
#pragma unroll 1
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < singles;
       i += step) {
    const std::int64_t place = i < head ? i : i + vectors * N;
    store_vector(to + place, line.template at<1>(place));
  }
}

/// Vectors of a thread, of so few words that their addresses stay in registers.
template <class Word>
constexpr int vectors_of_thread = std::min(vectors_in_flight<vector_elements<Word>, Word>,
                                           32 / vector_elements<Word>);

/// Blocks along x share a line; blocks, and threads, along y have lines of their own.
template <class Word>
__global__ void __launch_bounds__(map_threads, 4) lay_pieces(Lines<Word> lines, Word* y) {
  constexpr int N = vector_elements<Word>;
  constexpr int K = vectors_of_thread<Word>;
  const std::int64_t step = std::int64_t{gridDim.y} * blockDim.y;
#pragma unroll 1
  for (std::int64_t line = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; line < lines.count;
       line += step) {
    Word* const to = y + line * lines.words;
    const std::int64_t before = elements_before_vector<N>(to);
    lay_line<N, K>(Line<Word>(lines, line), lines.words,
                   before < lines.words ? before : lines.words, to);
  }
}

struct CudaLayer {
  using Word16 = uint4;

  template <class Word>
  static std::unique_ptr<Kernel> kernel_of(const WordPieces<Word>& pieces, const Binding& binding) {
    return std::make_unique<FunctionKernel>(
        "runs of " + std::to_string(sizeof(Word)) + "-byte words", binding,
        [lines = lines_of(pieces),
         y = static_cast<Word*>(binding.outputs[0])](cudaStream_t stream) {
          if (lines.count == 0 || lines.words == 0) return;
          constexpr int of_thread = vector_elements<Word> * vectors_of_thread<Word>;
          const MapGrid grid(lines.count, (lines.words + of_thread - 1) / of_thread);
          lay_pieces<<<grid.blocks, grid.threads, 0, stream>>>(lines, y);
        });
  }
};

}  // namespace

std::span<const KernelRow> pieces_kernels() { return piece_rows<CudaLayer>; }

}  // namespace assay::cuda
