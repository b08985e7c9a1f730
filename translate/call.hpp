// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A call of MPI, from the program's ABI to the target's: each parameter is translated, the target
// is called, and what it gave is translated back.
#pragma once

#include <type_traits>

#include "parameters.hpp"

namespace mpigauge::translate {

/// The parameters of a call, where there are two ways to make it.
template <class... Parameters>
struct List {};

namespace detail {

template <class All, class... Parameters>
[[gnu::always_inline]] inline int run(Function function, const All& all,
                                      Parameters&&... parameters) {
  using Real = int (*)(typename std::remove_reference_t<Parameters>::Target...);
  const int code = reinterpret_cast<Real>(function)(parameters.target()...);
  (parameters.done(code, all), ...);
  return code == 0 ? 0 : error_to_program(code);
}

template <class All, class... Parameters>
int run_if_it_fits(Call call, Function function, const All& all, Parameters&&... parameters) {
  if (!(parameters.fits() && ...)) {
    return refuse(name_of(call), "the target has no large counts, and this one is above 2^31 - 1",
                  Target::MPI_ERR_COUNT);
  }
  return run(function, all, parameters...);
}

}  // namespace detail

template <Call call, class... Parameters>
[[gnu::always_inline]] inline int translated(typename Parameters::Program... given) {
  const Function function = function_of<call>();
  if (function == nullptr) [[unlikely]]
    return missing(call);
  const std::tuple<typename Parameters::Program...> all(given...);
  return detail::run(function, all, Parameters(given, all)...);
}

/// By the target's function of another name, with other parameters.
template <Call call, Call instead, class... Parameters>
[[gnu::noinline, gnu::cold]] int narrowed(List<Parameters...>,
                                          typename Parameters::Program... given) {
  const Function function = function_of<instead>();
  if (function == nullptr) return missing(call);
  const std::tuple<typename Parameters::Program...> all(given...);
  return detail::run_if_it_fits(call, function, all, Parameters(given, all)...);
}

/// A call with large counts. A target without it gets the usual one, as long as the counts fit.
template <Call call, Call small, class... Narrowed, class... Parameters>
[[gnu::always_inline]] inline int translated_large(List<Parameters...>, List<Narrowed...> narrow,
                                                   typename Parameters::Program... given) {
  const Function function = function_of<call>();
  if (function == nullptr) [[unlikely]]
    return narrowed<call, small>(narrow, static_cast<typename Narrowed::Program>(given)...);
  const std::tuple<typename Parameters::Program...> all(given...);
  return detail::run(function, all, Parameters(given, all)...);
}

}  // namespace mpigauge::translate

#define MPIGAUGE_EXPORT extern "C" [[gnu::visibility("default")]]
