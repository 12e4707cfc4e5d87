// Addresses that belong to nobody. Each kernel that errs stands before its mended twin.

// One thread too many passes the check.
extern "C" __global__ void read_past_end(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int value = i <= n ? in[i] : 0;
  if (i < n) out[i] = value;
}

extern "C" __global__ void read_within(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = in[i];
}

extern "C" __global__ void write_past_end(int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) out[i] = i;
}

extern "C" __global__ void write_within(int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = i;
}

// Writes at any distance, also before the beginning.
extern "C" __global__ void write_at(int* out, long long index) { out[index] = 1; }

extern "C" __global__ void add_at(int* out, long long index) { atomicAdd(&out[index], 1); }

// A vector that begins inside of the allocation and ends outside of it.
extern "C" __global__ void read_vector_at(const int4* in, int* out, long long index) {
  *out = in[index].w;
}

extern "C" __global__ void static_shared(int* out, int offset) {
  __shared__ int place[64];
  const int t = static_cast<int>(threadIdx.x);
  place[t + offset] = t;
  __syncthreads();
  out[t] = place[t + offset];
}

extern "C" __global__ void read_static_shared(int* out, int offset) {
  __shared__ int place[64];
  const int t = static_cast<int>(threadIdx.x);
  place[t] = t;
  __syncthreads();
  out[t] = place[t + offset];
}

// A size that is no multiple of 16 bytes.
extern "C" __global__ void odd_static_shared(int* out, int index) {
  __shared__ int place[61];
  place[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) place[index] = 7;
  __syncthreads();
  out[threadIdx.x] = place[threadIdx.x] + place[index];
}

extern __shared__ int dynamic[];

extern "C" __global__ void dynamic_shared(int* out, int offset) {
  const int t = static_cast<int>(threadIdx.x);
  dynamic[t + offset] = t;
  __syncthreads();
  out[t] = dynamic[t + offset];
}

extern "C" __global__ void local_array(int* out, int count, int last) {
  int place[8];
  for (int i = 0; i < count; ++i) place[i] = i + static_cast<int>(threadIdx.x);
  out[threadIdx.x] = place[last];
}
