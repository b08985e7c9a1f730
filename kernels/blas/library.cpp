// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "blas/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace mpigauge::blas {

namespace {

constexpr int by_columns = 102;
constexpr int as_it_is = 111;

// A call with 64-bit integers is right for a library with 32 bits, too, where arguments have whole
// registers or whole words of the stack, lowest bytes first: it reads the lower halves.
constexpr bool fits_both_widths =
    sizeof(void*) == 8 &&
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;  // NOLINT(misc-redundant-expression)
template <class Number>
using Product = void (*)(int order, int of_a, int of_b, long m, long n, long k, Number alpha,
                         const Number* a, long lda, const Number* b, long ldb, Number beta,
                         Number* c, long ldc);

// "cblas_?gemm": those first whose name says how wide integers are.
struct Symbol {
  const char* before;
  const char* after;
  int bits;
};
constexpr std::array symbols{Symbol{"cblas_", "64_", 64}, Symbol{"scipy_cblas_", "64_", 64},
                             Symbol{"cblas_", "_64", 64}, Symbol{"scipy_cblas_", "", 32},
                             Symbol{"cblas_", "", 0}};

std::string name_of(const Symbol& symbol, const char* what) {
  return std::string(symbol.before) + what + symbol.after;
}

const Symbol* symbol_called(const std::string& name) {
  const auto* const at = std::find_if(symbols.begin(), symbols.end(), [&](const Symbol& each) {
    return name_of(each, "dgemm") == name;
  });
  return at == symbols.end() ? nullptr : at;
}

std::string base_name(const std::string& file) { return file.substr(file.find_last_of('/') + 1); }

// The names that builds of OpenBLAS give to one call.
std::vector<std::string> of_openblas(const std::string& what) {
  std::vector<std::string> names;
  for (const char* before : {"", "scipy_"}) {
    for (const char* after : {"", "64_", "_64", "_64_"}) {
      names.push_back(before + ("openblas_" + what) + after);
    }
  }
  return names;
}

// The struct that MKL's mkl_types.h calls MKLVersion.
struct MklVersion {
  int major, minor, update;
  char *status, *build, *processor, *platform;
};

std::string threading_of(int parallel) {
  constexpr std::array words{"sequential", "pthreads", "OpenMP"};
  return parallel >= 0 && parallel < 3 ? words.at(static_cast<std::size_t>(parallel)) : "";
}

// "OpenBLAS 0.3.34  USE64BITINT DYNAMIC_ARCH ..."
std::string first_two_words(const std::string& text) {
  const auto second = text.find_first_not_of(' ', text.find(' '));
  return second == std::string::npos ? text : text.substr(0, text.find(' ', second));
}

// One of its layers wants Intel's OpenMP unless it is told otherwise, and ends the process where
// there is none.
void choose_layer_of_mkl(const std::string& file) {
  if (base_name(file).find("mkl_rt") == std::string::npos) return;
  const void* intel = dlopen("libiomp5.so", RTLD_LAZY | RTLD_LOCAL);
  if (intel == nullptr) setenv("MKL_THREADING_LAYER", "GNU", 0);
}

}  // namespace

std::string words_of(const Account& account) {
  std::string text = account.name;
  if (!account.core.empty()) text += ", core " + account.core;
  if (!account.threading.empty()) text += ", " + account.threading;
  if (account.threads > 0) {
    text +=
        ", " + std::to_string(account.threads) + (account.threads == 1 ? " thread" : " threads");
  }
  return text;
}

Library::Library(const std::string& file) : file_(file) {
  if (!fits_both_widths) {
    throw std::runtime_error("a BLAS cannot be called on this kind of processor yet");
  }
  choose_layer_of_mkl(file);
  handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* why = dlerror();
    throw std::runtime_error("cannot open the BLAS " + file + ": " + (why != nullptr ? why : "?"));
  }
  for (const Symbol& each : symbols) {
    symbol_ = name_of(each, "dgemm");
    double_product_ = find(symbol_);
    single_product_ = find(name_of(each, "sgemm"));
    if (double_product_ != nullptr && single_product_ != nullptr) return;
  }
  throw std::runtime_error(file + " has no cblas_dgemm and cblas_sgemm by any name known here" +
                           (find("dgemm_") != nullptr ? ": it has Fortran's dgemm_ alone" : ""));
}

void* Library::find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

template <class Function>
Function Library::call(const std::vector<std::string>& names) const {
  for (const auto& name : names) {
    if (void* const found = find(name); found != nullptr) {
      return reinterpret_cast<Function>(found);
    }
  }
  return nullptr;
}

