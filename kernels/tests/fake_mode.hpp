// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#pragma once

#include <cstdlib>

/// The mode of a fake library while this lives: it reads a variable whenever it is called.
class FakeMode {
 public:
  FakeMode(const char* variable, const char* mode) : variable_(variable) {
    setenv(variable, mode, 1);
  }
  ~FakeMode() { unsetenv(variable_); }
  FakeMode(const FakeMode&) = delete;
  FakeMode& operator=(const FakeMode&) = delete;

 private:
  const char* variable_;
};
