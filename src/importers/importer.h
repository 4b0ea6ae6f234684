#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/json.h"
#include "core/result.h"
#include "trace/account.h"
#include "trace/session.h"
#include "trace/sink.h"
#include "trace/source.h"

namespace aaco::importers {

// How several files of a format make one session.
enum class Grouping : std::uint8_t {
  none,       // each by itself
  traces,     // a trace of one process each, which says its rank in its text or name
  processes,  // a database of one process or several each
  reports,    // reports of one profile, by their names
  rocm,       // tables, documents and databases of ROCm's profilers, by their names
  program,    // a printed program of the model: a session has one
};

struct ImporterInfo {
  std::string name;      // "ort", "kineto", "rocprofv3"
  std::string title;     // "ONNX Runtime profile (JSON)"
  std::string profiler;  // that writes it; formats of one profiler have one clock and may hold the same run
  bool database = false;
  Grouping grouping = Grouping::none;
  bool numbers_passes = false;       // the profiler itself numbers executions for other sets of counters
  std::string without_kernels = {};  // what to do where it has launches and no kernels; empty: nothing special
};

// The result of importing one file, besides its rows.
struct ImportResult {
  trace::Account account;
  core::ClockId clock = core::ClockId::trace;  // the clock of the rows' times
  std::optional<std::int64_t> rank;            // if the file states it
  std::string host;
  core::Json facts;  // devices, versions, schedule: the file's information about the machine and the job
  std::vector<trace::Warning> warnings;
};

// Reads one profiler's format. `sniff` decides from the first 64 KiB (decompressed); `import` streams, adds rows to the sink,
// counts what it drops, keeps the readable part of a truncated file, and fails only if nothing usable could be read.
class Importer {
 public:
  virtual ~Importer() = default;
  [[nodiscard]] virtual ImporterInfo info() const = 0;
  [[nodiscard]] virtual bool sniff(std::string_view head, std::string_view file_name) const = 0;
  virtual core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const = 0;
};

}  // namespace aaco::importers
