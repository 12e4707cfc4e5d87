#include "suites/suite.h"

namespace assay {

Suite linear_suite() {
  using enum DType;
  using enum Level;
  const std::vector<DType> dtypes{f32, f64, bf16, f16, i8};
  const Axis small{{"batch", "in", "out"},
                   {{seeds, {2, 3, 1}},        // Linear(3, 1) on a 2 x 3 input
                    {seeds, {2, 3, 3}},        // Linear(3, 3)
                    {seeds, {16, 64, 33}},     // batch 16, and a width that fills no tile
                    {smoke, {1, 400, 120}},    // LeNet-5's three
                    {smoke, {64, 120, 84}},
                    {smoke, {64, 84, 10}}}};
  const Axis large{{"batch", "in", "out"},
                   {{smoke, {64, 1024, 1024}},
                    {smoke, {1, 4096, 1000}},          // a classifier's head
                    {standard, {128, 784, 512}},       // an MLP on 28 x 28 pixels
                    {standard, {512, 768, 3072}},      // BERT base, up
                    {standard, {512, 3072, 768}},      // and down
                    {standard, {4096, 1024, 1024}},
                    {standard, {1, 4096, 11008}},      // Llama 7B, one token
                    {standard, {256, 4096, 4096}},
                    {full, {2048, 4096, 11008}},       // and a prompt
                    {full, {4096, 4096, 4096}},
                    {full, {512, 11008, 4096}},
                    {full, {16, 4096, 32000}}}};       // its vocabulary
  const Axis bias = axis("bias", {{seeds, 0}, {seeds, 1}});
  const Axis with_bias = axis("bias", {{smoke, 1}});
  const Axis activations = axis("act", {{seeds, "none"}, {seeds, "relu"}, {seeds, "gelu"}, {seeds, "gelu_tanh"}});
  const Axis integer_activations = axis("act", {{seeds, "none"}, {seeds, "relu"}});
  const std::vector<DType> floats{f32, f64, bf16, f16};
  const Axis stacks{{"batch", "in", "width", "layers"},
                    {{seeds, {16, 10, 16, 3}},         // the tutorials' three layers, batch 16
                     {smoke, {64, 256, 256, 4}},
                     {standard, {256, 784, 1024, 3}},
                     {full, {512, 4096, 4096, 4}}}};
  return {.name = "linear",
          .description = "y = act(x W^T + b): the forward pass of fully connected layers",
          .grids = {{{"linear"}, floats, {small, bias, activations}},
                    {{"linear"}, {i8}, {small, bias, integer_activations}},
                    {{"linear"}, floats, {large, with_bias, axis("act", {{smoke, "none"}, {standard, "gelu"}})}},
                    {{"linear"}, {i8}, {large, with_bias, axis("act", {{smoke, "none"}})}},
                    {{"linear_stack"}, floats, {stacks, axis("bias", {{seeds, 0}, {smoke, 1}}), axis("act", {{seeds, "relu"}, {smoke, "gelu"}})}}}};
}

}  // namespace assay