void Library::product(long m, long n, long k, double alpha, const double* a, const double* b,
                      double beta, double* c) const {
  reinterpret_cast<Product<double>>(double_product_)(by_columns, as_it_is, as_it_is, m, n, k, alpha,
                                                     a, m, b, k, beta, c, m);
}

void Library::product(long m, long n, long k, float alpha, const float* a, const float* b,
                      float beta, float* c) const {
  reinterpret_cast<Product<float>>(single_product_)(by_columns, as_it_is, as_it_is, m, n, k, alpha,
                                                    a, m, b, k, beta, c, m);
}

void Library::use_threads(int threads) const {
  using Set = void (*)(long);
  auto names = of_openblas("set_num_threads");
  names.insert(names.end(), {"MKL_Set_Num_Threads", "bli_thread_set_num_threads"});
  if (const auto set = call<Set>(names); set != nullptr) set(threads);
}

Account Library::account() const {
  using Text = const char* (*)();
  using Number = int (*)();
  using Count = long (*)();
  if (const auto config = call<Text>(of_openblas("get_config")); config != nullptr) {
    const auto core = call<Text>(of_openblas("get_corename"));
    const auto parallel = call<Number>(of_openblas("get_parallel"));
    const auto threads = call<Number>(of_openblas("get_num_threads"));
    return {.name = first_two_words(config()),
            .core = core != nullptr ? core() : "",
            .threading = parallel != nullptr ? threading_of(parallel()) : "",
            .threads = threads != nullptr ? threads() : 0};
  }
  if (const auto ask = call<void (*)(MklVersion*)>({"MKL_Get_Version"}); ask != nullptr) {
    MklVersion version{};
    ask(&version);
    const auto threads = call<Number>({"MKL_Get_Max_Threads"});
    return {.name = "MKL " + std::to_string(version.major) + '.' + std::to_string(version.update),
            .core = version.processor != nullptr ? version.processor : "",
            .threads = threads != nullptr ? threads() : 0};
  }
  if (const auto ask = call<Text>({"bli_info_get_version_str"}); ask != nullptr) {
    const auto kind = call<Number>({"bli_arch_query_id"});
    const auto word = call<const char* (*)(int)>({"bli_arch_string"});
    const auto threads = call<Count>({"bli_thread_get_num_threads"});
    return {.name = std::string("BLIS ") + ask(),
            .core = kind != nullptr && word != nullptr ? word(kind()) : "",
            .threads = threads != nullptr ? static_cast<int>(threads()) : 0};
  }
  return {.name = base_name(file_)};
}

int Library::bits() const { return symbol_called(symbol_)->bits; }

void ask_for_threads(int threads) {
  for (const char* name :
       {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"}) {
    setenv(name, std::to_string(threads).c_str(), 1);
  }
}

// --- in a process of its own --------------------------------------------------------------------

namespace {

constexpr long few = 3;  // rows and columns

void say(const char* name, const std::string& value) {
  std::printf("%s=%s\n", name, value.c_str());
  std::fflush(stdout);  // what follows may end the process
}

template <class Number>
struct Small {
  std::array<Number, few * few> a{1, 2, 3, 4, 5, 6, 7, 8, 9}, b{9, 8, 7, 6, 5, 4, 3, 2, 1}, c{};
  // By columns.
  static constexpr std::array<Number, few * few> right{90, 114, 138, 54, 69, 84, 18, 24, 30};

  bool multiplied(const Library& library, long rows) {
    c.fill(-1);
    library.product(rows, few, few, Number{1}, a.data(), b.data(), Number{0}, c.data());
    return c == right;
  }
};

// The number of rows is 3 in its lower half and below 0 as a whole, which libraries with 64 bits
// refuse, or end the process for. It is the leading dimension of two matrices as well.
int bits_by_trial(const Library& library) {
  constexpr long lower_half_alone = few - (1L << 32U);
  return Small<double>().multiplied(library, lower_half_alone) ? 32 : 64;
}

}  // namespace

int look_at(const std::string& file) {
  try {
    const Library library(file);
    const Account account = library.account();
    say("name", account.name);
    say("core", account.core);
    say("threading", account.threading);
    say("threads", std::to_string(account.threads));
    say("symbol", library.symbol());
    say("trial", "product");
    if (!Small<double>().multiplied(library, few) || !Small<float>().multiplied(library, few)) {
      throw std::runtime_error(file + " gives a wrong product of 3 x 3 matrices");
    }
    say("product", "right");
    const int known = library.bits();
    say("bits", std::to_string(known != 0 ? known : bits_by_trial(library)));
  } catch (const std::exception& error) {
    say("problem", error.what());
    return 2;
  }
  return 0;
}

}  // namespace mpigauge::blas
