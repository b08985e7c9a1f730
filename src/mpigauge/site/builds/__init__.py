# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Builds of C++ on this machine: the compiler, folders and locks, stored answers, ready kernels."""
