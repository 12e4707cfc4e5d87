// Times all-reduces as an MPI program of one page would: a barrier, several launches, the slowest
// rank's clock.
//
//   mpirun -np 2 plain_mpi COUNT SECONDS
//
// sums COUNT elements of f32. Prints {"median_s": ..., "samples": ...} of one all-reduce.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

/// Aligns memory to cache lines, as Assay does with its tensors.
template <class T>
struct CacheLines {
  using value_type = T;
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete (memory, std::align_val_t{64}); }
  bool operator==(const CacheLines&) const = default;
};
using Floats = std::vector<float, CacheLines<float>>;

/// Seconds of one of `launches` all-reduces, by the slowest rank.
double sample_s(const Floats& input, Floats& output, int launches) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < launches; ++i) {
    MPI_Allreduce(input.data(), output.data(), static_cast<int>(input.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds / launches;
}

}  // namespace

int main(int argc, char** argv) {
  // Requests the level of a program with threads, as Assay is one. With any level but
  // MPI_THREAD_SINGLE Open MPI 4.1 takes its locks, some 2% of an all-reduce of 64 KiB.
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 3) {
    if (rank == 0) std::fprintf(stderr, "plain_mpi COUNT SECONDS\n");
    MPI_Finalize();
    return 2;
  }
  const auto count = static_cast<std::size_t>(std::atoll(argv[1]));
  const double seconds = std::atof(argv[2]);
  constexpr double batch_s = 0.3e-3;
  Floats input(count);
  Floats output(count);
  for (std::size_t i = 0; i < count; ++i)
    input[i] = static_cast<float>(std::sin(static_cast<double>(i + 1)));

  double once_s = 0;
  for (int i = 0; i < 5; ++i) once_s = sample_s(input, output, 1);
  const int launches = std::max(1, static_cast<int>(std::ceil(batch_s / once_s)));
  const double warm_until = MPI_Wtime() + 0.2 * seconds;
  int more = 1;
  while (more != 0) {  // rank 0's clock decides for all ranks
    sample_s(input, output, launches);
    more = MPI_Wtime() < warm_until ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  std::vector<double> samples;
  const double end = MPI_Wtime() + seconds;
  for (more = 1; more != 0;) {
    samples.push_back(sample_s(input, output, launches));
    more = MPI_Wtime() < end ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    std::nth_element(samples.begin(),
                     samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2),
                     samples.end());
    std::printf("{\"median_s\": %.9g, \"samples\": %zu}\n", samples[samples.size() / 2],
                samples.size());
  }
  MPI_Finalize();
  return 0;
}
