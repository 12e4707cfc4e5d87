#include <algorithm>
#include <vector>

#include "emulator/tests/emulated_process.h"
#include "emulator/tests/programs/programs.h"

namespace emulator {
namespace {

using programs::Result;

const Environment hopper{{"ASSAY_EMULATED_GPU", "h100"}};

TEST(RuntimeClusters, TheHistogramOfTheGuide) {
  for (const char* seed : {"1", "2", "3"}) {
    Environment environment = hopper;
    environment.emplace("ASSAY_EMULATOR_SEED", seed);
    on_gpus(
        1,
        [] {
          for (const int blocks : {1, 2, 8})
            for (const bool is_in_graph : {false, true}) {
              const Result result = programs::histogram_in_clusters(blocks, is_in_graph);
              EXPECT_CUDA(result.error);
              EXPECT_EQ(result.values, std::vector<int>(256));
            }
        },
        environment);
  }
}

TEST(RuntimeClusters, OfAKernelThatAsksForThem) {
  on_gpus(
      1,
      [] {
        const Result result = programs::swapped_in_pairs(6);
        EXPECT_CUDA(result.error);
        EXPECT_EQ(result.values, (std::vector<int>{1, 0, 3, 2, 5, 4}));
        EXPECT_EQ(programs::swapped_in_pairs(5).error, cudaErrorInvalidClusterSize);
      },
      hopper);
}

TEST(RuntimeClusters, RefusesOthers) {
  on_gpus(
      1,
      [] {
        EXPECT_CUDA(programs::launch_pairs_as(4, 2));
        EXPECT_EQ(programs::launch_pairs_as(4, 4), cudaErrorInvalidClusterSize);
        EXPECT_CUDA(programs::launch_histogram_as(8, 8, false));
        EXPECT_EQ(programs::launch_histogram_as(9, 2, false), cudaErrorInvalidClusterSize);
        EXPECT_EQ(programs::launch_histogram_as(8, 0, false), cudaErrorInvalidClusterSize);
        EXPECT_EQ(programs::launch_histogram_as(16, 16, false), cudaErrorInvalidClusterSize);
        EXPECT_CUDA(programs::launch_histogram_as(16, 16, true));
        EXPECT_EQ(programs::launch_histogram_as(32, 32, true), cudaErrorInvalidClusterSize);
      },
      hopper);
}

TEST(RuntimeClusters, TellsOfThem) {
  on_gpus(
      1,
      [] {
        int has_clusters = 0;
        EXPECT_CUDA(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0));
        EXPECT_EQ(has_clusters, 1);
        const programs::ClusterFacts facts = programs::facts_of_clusters();
        EXPECT_EQ(facts.required_width, 2);
        EXPECT_EQ(facts.must_be_set, 1);
        EXPECT_EQ(facts.set_again, cudaErrorNotPermitted);
        EXPECT_EQ(facts.active, 2 * 114 / 4);  // 114 multiprocessors of 2048 threads
        EXPECT_EQ(facts.portable, 8);
        EXPECT_EQ(facts.non_portable, 16);
      },
      hopper);
  on_gpus(1, [] {
    int has_clusters = 1;
    EXPECT_CUDA(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0));
    EXPECT_EQ(has_clusters, 0);
  });
}

}  // namespace
}  // namespace emulator
