// Result<T>: a T, or the Error that kept it from being made. A dropped Result fails the build.
//
//   Result<Manifest> Read(Version version) {
//     const Bytes bytes = BW_TRY(store_.Read(key));   // any error: return it as is
//     ...
//   }
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "batchweave/base/check.h"
#include "batchweave/base/error.h"

namespace batchweave {

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // Implicit on purpose: `return value;` and `return Error{...};` are the two ways to make one.
  template <typename U = T>
    requires(std::is_convertible_v<U &&, T> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error>)
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }

  // The value. A bug where !ok().
  T& value() & { return BW_CHECK(ok()), *std::get_if<0>(&state_); }
  const T& value() const& { return BW_CHECK(ok()), *std::get_if<0>(&state_); }
  // By value: a reference into a Result that is about to go would dangle, as in `for (auto& x : *List())`.
  T value() && { return BW_CHECK(ok()), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // The error. A bug where ok().
  const Error& error() const& { return BW_CHECK(!ok()), *std::get_if<1>(&state_); }
  Error&& error() && { return BW_CHECK(!ok()), std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

// Done, or why not. `return {};` is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  void value() const { BW_CHECK(ok()); }
  const Error& error() const& { return BW_CHECK(!ok()), *error_; }
  Error&& error() && { return BW_CHECK(!ok()), std::move(*error_); }

 private:
  std::optional<Error> error_;
};

// True where `result` failed with just this code.
template <typename T>
bool FailedWith(const Result<T>& result, ErrorCode code) {
  return !result.ok() && result.error().code == code;
}

}  // namespace batchweave

// The value of `expression`, a Result; where it failed, returns its error from the enclosing function.
// __extension__: a GNU statement expression, clean under -Wpedantic.
#define BW_TRY(expression)                     \
  __extension__({                              \
    auto bw_try_result = (expression);         \
    if (!bw_try_result.ok()) {                 \
      return std::move(bw_try_result).error(); \
    }                                          \
    std::move(bw_try_result).value();          \
  })
