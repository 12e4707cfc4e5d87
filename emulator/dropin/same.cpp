// A library for programs that name it: a version, which their references ask for, and the library
// behind it. Nothing differs from its calls, which are those of CUDA 13.
