#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace aaco::core {

// Why something failed, as far as a caller may want to act on it. The faces map these to exit codes.
enum class ErrorCode {
  invalid_argument,  // the request itself is wrong
  invalid_input,     // a file or a reply is damaged or not of its format
  not_found,         // what was named does not exist
  permission,        // it exists, and may not be touched
  io,                // reading, writing or talking failed
  exhausted,         // memory, disk, a limit or a budget is used up
  timed_out,         // it took longer than allowed
  cancelled,         // the user stopped it
  conflict,          // it exists already, or somebody else holds it
  unsupported,       // this machine, library or format cannot do it; the caller may go on without it
};

std::string_view to_string(ErrorCode code);

// What happened, what to do next, and where it happened (innermost first).
struct Error {
  ErrorCode code = ErrorCode::invalid_input;
  std::string message;               // what happened and why it matters, no full stop
  std::string remedy;                // what to do next; may be empty
  std::vector<std::string> context;  // "reading session.json", added on the way up

  // The error as one or two lines of text for a person.
  [[nodiscard]] std::string text() const;
  Error&& with(std::string where) && {
    context.push_back(std::move(where));
    return std::move(*this);
  }
};

// A value, or the reason why there is none. Ignoring one is a compile error.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result() = default;
  Result(tl::expected<T, Error> other) : tl::expected<T, Error>(std::move(other)) {}  // NOLINT: the same thing
};
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string remedy = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(remedy), {}});
}

// "PATH: permission denied" from errno, with the code that fits.
tl::unexpected<Error> fail_errno(int error_number, std::string_view what, std::string remedy = {});

}  // namespace aaco::core

// Returns the error of EXPR to the caller, or goes on.
#define AACO_TRY(expr)                                                                              \
  do {                                                                                              \
    auto aaco_status = (expr);                                                                      \
    if (!aaco_status) return ::tl::unexpected<::aaco::core::Error>(std::move(aaco_status).error()); \
  } while (false)

#define AACO_JOIN_INNER(a, b) a##b
#define AACO_JOIN(a, b) AACO_JOIN_INNER(a, b)

// AACO_ASSIGN(auto x, f()): declares x with the value of f(), or returns f()'s error to the caller.
#define AACO_ASSIGN(declaration, expr)                                                                  \
  auto AACO_JOIN(aaco_result_, __LINE__) = (expr);                                                      \
  if (!AACO_JOIN(aaco_result_, __LINE__))                                                               \
    return ::tl::unexpected<::aaco::core::Error>(std::move(AACO_JOIN(aaco_result_, __LINE__)).error()); \
  declaration = std::move(*AACO_JOIN(aaco_result_, __LINE__))
