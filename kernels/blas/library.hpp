// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A BLAS with a C interface (CBLAS), opened at run time, whatever its symbols are called and
// however wide its integers are.
#pragma once

#include <string>
#include <vector>

namespace mpigauge::blas {

/// What a library says of itself; empty and 0: it does not say.
struct Account {
  std::string name;       ///< with its version: OpenBLAS 0.3.34
  std::string core;       ///< the kind of processor that it has chosen its loops for
  std::string threading;  ///< sequential, pthreads or OpenMP
  int threads = 0;        ///< that it will use
};
/// OpenBLAS 0.3.34, core SkylakeX, pthreads, 2 threads.
std::string words_of(const Account& account);

class Library {
 public:
  /// Throws std::runtime_error: it cannot be opened, or has no products with a C interface.
  explicit Library(const std::string& file);

  /// c = alpha a b + beta c; a is m x k, b k x n, all by columns and without gaps.
  void product(long m, long n, long k, double alpha, const double* a, const double* b, double beta,
               double* c) const;
  void product(long m, long n, long k, float alpha, const float* a, const float* b, float beta,
               float* c) const;
  /// Does nothing where the library has no call for it; then it may heed ask_for_threads().
  void use_threads(int threads) const;
  [[nodiscard]] Account account() const;
  /// The symbol of the product of doubles.
  [[nodiscard]] const std::string& symbol() const { return symbol_; }
  /// Bits of its integers, as far as its symbols tell; 0: they do not.
  [[nodiscard]] int bits() const;

 private:
  [[nodiscard]] void* find(const std::string& name) const;
  template <class Function>
  [[nodiscard]] Function call(const std::vector<std::string>& names) const;

  void* handle_ = nullptr;
  std::string file_, symbol_;
  void* double_product_ = nullptr;
  void* single_product_ = nullptr;
};

/// Tells libraries that are opened from now on, by the variables that they read.
void ask_for_threads(int threads);

/// The word before the file in the options of a kernel that only does that.
inline constexpr const char* try_word = "--try-blas";
/// In a process of its own, which may end in it: opens the library, multiplies small matrices,
/// finds out how wide its integers are, and prints a line `name=value` for each thing as soon as it
/// is known. The exit status: 0, or 2 after a line `problem=`.
int look_at(const std::string& file);

}  // namespace mpigauge::blas
