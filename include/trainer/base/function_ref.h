// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>

namespace trainer {

template <class Signature>
class FunctionRef;

/// A reference to a callable object, which must outlive it. Unlike std::function it never
/// allocates. (C++26 has it as std::function_ref.)
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Function>
  requires(!std::is_same_v<Function, FunctionRef>)
      FunctionRef(const Function& function)  // NOLINT(google-explicit-constructor): as a reference
      : function_(std::addressof(function)), call_([](const void* f, Arguments... arguments) {
          return (*static_cast<const Function*>(f))(arguments...);
        }) {}

  /// Calls the function with these arguments and returns its result.
  Result operator()(Arguments... arguments) const { return call_(function_, arguments...); }

 private:
  const void* function_;
  Result (*call_)(const void*, Arguments...);
};

}  // namespace trainer
