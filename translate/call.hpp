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

template <Call call, class All, class... Parameters>
[[gnu::always_inline]] inline int run(Function function, const All& all,
                                      Parameters&&... parameters) {
  if (!(parameters.fits() && ...)) [[unlikely]] {
    return refuse(name_of(call), "the target has no large counts, and this one is above 2^31 - 1",
                  Target::MPI_ERR_COUNT);
  }
  using Real = int (*)(typename std::remove_reference_t<Parameters>::Target...);
  const int code = reinterpret_cast<Real>(function)(parameters.target()...);
  (parameters.done(code, all), ...);
  return code == 0 ? 0 : error_to_program(code);
}

inline bool is_unwanted(ProgramStatus* status) { return is_ignored(status); }
inline bool is_unwanted(auto) { return false; }

/// With a status. Apart, as the usual call has none and then needs no place for it.
template <Call call, class... Parameters>
[[gnu::noinline]] int run_wanted(Function function, typename Parameters::Program... given) {
  const std::tuple<typename Parameters::Program...> all(given...);
  return run<call>(function, all, Parameters(given, all)...);
}

template <Call call, class... Parameters>
[[gnu::always_inline]] inline int run_with(Function function, List<Parameters...>,
                                           typename Parameters::Program... given) {
  if constexpr ((may_be_unwanted<Parameters> || ...)) {
    if (!((may_be_unwanted<Parameters> && is_unwanted(given)) || ...)) {
      return run_wanted<call, Parameters...>(function, given...);
    }
  }
  const std::tuple<typename Parameters::Program...> all(given...);
  return run<call>(function, all, typename Unwanted<Parameters>::Type(given, all)...);
}

}  // namespace detail

template <Call call, class... Parameters>
[[gnu::always_inline]] inline int translated(typename Parameters::Program... given) {
  const Function function = function_of<call>();
  if (function == nullptr) [[unlikely]]
    return missing(call);
  return detail::run_with<call>(function, List<Parameters...>{}, given...);
}

/// By the target's function of another name, with other parameters.
template <Call call, Call instead, class... Parameters>
[[gnu::noinline, gnu::cold]] int narrowed(List<Parameters...> list,
                                          typename Parameters::Program... given) {
  const Function function = function_of<instead>();
  if (function == nullptr) return missing(call);
  return detail::run_with<call>(function, list, given...);
}

/// A call with large counts. A target without it gets the usual one, as long as the counts fit.
template <Call call, Call small, class... Narrowed, class... Parameters>
[[gnu::always_inline]] inline int translated_large(List<Parameters...> list,
                                                   List<Narrowed...> narrow,
                                                   typename Parameters::Program... given) {
  const Function function = function_of<call>();
  if (function == nullptr) [[unlikely]]
    return narrowed<call, small>(narrow, static_cast<typename Narrowed::Program>(given)...);
  return detail::run_with<call>(function, list, given...);
}

}  // namespace mpigauge::translate

#define MPIGAUGE_EXPORT extern "C" [[gnu::visibility("default")]]
