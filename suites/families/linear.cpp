#include <utility>

#include "suites/boundaries.h"
#include "suites/suite.h"

namespace assay {
namespace {

using enum DType;
using enum ProductFormat;
using enum Level;

const Axis small{{"batch", "in", "out"},
                 {{seeds, {2, 3, 1}},      // Linear(3, 1) on a 2 x 3 input
                  {seeds, {2, 3, 3}},      // Linear(3, 3)
                  {seeds, {16, 64, 33}},   // batch 16, and a width that fills no tile
                  {seeds, {3, 67, 29}},    // few rows have kernels of their own
                  {smoke, {1, 400, 120}},  // LeNet-5's three layers
                  {smoke, {64, 120, 84}},
                  {smoke, {4, 84, 10}}}};
/// Extents around the tiles of libraries, sums of few and of many terms, rows fewer and more than
/// threads.
Axis boundaries(Level level) {
  constexpr double max_products = 1 << 22;
  return pairwise(level,
                  {{"batch",
                    {{1, "a vector"},
                     {7, "fewer rows than any tile"},
                     {8, "few rows, and even: a kernel of their own"},
                     {66, "two above a tile of 64"},
                     {127, "one below a tile of 128"},
                     {128, "a whole tile of 128"},
                     {192, "a whole tile of 192"},
                     {625, "tall: many rows of few elements"}}},
                   {"in",
                    {{1, "one term: no sum"},
                     {2, "one pair"},
                     {5, "fewer terms than a vector"},
                     {31, "one below a tile of 32"},
                     {64, "whole tiles: no tail"},
                     {96, "whole tiles of 32"},
                     {130, "two above a tile of 128"},
                     {1025, "a sum in several parts"}}},
                   {"out",
                    {{1, "one column"},
                     {5, "fewer columns than a vector"},
                     {33, "one above a tile of 32"},
                     {48, "a whole tile of 48"},
                     {95, "one below a tile of 96"},
                     {192, "a whole tile of 192, and as many as rows"},
                     {257, "one above a tile of 256, and 8 bits"},
                     {625, "wide: many columns of few terms"}}}},
                  max_products);
}
/// Sums that few shapes of models reach, and rows by the ten thousands.
const Axis long_sums{
    {"batch", "in", "out"},
    {{smoke, {3, 8206, 17}}, {standard, {2, 16384, 33}}, {standard, {70001, 3, 5}}}};
const Axis quick{{"batch", "in", "out"}, {{seeds, {16, 64, 33}}, {smoke, {64, 120, 84}}}};
const Axis large{{"batch", "in", "out"},
                 {{smoke, {64, 1024, 1024}},
                  {smoke, {1, 4096, 1000}},      // a classifier's head
                  {standard, {128, 784, 512}},   // an MLP on 28 x 28 pixels
                  {standard, {512, 768, 3072}},  // BERT base, up
                  {standard, {512, 3072, 768}},  // and down
                  {standard, {4096, 1024, 1024}},
                  {standard, {1, 4096, 11008}},  // Llama 7B, one token
                  {standard, {256, 4096, 4096}},
                  {full, {2048, 4096, 11008}},  // and a prompt
                  {full, {4096, 4096, 4096}},
                  {full, {512, 11008, 4096}},
                  {full, {16, 4096, 32000}}}};  // its vocabulary
/// Tokens of a layer of a transformer: few are bound by its weights, many by arithmetic.
const Axis tokens = axis("batch", {{standard, 1},
                                   {standard, 2},
                                   {standard, 4},
                                   {standard, 8},
                                   {standard, 16},
                                   {standard, 32},
                                   {standard, 64},
                                   {standard, 128},
                                   {standard, 256},
                                   {standard, 512},
                                   {full, 1024},
                                   {full, 2048}});
const Axis layer{{"in", "out"}, {{standard, {2048, 2048}}}};
const std::vector<std::string_view> gradients{"linear_dx", "linear_dw"};
/// Layers of 8 bits and fewer: matrix units and their libraries take extents that are multiples of
/// 16, and block-scaled formats need whole blocks of 32.
const Axis small_of_bytes{{"batch", "in", "out"}, {{seeds, {16, 64, 32}}, {smoke, {64, 768, 80}}}};
const Axis large_of_bytes{{"batch", "in", "out"},
                          {{smoke, {64, 1024, 1024}},
                           {standard, {512, 768, 3072}},
                           {standard, {4096, 1024, 1024}},
                           {standard, {256, 4096, 4096}},
                           {full, {2048, 4096, 11008}},
                           {full, {4096, 4096, 4096}}}};
const Axis transformer{{"batch", "in", "out"},
                       {{standard, {512, 768, 3072}}, {full, {2048, 4096, 11008}}}};
/// Each extent is the sum of a layer or of one of its gradients.
const Axis small_gradients{{"batch", "in", "out"},
                           {{seeds, {2, 3, 1}},
                            {seeds, {16, 64, 33}},
                            {seeds, {3, 67, 29}},
                            {smoke, {1, 400, 120}},
                            {smoke, {64, 120, 84}},
                            {smoke, {4, 84, 10}}}};
const Axis long_gradients{{"batch", "in", "out"}, {{smoke, {8206, 17, 3}}, {smoke, {3, 17, 8206}}}};
const Axis large_gradients{{"batch", "in", "out"},
                           {{standard, {64, 1024, 1024}},
                            {standard, {512, 768, 3072}},
                            {standard, {256, 4096, 4096}},
                            {full, {2048, 4096, 11008}}}};
/// The gradient of a bias: the sum of all rows of that of the outputs.
const Axis bias_gradients{{"outer", "n", "inner"},
                          {{standard, {1, 512, 3072}}, {standard, {1, 256, 4096}}}};
const Axis small_stacks{{"batch", "in", "width", "layers"},
                        {{seeds, {16, 10, 16, 3}},  // the tutorials' three layers, batch 16
                         {in_turns, {64, 256, 256, 4}}}};
const Axis large_stacks{{"batch", "in", "width", "layers"},
                        {{standard, {256, 784, 1024, 3}}, {full, {512, 4096, 4096, 4}}}};

/// More rows, and more elements of x, of W and of y, than 19 and 31 bits count.
std::vector<Grid> edge_grids() {
  const Axis rows{{"batch", "in", "out"},
                  {{seeds, {over_2_19, 16, 16}}, {seeds, {16, 16, over_2_19}}}};
  const Axis elements{
      {"batch", "in", "out"},
      {{seeds, {tall, wide, 1}}, {seeds, {1, wide, tall}}, {seeds, {tall, 1, wide}}}};
  const Axis bias = axis("bias", {{seeds, 1}});
  const Axis none = axis("act", {{seeds, "none"}});
  return {{{"linear"}, {f32, bf16, i8}, {rows, bias, none}},
          {{"linear"}, {bf16}, {elements, bias, none}},
          {gradients, {f32, bf16}, {rows}},
          {gradients, {bf16}, {elements}}};
}

}  // namespace

Suite linear_suite() {
  const std::vector<Format> floats{f32, f64, bf16, f16, tf32};
  const std::vector<Format> blocks{mxfp8, mxfp4, nvfp4};
  const Axis bias = axis("bias", {{seeds, 0}, {seeds, 1}});
  const Axis with_bias = axis("bias", {{seeds, 1}});
  const Axis none = axis("act", {{seeds, "none"}});
  const Axis relu = axis("act", {{seeds, "relu"}});
  const Axis gelu = axis("act", {{seeds, "gelu"}});
  const Axis of_integers = axis("act", {{seeds, "none"}, {seeds, "relu"}});
  const Axis activations =
      axis("act", {{seeds, "none"}, {seeds, "relu"}, {seeds, "gelu"}, {seeds, "gelu_tanh"}});
  const Axis of_stacks = axis("act", {{seeds, "none"}, {seeds, "relu"}, {seeds, "gelu"}});
  std::vector<Grid> grids{
      {{"linear"}, floats, {small, bias, activations}, never},
      {{"linear"}, {bf16x9}, {small, bias, activations}, never},
      {{"linear"}, {i8}, {small, bias, of_integers}, never},
      {{"linear"}, {i8}, {small_of_bytes, bias, of_integers}, never},
      {{"linear"}, {e4m3}, {small_of_bytes, bias, activations}, never},
      {{"linear"}, blocks, {small_of_bytes, bias, activations}, never},
      {{"linear"}, {f32}, {boundaries(smoke), with_bias, none}, never},
      {{"linear"}, {bf16, i8, f64, f16, tf32}, {boundaries(in_turns), with_bias, none}, never},
      {{"linear"}, {f32, bf16, f16, i8}, {long_sums, with_bias, none}, never},
      {{"linear_stack"}, floats, {small_stacks, bias, of_stacks}, never},
      {gradients, floats, {small_gradients}, never},
      {gradients, {bf16x9}, {small_gradients}, never},
      {gradients, {f32}, {boundaries(smoke)}, never},
      {gradients, {bf16, f64, f16, tf32}, {boundaries(standard)}, never},
      {gradients, {f32, bf16, f16}, {long_gradients}, never},
      {{"linear"}, {f32, bf16}, {quick, with_bias, relu}},
      {{"linear"}, {f32, f64, bf16, f16, tf32, bf16x9, i8}, {large, with_bias, none}},
      {{"linear"}, {f32, bf16}, {tokens, layer, with_bias, none}},
      {{"linear"}, {e4m3}, {large_of_bytes, with_bias, none}},
      {{"linear"}, blocks, {large_of_bytes, with_bias, none}},
      {{"linear"}, {f32, bf16}, {transformer, with_bias, gelu}},
      {{"linear_stack"}, floats, {large_stacks, with_bias, relu}},
      {gradients, {f32, bf16}, {large_gradients}},
      {{"sum_axis"}, {f32, bf16}, {bias_gradients}}};
  return {.order = 2,
          .name = "linear",
          .description = "y = act(x W^T + b): fully connected layers, and their gradients",
          .grids = with_edges(std::move(grids), edge_grids())};
}

}  // namespace assay
