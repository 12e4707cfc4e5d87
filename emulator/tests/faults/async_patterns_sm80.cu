// For compute capability 8.0: waits poll with mbarrier.test_wait, groups copy with cp.async.
#include "emulator/tests/faults/async_patterns.cuh"
