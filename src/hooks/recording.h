#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "hooks/call_rows.h"
#include "trace/account.h"
#include "trace/session.h"
#include "trace/sink.h"

namespace aaco::hooks {

struct RecordingOptions {
  std::string library;              // the preloaded library's file
  bool with_libraries = false;      // BLAS, DNN and collective libraries, too
  bool number_calls = false;        // rows get correlation ids
  std::string folder = "/dev/shm";  // where the rings are: memory; each recording has a folder of its own there
};

// The calls of GPU runtimes in a program and its child processes, by a library that the program is started with. Call order:
// begin, start the program with environment(), drain now and then, finish when the program is over.
class Recording {
 public:
  // Fails with unsupported where this build has no library, or no memory for the rings.
  static core::Result<std::unique_ptr<Recording>> begin(const RecordingOptions& options,
                                                        const std::optional<std::string>& preload);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();  // removes the folder; programs that go on have lost it, and do not notice

  using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;
  // What the program is started with; `preload` of begin() stays in it.
  [[nodiscard]] const Variables& environment() const { return environment_; }
  // Off: calls pass unrecorded until it is on again.
  void set_enabled(bool enabled);
  // At least every quarter of a second, or rings overflow at 250,000 calls per second and thread.
  void drain(trace::Sink& sink);

  struct Findings {
    trace::Account account;
    std::vector<trace::Warning> warnings;
    Allocations allocations;
    std::int64_t processes = 0, threads = 0;  // that loaded the library; that made calls
  };
  // After the last drain nothing is left. `process_id`: the program's; 0: unknown.
  Findings finish(trace::Sink& sink, std::int64_t process_id);

 private:
  struct State;
  explicit Recording(std::unique_ptr<State> state);
  void pass(trace::Sink& sink, bool last);
  void warn(Findings& findings, std::int64_t process_id) const;
  std::unique_ptr<State> state_;
  Variables environment_;
};

}  // namespace aaco::hooks
