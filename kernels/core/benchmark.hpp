// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// All that a file of a benchmark includes.
#pragma once

#include "core/card.hpp"      // IWYU pragma: export
#include "core/registry.hpp"  // IWYU pragma: export
#include "core/run.hpp"       // IWYU pragma: export
