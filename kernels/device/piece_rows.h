#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels/device/kernels.h"

// Ops whose output is made of pieces of their inputs: which ones, as data for all backends.
namespace assay {

/// Part of each line of an output, and where it lies in an input. A line is what has one index of
/// the outermost extent.
struct LinePiece {
  std::size_t input = 0;
  std::int64_t length = 0;  // elements of a line
  /// Elements that follow each other in the input, and from the first one of such a run to that of
  /// the next, which may lie before it.
  std::int64_t run = 1;
  std::int64_t run_step = 0;
  std::int64_t start = 0;      // the first element of the first line
  std::int64_t line_step = 0;  // from there to that of the next line
};

inline constexpr std::size_t max_pieces = 3;
struct LinePieces {
  std::int64_t lines = 0;
  std::array<LinePiece, max_pieces> of_line;  // in their order; unused ones are empty
};

/// All of each line of an input.
inline LinePiece whole_lines(const OpInstance& op, std::size_t input) {
  const Shape& shape = op.signature.inputs[input].shape;
  const std::int64_t length = shape[1] * shape[2];
  return {.input = input, .length = length, .run = length, .line_step = length};
}

inline LinePieces concat_pieces(const OpInstance& op) {
  return {op.params.integer("outer"), {whole_lines(op, 0), whole_lines(op, 1)}};
}

/// `count` indices along n from `start` on, `step` apart.
inline LinePieces taken_apart(const OpInstance& op, std::int64_t start, std::int64_t count,
                              std::int64_t step) {
  const std::int64_t inner = op.params.integer("inner");
  LinePiece piece = whole_lines(op, 0);
  piece.start = start * inner;
  piece.length = count * inner;
  if (step == 1) {
    piece.run = piece.length;
  } else {
    piece.run = inner;
    piece.run_step = step * inner;
  }
  return {op.params.integer("outer"), {piece}};
}

inline LinePieces slice_pieces(const OpInstance& op) {
  return taken_apart(op, op.params.integer("start"), op.params.integer("count"),
                     op.params.integer("step"));
}

inline LinePieces flip_pieces(const OpInstance& op) {
  const std::int64_t n = op.params.integer("n");
  return taken_apart(op, n - 1, n, -1);
}

inline LinePieces repeat_pieces(const OpInstance& op) {
  LinePiece piece = whole_lines(op, 0);
  piece.length *= op.params.integer("times");
  return {op.params.integer("outer"), {piece}};
}

inline LinePieces pad_pieces(const OpInstance& op) {
  const std::int64_t inner = op.params.integer("inner");
  const LinePiece before{.input = 1, .length = op.params.integer("before") * inner};
  const LinePiece after{.input = 1, .length = op.params.integer("after") * inner};
  return {op.params.integer("outer"), {before, whole_lines(op, 0), after}};
}

/// A piece in words of an input at its address.
template <class Word>
struct WordPiece {
  const Word* from;
  std::int64_t length;
  std::int64_t run;
  std::int64_t run_step;
  std::int64_t line_step;
};

template <class Word>
struct WordPieces {
  std::int64_t lines;
  std::int64_t line_words;
  WordPiece<Word> of_line[max_pieces];  // no std::array, which GPUs lack
};

/// Bytes, up to 16, of the widest words of which all pieces, and the tensors' addresses, are
/// multiples.
inline std::size_t word_bytes(const LinePieces& pieces, const OpInstance& op,
                              const Binding& binding) {
  const auto element = static_cast<std::int64_t>(size_bytes(op.dtype()));
  constexpr std::uint64_t widest = 16;
  std::uint64_t all = widest | reinterpret_cast<std::uintptr_t>(binding.outputs[0]);
  for (const LinePiece& piece : pieces.of_line) {
    if (piece.length == 0) continue;
    all |= reinterpret_cast<std::uintptr_t>(binding.inputs[piece.input]);
    for (const std::int64_t elements :
         {piece.length, piece.run, piece.run_step, piece.start, piece.line_step}) {
      all |= static_cast<std::uint64_t>(elements * element);
    }
  }
  return std::size_t{1} << std::countr_zero(all);
}

template <class Word>
WordPieces<Word> in_words(const LinePieces& pieces, const OpInstance& op, const Binding& binding) {
  const auto words =
      [element = static_cast<std::int64_t>(size_bytes(op.dtype()))](std::int64_t elements) {
        return elements * element / static_cast<std::int64_t>(sizeof(Word));
      };
  WordPieces<Word> all{.lines = pieces.lines};
  for (std::size_t i = 0; i < max_pieces; ++i) {
    const LinePiece& piece = pieces.of_line[i];
    if (piece.length == 0) continue;
    all.of_line[i] = WordPiece<Word>{
        .from = static_cast<const Word*>(binding.inputs[piece.input]) + words(piece.start),
        .length = words(piece.length),
        .run = words(piece.run),
        .run_step = words(piece.run_step),
        .line_step = words(piece.line_step)};
    all.line_words += words(piece.length);
  }
  return all;
}

/// Makes the kernels of all backends, which differ by their `Layer`:
///   Word16                         its word of 16 bytes
///   kernel_of(pieces, binding)     kernel of an output of these pieces
template <class Layer>
struct Laid {
  template <LinePieces (*pieces_of)(const OpInstance&)>
  static std::unique_ptr<Kernel> of(const OpInstance& op, const Binding& binding) {
    const LinePieces pieces = pieces_of(op);
    const auto in = [&]<class Word>(std::type_identity<Word>) {
      return Layer::template kernel_of<Word>(in_words<Word>(pieces, op, binding), binding);
    };
    switch (word_bytes(pieces, op, binding)) {
      case 16:
        return in(std::type_identity<typename Layer::Word16>{});
      case 8:
        return in(std::type_identity<std::uint64_t>{});
      case 4:
        return in(std::type_identity<std::uint32_t>{});
      case 2:
        return in(std::type_identity<std::uint16_t>{});
      default:
        return in(std::type_identity<std::uint8_t>{});
    }
  }
};

template <class Layer>
constexpr KernelRow piece_rows[] = {
    {"concat", Laid<Layer>::template of<concat_pieces>},
    {"slice", Laid<Layer>::template of<slice_pieces>},
    {"pad", Laid<Layer>::template of<pad_pieces>},
    {"flip", Laid<Layer>::template of<flip_pieces>},
    {"repeat", Laid<Layer>::template of<repeat_pieces>},
};

}  // namespace assay
