// Reads of bytes that nothing has written.

extern "C" __global__ void add_one(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}

// Only even threads write.
extern "C" __global__ void half_written_shared(int* out) {
  __shared__ int place[64];
  const unsigned t = threadIdx.x;
  if (t % 2 == 0) place[t] = static_cast<int>(t);
  __syncthreads();
  out[t] = place[t ^ 1];
}

extern "C" __global__ void written_shared(int* out) {
  __shared__ int place[64];
  const unsigned t = threadIdx.x;
  place[t] = static_cast<int>(t);
  __syncthreads();
  out[t] = place[t ^ 1];
}

extern "C" __global__ void local_array(int* out, int count, int index) {
  int place[8];
  for (int i = 0; i < count; ++i) place[i] = i;
  out[threadIdx.x] = place[index];
}

// An atomic reads what it changes.
extern "C" __global__ void count(int* total) { atomicAdd(total, 1); }

extern "C" __global__ void clear(int* total) { *total = 0; }

// Shared memory of one block is not that of the block before it.
extern "C" __global__ void shared_of_another_block(int* out) {
  __shared__ int place[32];
  if (blockIdx.x == 0) place[threadIdx.x] = 1;
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = place[threadIdx.x];
}

// One byte of the four is missing.
extern "C" __global__ void write_three_bytes(unsigned char* out) {
  if (threadIdx.x < 3) out[threadIdx.x] = 1;
}
