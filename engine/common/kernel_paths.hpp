// The table of instruction sets that the scans, and some other loops, are compiled for. To add one, add a
// row: the dispatch, the bindings and, through `codt._core.kernels()`, the tests, the fuzzer and the
// benchmarks read the table.
#pragma once

#include <span>

// ROW(name, bytes of a register, attribute of the functions compiled for it, whether this processor can run
// it), the narrowest first.
#define CODT_VECTOR_PATHS(ROW) \
    ROW(baseline, 16, , true)  \
    CODT_X86_PATHS(ROW)

#if defined(__GNUC__) && defined(__x86_64__)
#define CODT_HAS(feature) (__builtin_cpu_supports(feature) != 0)
#define CODT_HAS_AVX2 (CODT_HAS("avx2") && CODT_HAS("bmi") && CODT_HAS("bmi2") && CODT_HAS("fma"))
#define CODT_HAS_AVX512                                                                      \
    (CODT_HAS_AVX2 && CODT_HAS("avx512f") && CODT_HAS("avx512bw") && CODT_HAS("avx512dq") && \
     CODT_HAS("avx512vl") && CODT_HAS("avx512cd"))
#ifdef __clang__  // it ignores the whole attribute if it does not know a part of it
#define CODT_WIDE "arch=x86-64-v4"
#else
#define CODT_WIDE "arch=x86-64-v4,prefer-vector-width=512"
#endif
#define CODT_X86_PATHS(ROW)                                         \
    ROW(avx2, 32, [[gnu::target("arch=x86-64-v3")]], CODT_HAS_AVX2) \
    ROW(avx512, 64, [[gnu::target(CODT_WIDE)]], CODT_HAS_AVX512)
#define CODT_WIDE_PATH avx512  // for what is written in its own instructions
#else
#define CODT_X86_PATHS(ROW)
#endif

namespace codt {

// `scalar` is the generic loop of the paper, one threshold at a time; the others run the same vector code
// with wider registers.
#define CODT_NAME(name, ...) name,
enum class KernelPath { scalar, CODT_VECTOR_PATHS(CODT_NAME) };
#undef CODT_NAME

struct KernelPathRow {
    KernelPath path;
    const char* name;
    bool supported;  // by this processor
};

// All of them, the narrowest first.
std::span<const KernelPathRow> kernel_paths();

// The widest path this processor supports.
KernelPath best_kernel_path();

}  // namespace codt
