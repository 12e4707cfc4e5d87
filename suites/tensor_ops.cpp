#include "suites/suite.h"

namespace assay {
namespace {

using enum DType;
using enum Level;

/// None; one; three, as in [1, 2, 3] squared; an odd number of some vectors; a prime above a page; a
/// prime beyond the first caches; 16 Mi, beyond the last; and a prime beyond that.
const Axis lengths = axis("n", {{seeds, 0},
                                {seeds, 1},
                                {seeds, 3},
                                {seeds, 1003},
                                {smoke, 65537},
                                {standard, 1048573},
                                {standard, 16777216},
                                {full, 67108859}});
/// The same without none, for what is not defined of nothing.
const Axis some = axis("n", {{seeds, 1},
                             {seeds, 3},
                             {seeds, 1003},
                             {smoke, 65537},
                             {standard, 1048573},
                             {standard, 16777216},
                             {full, 67108859}});
/// Of what takes n log n.
const Axis sorted = axis("n", {{seeds, 0},
                               {seeds, 1},
                               {seeds, 3},
                               {seeds, 1003},
                               {smoke, 65537},
                               {standard, 1048573},
                               {full, 16777216}});
/// Rows of a prime length within wider ones: nothing is aligned, and the gaps are guarded.
const Axis strided{{"n", "cols", "ld"},
                   {{seeds, {610, 61, 64}}, {standard, {1048567, 1021, 1024}}}};
const Axis rows{{"rows", "cols"},
                {{seeds, {2, 3}},
                 {seeds, {16, 1003}},
                 {smoke, {1, 65537}},
                 {smoke, {1021, 128}},
                 {standard, {4096, 1024}},
                 {standard, {16384, 1024}},
                 {full, {16384, 4096}}}};
const Axis strided_rows{{"rows", "cols", "ld"}, {{seeds, {5, 61, 64}}, {standard, {1021, 768, 1024}}}};
const Axis matrices{{"rows", "cols"},
                    {{seeds, {1, 1}},
                     {seeds, {3, 5}},
                     {seeds, {37, 61}},
                     {smoke, {257, 1021}},
                     {standard, {4096, 4096}},
                     {full, {8191, 8192}}}};
/// An embedding: rows of a table, chosen by indices.
const Axis tables{{"rows", "cols", "count"},
                  {{seeds, {5, 3, 7}},
                   {seeds, {101, 33, 0}},
                   {smoke, {1021, 61, 509}},
                   {standard, {30522, 768, 4096}},
                   {full, {128256, 1024, 16384}}}};
/// Products of the size of an attention's heads.
const Axis heads{{"batch", "m", "n", "k"},
                 {{seeds, {1, 1, 1, 1}},
                  {seeds, {3, 5, 7, 11}},
                  {smoke, {12, 64, 61, 64}},
                  {standard, {96, 128, 128, 64}},
                  {full, {32, 1024, 1024, 128}}}};

const std::vector<DType> floats{f64, f32, bf16, f16};
const std::vector<DType> all{f64, f32, bf16, f16, i64, i32, i8, u8};

}  // namespace

Suite tensor_ops_suite() {
  const std::vector<std::string_view> elementwise{
      "fill",  "copy", "neg",  "abs",  "add",     "sub",  "mul",  "div",       "fma",
      "scale", "sqrt", "log",  "tanh", "sigmoid", "relu", "gelu", "gelu_tanh", "pow",
      "min",   "max",  "less", "equal", "where",  "square", "exp"};
  const Axis to = axis("to", {{seeds, "f64"},
                              {seeds, "f32"},
                              {seeds, "bf16"},
                              {seeds, "f16"},
                              {seeds, "i64"},
                              {seeds, "i32"},
                              {seeds, "i8"},
                              {seeds, "u8"}});
  return {.name = "tensor_ops",
          .description = "elementwise, reduction, row-wise and layout ops on tensors",
          .grids = {{elementwise, all, {lengths}},
                    {elementwise, all, {strided}},
                    {{"cast"}, all, {to, axis("n", {{seeds, 1003}, {smoke, 65537}, {standard, 1048573}, {full, 16777216}})}},
                    {{"random"}, all, {lengths, axis("seed", {{seeds, 1}})}},
                    {{"sum", "prod", "dot", "norm2", "scan"}, all, {lengths}},
                    {{"mean", "reduce_min", "reduce_max", "argmax"}, all, {some}},
                    {{"sort"}, all, {sorted}},
                    {{"softmax", "layernorm"}, floats, {rows}},
                    {{"softmax", "layernorm"}, floats, {strided_rows}},
                    {{"transpose"}, all, {matrices}},
                    {{"gather"}, all, {tables}},
                    {{"batched_matmul"}, floats, {heads}}}};
}

}  // namespace assay
