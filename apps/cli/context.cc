#include "cli/context.h"

#include <fmt/format.h>

#include <cstdio>

namespace aaco::cli {

void Context::progress(std::string_view text) const {
  if (quiet || !terminal) return;
  fmt::print(stderr, "\r\x1b[2K{}", text.substr(0, 100));
  std::fflush(stderr);
}

void Context::note(std::string_view text) const {
  if (quiet) return;
  std::fflush(stdout);  // what was printed before comes first, also in a pipe of both
  if (terminal) fmt::print(stderr, "\r\x1b[2K");
  fmt::print(stderr, "{}\n", text);
}

void Context::fail(const core::Error& error) {
  if (terminal && !quiet) fmt::print(stderr, "\r\x1b[2K");
  fmt::print(stderr, "aaco: {}\n", error.text());
  exit_code = exit_code_of(error);
}

void Context::print(std::string_view text) const { std::fwrite(text.data(), 1, text.size(), stdout); }

int exit_code_of(const core::Error& error) { return error.code == core::ErrorCode::invalid_argument ? kUsage : kEnvironment; }

}  // namespace aaco::cli
