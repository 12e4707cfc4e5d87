#pragma once

#include <cuda_runtime_api.h>

#include <vector>

/// Programs as their authors write them, which nvcc has compiled; runtime_programs_test.cpp runs
/// them.
namespace emulator::programs {

struct Result {
  cudaError_t error;        // of the copy of the results
  std::vector<int> values;  // empty after an error
};

/// Blocks that write a number each, and wait for one another twice: [0] is the sum of the numbers.
/// `error` is that of the launch if it fails.
Result cooperative_sum(int blocks);
/// As `cooperative_sum`, by a launch that promises nothing.
Result sum_without_promise(int blocks);

/// The Fibonacci number of `index`, by a kernel that calls itself, with so much stack for each
/// thread; 0: the default.
Result recursive_fibonacci(int index, std::size_t stack_bytes);

/// [i]: i times 1 for the first four and i times 2 for the others, by variables of a kernel, pinned
/// memory and rows with a pitch.
Result sums_of_variables();
cudaError_t copy_past_a_variable();
/// 7 and the number of its calls, which a variable of the GPU counts.
int count_calls();

/// Kernels for arrays of so many elements, which the caller puts on streams.
inline constexpr int stream_elements = 256;
void fill(int* memory, int value, cudaStream_t stream);
void increase(int* to, const int* from, cudaStream_t stream);  // to[i] = from[i] + 1
void count_up(int* counter, cudaStream_t stream);              // atomically
/// Fills 64 elements, and sets a flag in memory of the host, or of the GPU for a kernel that uses
/// the elements if it finds the flag set.
void tell_host(int* memory, int* flag, cudaStream_t stream);
void tell_kernel(int* memory, int* flag, cudaStream_t stream);
void add_if_kernel_told(int* to, const int* from, int* flag, cudaStream_t stream);

/// Runs a kernel with two races, a read of shared memory that nothing has written and an access
/// past the end, on lines of their own, and one more kernel behind it. The error of the end.
cudaError_t run_with_findings();
/// The first numbers of 0, 1, 2… in managed memory, doubled twice by kernels; the host makes the
/// first a 1 in between.
Result managed_numbers();
/// Managed variables: 5 plus twice the sum of 0 to 99, that number through a managed pointer, and
/// whether cudaGetSymbolAddress gives the address that the host has. Who uses them first, a
/// call for the GPU or the host?
Result managed_variables(bool kernel_is_first);
cudaError_t race_in_managed_memory();
cudaError_t write_past_managed_memory();
/// How many of 32 numbers are positive that the host has written over what nothing had written.
Result managed_numbers_of_the_host();

/// [i]: 100 times the texel i of an image 8 by 6 of the floats 0, 1, 2 and so on, plus 10 times the
/// mean of it and its right neighbour; a row's last texel is its own neighbour.
Result filtered_image();
/// [i]: the bytes i, i + 1, 2 and their sum, by a texture and a surface of arrays 8 by 6.
Result image_with_alpha();
/// [0]: the sum of (i % 4 + 1) i for i below 64, by textures of a 3D array and of linear memory.
Result sum_of_volume_and_line();
/// [i]: twice the value at level i / 2 of a mipmap whose three levels hold 0, 10 and 20.
Result levels_of_a_mipmap();
/// Fetches by a texture object that the program has destroyed.
Result fetch_after_its_end();

/// [i]: 3 i for even i and i + 3 for odd ones, by virtual functions; [i + 8]: -i, by the pointer to
/// a function that a variable holds.
Result results_of_pointers();
/// [i]: the sum of the numbers below i, by memory that each thread allocates in a first kernel and
/// frees in a second one; -1 for a thread that got none of the heap of so many bytes; 0: the
/// default.
Result sums_in_the_heap(std::size_t heap_bytes);
/// Frees an address that is no allocation's.
cudaError_t free_what_is_none();

/// A tensor of numbers 0, 1, 2… in rows of which the last few are no part of it.
inline constexpr int tensor_width = 100, tensor_row = 104, tensor_height = 40;
enum class MapPlace { parameter, constant, device };
/// Adds one to a tile of 64 by 16 of it at (x, y), by copies with a tensor map.
Result numbers_plus_one(int x, int y, MapPlace place);
/// The tile at (3, 2), as each of two blocks has got it by one copy.
Result tile_of_two_blocks();
/// Copies a tile, which begins at (3, 2), with a mistake or without.
enum class TensorMistake { none, freed, no_map, expects_less, no_wait, no_fence };
cudaError_t copy_tensor_with(TensorMistake mistake);
/// A matrix of 8 by 8 chunks of four numbers, which a swizzled copy transposes.
Result transposed_chunks();
/// The guide's histogram in distributed shared memory, minus that of the host: zeros. In a graph by
/// a node whose grid is changed afterwards.
Result histogram_in_clusters(int cluster_blocks, bool is_in_graph);
/// [i]: i ^ 1, by a kernel with `__cluster_dims__(2)`.
Result swapped_in_pairs(int blocks);
/// Errors of launches with clusters of so many blocks: of that kernel, and of the histogram.
cudaError_t launch_pairs_as(int grid, int cluster_blocks);
cudaError_t launch_histogram_as(int grid, int cluster_blocks, bool allow_non_portable);
/// What the runtime tells of them.
struct ClusterFacts {
  int required_width, must_be_set;
  cudaError_t set_again;               // of another width
  int active, portable, non_portable;  // cudaOccupancy…: 1024 threads in clusters of four
};
ClusterFacts facts_of_clusters();

}  // namespace emulator::programs
