#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "workflows/server_policy.h"
#include "workflows/services.h"
#include "workflows/uploads.h"

namespace aaco::workflows {

// What the value of a job's option may be.
enum class JobValue : std::uint8_t {
  name,     // letters, digits and ._:@+,=- ; no path
  whole,    // within low..high
  ratio,    // "5%"
  time,     // "10s"
  flag,     // true or false
  session,  // a session of the lake: id, its beginning, latest, tag:NAME, or several separated by commas
  program,  // one of ServerPolicy::record_programs
  text,     // any text without control characters: arguments of a recorded program
  file,     // a file or folder below ServerPolicy::import_folders
  upload,   // id of a complete upload (uploads.h)
  url,      // begins with one of ServerPolicy::llm_servers
};

struct JobOption {
  std::string_view name;
  std::string_view title;        // in words, for a form
  std::string_view description;  // what the title leaves open; may be empty
  std::string_view argument;     // "--model"; empty: positional
  JobValue value = JobValue::name;
  bool required = false;
  bool repeatable = false;
  std::int64_t low = 0, high = 1'000'000'000;
  char side = 0;  // 'a' or 'b': belongs to that side of `ab`; 'c': after "--"
};

struct JobVerb {
  std::string_view name;
  std::string_view summary;  // "Measure a model"
  bool measures = false;     // runs alone: two measurements would disturb each other
  bool own_output = false;   // standard output is not the program's: its JSON goes to a file (--report-to)
  std::vector<std::string_view> fixed;
  std::vector<JobOption> options;
  std::string_view folder_option = {};  // "--out": names the folder of the job's files
};

// Every verb that can be a job, with the options that a client may set.
const std::vector<JobVerb>& job_verbs();

using JobFields = std::vector<std::pair<std::string, std::string>>;
// The words after `aaco` for a job. Refuses what the policy does not allow with permission, and damaged values with
// invalid_argument.
core::Result<std::vector<std::string>> job_words(const JobVerb& verb, const JobFields& fields, const ServerPolicy& policy,
                                                 const core::Paths& paths);

struct Job {
  std::string id, verb;
  std::string state;  // queued, running, done, failed, cancelled, interrupted
  std::vector<std::string> words;
  bool measures = false;
  std::string created, started, ended;  // ISO 8601, UTC; empty: not yet
  std::optional<int> exit_code;
  std::string session;        // that the job stored
  std::string message, hint;  // why it failed
  std::string progress;       // what it does now
  std::int64_t process_id = 0;
  std::int64_t process_started = 0;  // ticks since boot: process ids are used again
  [[nodiscard]] bool ended_already() const { return state != "queued" && state != "running"; }
};
core::Json to_json(const Job& job);

// The jobs of a root of sessions, each in <sessions>/.jobs/ID.json, run as child processes of the program: one measuring job at a
// time, oldest first. All members may be called from any thread.
class Jobs {
 public:
  // Reads the stored jobs: one that ran when the server was killed becomes "interrupted", and what still runs of it is stopped;
  // queued ones run. Fails with conflict where another server runs jobs under this root.
  static core::Result<std::unique_ptr<Jobs>> open(ServerPolicy policy, std::string program, const Services& services);
  // Running jobs are stopped and become "interrupted"; queued ones stay queued.
  virtual ~Jobs() = default;

  // Fails with permission where the policy forbids it and with exhausted where too many wait or were started in this minute.
  virtual core::Result<Job> start(std::string_view verb, const JobFields& fields) = 0;
  [[nodiscard]] virtual std::vector<Job> list() const = 0;  // newest first
  [[nodiscard]] virtual core::Result<Job> find(std::string_view id) const = 0;
  // A queued job never starts, a running one is asked to end (SIGINT) and killed after ten seconds. An ended job: conflict.
  virtual core::Result<Job> cancel(std::string_view id) = 0;
  // What it wrote to standard error, and to standard output (its --json).
  [[nodiscard]] virtual core::Result<std::string> log(std::string_view id) const = 0;
  [[nodiscard]] virtual core::Result<std::string> result(std::string_view id) const = 0;
  // Where a client's file for `import` goes; see Uploads::begin().
  virtual core::Result<std::unique_ptr<Upload>> begin_upload(std::string_view name) = 0;
  [[nodiscard]] virtual const ServerPolicy& policy() const = 0;
  // Grows with each change of a job.
  [[nodiscard]] virtual std::uint64_t revision() const = 0;
};

}  // namespace aaco::workflows
