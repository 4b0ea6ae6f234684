#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"

namespace aaco::cli {

// Exit codes, the same for every verb (DESIGN.md section 6).
enum ExitCode : int { kFine = 0, kRegression = 1, kUsage = 2, kEnvironment = 3, kInconclusive = 4, kRecordFailed = 125 };

// What a verb needs of the world: where things lie, how to speak, and whether the user wants it to stop.
struct Context {
  core::Environment environment;
  core::Paths paths;
  std::vector<std::string> command_line;
  bool quiet = false;
  bool colour = false;    // of standard output
  bool terminal = false;  // standard error is a terminal: progress is shown there
  int width = 100;        // of standard output
  std::string sessions;   // --sessions: another root of the lake
  std::atomic<bool>* stop = nullptr;
  std::atomic<bool>* terminal_lent = nullptr;  // a child has the terminal: its Ctrl-C is the child's alone
  int exit_code = kFine;
  std::string progress_file;  // AACO_PROGRESS_FILE: where a job's progress goes
  mutable std::int64_t progress_written_ns = 0;
  mutable int output_problem = 0;  // errno of the first print() or flush() that standard output did not take whole

  // One line on standard error that is overwritten by the next; only on a terminal. Without one it goes to progress_file.
  void progress(std::string_view text) const;
  // A line on standard error, unless quiet.
  void note(std::string_view text) const;
  // Prints an error with its remedy and sets the exit code that fits.
  void fail(const core::Error& error);
  void print(std::string_view text) const;
  void flush() const;
  void print_json(const core::Json& document) const { print(document.dump() + "\n"); }
};

int exit_code_of(const core::Error& error);

}  // namespace aaco::cli
