#include "cli/context.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "core/clock.h"
#include "core/files.h"
#include "core/handles.h"
#include "core/strings.h"
#include "report/terminal.h"

namespace aaco::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[2K";

// What cannot be said (a log on a full disk, a reader that has gone) is no reason to end what is being measured.
void say(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

constexpr std::int64_t kProgressPeriod_ns = 200'000'000;

// In place and without a sync: the server reads it a few times per second, and the next text replaces it.
void write_progress(const Context& context, std::string_view text) {
  const std::int64_t now_ns = core::monotonic_ns();
  if (now_ns - context.progress_written_ns < kProgressPeriod_ns) return;
  context.progress_written_ns = now_ns;
  const core::FileDescriptor file(::open(context.progress_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.valid()) (void)core::write_all(file.get(), text, context.progress_file);
}

}  // namespace

void Context::progress(std::string_view text) const {
  if (!progress_file.empty()) return write_progress(*this, text);
  if (quiet || !terminal) return;
  constexpr int kMaxProgressColumns = 100;
  say(std::string(kEraseLine) + report::fit(report::printable(text), std::min(width - 1, kMaxProgressColumns)));
  std::fflush(stderr);
}

void Context::note(std::string_view text) const {
  if (quiet) return;
  flush();  // what was printed before comes first, also in a pipe of both
  say(fmt::format("{}{}\n", terminal ? kEraseLine : "", text));
}

void Context::fail(const core::Error& error) {
  const std::string given = error.text();
  std::string text;  // names of files and of what is in them: nothing in them may steer the terminal
  for (const std::string_view line : core::split_lines(given)) text += report::printable(line) + "\n";
  say(fmt::format("{}aaco: {}", terminal && !quiet ? kEraseLine : "", text));
  exit_code = exit_code_of(error);
}

void Context::print(std::string_view text) const {
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() && output_problem == 0) output_problem = errno;
}

void Context::flush() const {
  if (std::fflush(stdout) != 0 && output_problem == 0) output_problem = errno;
}

int exit_code_of(const core::Error& error) { return error.code == core::ErrorCode::invalid_argument ? kUsage : kEnvironment; }

}  // namespace aaco::cli
