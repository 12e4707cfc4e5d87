/* The interface between Assay and references of others: plain C, no dependency.
 *
 * A shared library that exports assay_ops() defines ops, as @assay.op does in Python
 * (docs/any-op.md). `assay run --own-ops ./ops.so --kernels mine.so` judges their kernels, and
 * `--kernels ./both.so` those of a library that exports assay_kernels() too.
 *
 * The steps of a reference in C cannot be traced, so its inputs and results are moved instead, by
 * as much as its author declares. Python with NumPy loads the library, in a process without
 * kernels. All text is UTF-8 and static. */
#ifndef ASSAY_OP_H
#define ASSAY_OP_H

#include <stdint.h>

/* NOLINTBEGIN(modernize-*,readability-*): this is C */

#ifdef __cplusplus
extern "C" {
#endif

/* A library of another version is refused before anything runs. */
#define ASSAY_OP_VERSION 1

/* A name in shapes, and the sizes that it takes. */
typedef struct assay_op_parameter {
  const char* name;
  const int64_t* sizes;
  int32_t size_count;
  int32_t is_fixed; /* 1: no odd sizes (1, 3, 17, the largest plus 1) beside them */
} assay_op_parameter;

/* Shapes are "rows,cols", "" for a scalar. An extent is a number, a name, or + - * // and ( )
 * over them. Each name is the whole of some extent of an input. */
typedef struct assay_op_input {
  const char* shape;
  const char* dtype; /* NULL: the case's; "f32", "e4m3", "i64", "u8" and others */
  /* Floats are uniform from low to high, and normal where both are NULL. Integers are from low to
   * high, both included: numbers, or extents such as "classes-1". */
  const char* low;
  const char* high;
} assay_op_input;

typedef struct assay_op_output {
  const char* shape;
  const char* dtype; /* NULL: the case's; "i64", "i32", "i8", "u8" */
} assay_op_output;

/* What a reference gets: rows of contiguous elements. Floating-point numbers are f64, whatever the
 * dtype of the case. */
typedef struct assay_op_array {
  void* data; /* of an input a copy, which may be changed */
  int32_t dimensions;
  const int64_t* shape;
  const char* dtype; /* "f64", or an integer's */
} assay_op_array;

typedef struct assay_op_definition {
  const char* name;
  const char* description; /* one line, for `assay list --ops`; NULL: none */
  const char* dtypes;      /* of the cases: "f32,bf16,f16"; NULL: f32 */
  const assay_op_parameter* parameters;
  int32_t parameter_count;
  int32_t input_count;
  int32_t output_count;
  const assay_op_input* inputs;
  const assay_op_output* outputs;

  /* A right kernel in f32 is taken for one that computes without error on inputs that are moved by
   * so many roundoffs of their own size, and whose results are moved by as many: 1 for sums,
   * products and functions of the inputs, more where many steps follow one another. 0: nobody
   * knows, and nothing is judged: all cases are `vacuous`. */
  double roundings;
  const char* terms; /* extent: the longest sum behind one output, "cols"; NULL: there is none */

  /* Computes all elements of all outputs in f64, the same ones each time. Returns NULL, or why it
   * cannot. */
  const char* (*reference)(const assay_op_array* inputs, const assay_op_array* outputs);
} assay_op_definition;

typedef struct assay_op_table {
  uint32_t version; /* ASSAY_OP_VERSION */
  const assay_op_definition* ops;
  int32_t op_count;
} assay_op_table;

/* The one function of a library. The table lives as long as the library. */
const assay_op_table* assay_ops(void);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-*) */

#endif /* ASSAY_OP_H */
