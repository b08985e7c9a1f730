# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Simple BLAS libraries, which do wrong as BLAS_FAULT in the environment says."""

from __future__ import annotations

import atexit
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

SOURCE = r"""
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {
bool fault(const char* name) {
  const char* wanted = std::getenv("BLAS_FAULT");
  return wanted != nullptr && std::strcmp(wanted, name) == 0;
}

template <class T>
void gemm(INTEGER m, INTEGER n, INTEGER k, T alpha, const T* a, INTEGER lda, const T* b,
          INTEGER ldb, T beta, T* c, INTEGER ldc) {
  if (fault("crash")) std::abort();
  if (fault("hang")) pause();
  if (fault("leave")) std::exit(7);
  if (fault("nothing") || m < 0) return;
  for (INTEGER j = 0; j < n; ++j) {
    for (INTEGER i = 0; i < m; ++i) c[j * ldc + i] = beta == 0 ? 0 : beta * c[j * ldc + i];
    for (INTEGER l = 0; l < k; ++l) {
      for (INTEGER i = 0; i < m; ++i) c[j * ldc + i] += alpha * a[l * lda + i] * b[j * ldb + l];
    }
  }
  if (fault("wrong") && m > 9) c[(n / 2) * m + 7] += 1;
  if (fault("nan") && m > 9) c[m * n - 1] = NAN;
}
}  // namespace

#define GEMM(name, T)                                                                        \
  extern "C" void name(int, int, int, INTEGER m, INTEGER n, INTEGER k, T alpha, const T* a,  \
                       INTEGER lda, const T* b, INTEGER ldb, T beta, T* c, INTEGER ldc) {    \
    gemm<T>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                   \
  }
GEMM(DGEMM, double)
GEMM(SGEMM, float)
"""
CBLAS = ("cblas_dgemm", "cblas_sgemm")
WITH_64 = ("cblas_dgemm64_", "cblas_sgemm64_")
KINDS = {
    "simple": ("int", *CBLAS),
    "wide": ("long", *CBLAS),
    "named64": ("long", *WITH_64),
    "misnamed64": ("int", *WITH_64),
    "fortran": ("int", "dgemm_", "sgemm_"),
}
"""The type of integers, and what products are called. All are sequential."""


@cache
def fake_blas(kind: str) -> Path:
    """The library of this kind, built once."""
    folder = Path(mkdtemp(prefix="fake-blas-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    integer, double, single = KINDS[kind]
    source, library = folder / "blas.cpp", folder / f"lib{kind}.so"
    source.write_text(SOURCE)
    flags = [f"-DINTEGER={integer}", f"-DDGEMM={double}", f"-DSGEMM={single}"]
    words = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", *flags, str(source), "-o"]
    subprocess.run([*words, str(library)], check=True)
    return library
