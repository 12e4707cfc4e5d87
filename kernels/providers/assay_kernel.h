/* The interface between Assay and kernels of others: plain C, no dependency.
 *
 * A shared library exports one function, assay_kernels(), and `assay run --kernels ./mine.so` puts
 * its kernels before the same oracles and clocks as the built-in ones. docs/kernels.md has examples
 * that are compiled and run by tests.
 *
 * All calls come from one thread of a process that holds nothing but the tensors below: no
 * reference, and no expected result. Text is UTF-8, and lives until the next call or longer. */
#ifndef ASSAY_KERNEL_H
#define ASSAY_KERNEL_H

#include <stdint.h>

/* NOLINTBEGIN(modernize-*,readability-*): this is C */

#ifdef __cplusplus
extern "C" {
#endif

/* A library of another version is refused before anything runs. */
#define ASSAY_KERNEL_VERSION 2

enum assay_result {
  ASSAY_OK = 0,
  ASSAY_NOT_MINE = 1,      /* create: no kernel for this problem. The row is a skip. */
  ASSAY_OUT_OF_MEMORY = 2, /* the row is `oom` */
  ASSAY_FAILED = 3         /* the row is `error`, with the text of last_error */
};

/* Shape of one tensor. `strides` are in elements. The last extent is contiguous, and rows may lie
 * apart, unless the kernel takes views: then all strides are free, as those of a transposed tensor,
 * and 0 along an extent of an input that repeats the same elements. Elements of int4 and other
 * packed types do not occur. */
typedef struct assay_tensor {
  const char* dtype;  /* "f64", "f32", "bf16", "f16", "i64", "i32", "i8", "u8", "e4m3", "e5m2"; of
                         casts also "i16", "u16", "u32", "u64", and "bool", a byte of 0 or 1 */
  int32_t dimensions; /* 0: a scalar, which has one element */
  const int64_t* shape;
  const int64_t* strides;
} assay_tensor;

/* A parameter of the case: n=1024, or act=relu. `assay list` shows them. */
typedef struct assay_parameter {
  const char* name;
  const char* text; /* "1024", "relu" */
  int64_t number;   /* 1024; 0 for a word */
} assay_parameter;

/* What a kernel is to compute. Pointers are valid during create alone. */
typedef struct assay_problem {
  const char* op;    /* "add", "softmax", "linear": docs/kernels.md says where the formulas are */
  const char* dtype; /* of the op: "tf32" and "bf16x9" have tensors of f32 */
  const assay_parameter* parameters;
  int32_t parameter_count;
  int32_t input_count;
  int32_t output_count;
  const assay_tensor* inputs; /* the address of one without elements may be NULL */
  const assay_tensor* outputs;
  const char*
      device_kind;      /* "cpu", "cuda", "sim", which has host memory, or one of assay_devices */
  int32_t device_index; /* among the visible devices of its kind */
  int32_t ranks;        /* 1: collectives are not asked for in this version */
} assay_problem;

/* An op that the library has. */
typedef struct assay_offer {
  const char* op;
  const char* dtypes;  /* "f32,bf16"; NULL: all that the op has */
  int32_t takes_views; /* 1: it gets the cases with a parameter `view` too */
} assay_offer;

/* Devices that the library drives itself, for hardware that Assay cannot reach. All functions of a
 * device finish their work before they return, and give an assay_result. An address may be any
 * number that the library understands; Assay adds offsets to it and never follows it. */
typedef struct assay_device {
  const char* kind; /* lower-case words with colons between: "torch:xpu" */
  int32_t index;    /* among those of its kind, from 0 */
  const char* name; /* of the product */
} assay_device;

typedef struct assay_devices {
  const assay_device* list;
  int32_t count;
  /* `device` is a place in `list`. Addresses are multiples of 64. */
  int32_t (*allocate)(int32_t device, int64_t bytes, void** memory);
  void (*release)(void* memory);
  int32_t (*upload)(void* to, const void* from_host, int64_t bytes);
  int32_t (*download)(void* to_host, const void* from, int64_t bytes);
  int32_t (*fill)(void* to, int32_t byte, int64_t bytes);
  /* Waits for the stream that launches use, or for all work on the device. */
  int32_t (*synchronize)(int32_t device, int32_t all);
} assay_devices;

typedef struct assay_kernel_table {
  uint32_t version; /* ASSAY_KERNEL_VERSION */
  const char* name; /* "mykernels 1.2": begins the column `implementation` */
  const assay_offer* offers;
  int32_t offer_count;

  /* Makes a kernel for a problem on the current device. `kernel` becomes what the other calls
   * get. */
  int32_t (*create)(const assay_problem* problem, void** kernel);

  /* Computes the outputs from the inputs, with addresses in the order of the problem. They change
   * from launch to launch. They are multiples of the element's size, often of no more, and nothing
   * past the end of a tensor may be read. On a GPU it enqueues the work on `stream`, a
   * cudaStream_t. On a CPU `stream` is NULL, and the outputs must be complete on return. */
  int32_t (*launch)(void* kernel, const void* const* inputs, void* const* outputs, void* stream);

  void (*destroy)(void* kernel);

  /* Text of the last call's failure, also of ASSAY_NOT_MINE. */
  const char* (*last_error)(void);

  /* The algorithm of a kernel and the flags that change it, for the column `implementation`; NULL:
   * nothing to say. */
  const char* (*describe)(void* kernel);

  const assay_devices* devices; /* NULL: none of its own */
} assay_kernel_table;

/* The one function that a library must have. The table lives as long as the library. NULL: there is
 * none here, for a reason that assay_refusal tells. */
const assay_kernel_table* assay_kernels(void);

/* Optional: why assay_kernels gave NULL, with a remedy, such as that another library is missing. */
const char* assay_refusal(void);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-*) */

#endif /* ASSAY_KERNEL_H */
