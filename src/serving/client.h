#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "serving/record.h"
#include "serving/target.h"

// The load generator: one thread with one event loop.
namespace aaco::serving {

// One request to send.
struct Work {
  std::int64_t offset_ns = 0;  // open loop: when it is due, from the start of the stage
  std::string path;            // below the base path: "/chat/completions"
  std::string body;            // JSON
  std::int64_t prompt_tokens = 0, output_tokens = 0;
  std::int64_t conversation = 0;
  std::optional<std::int64_t> cancel_after_ns;  // of its sending
};

// Gives the requests of a stage in their order. Called on the client's thread, one request ahead of its time in an open loop.
class WorkSource {
 public:
  virtual ~WorkSource() = default;
  virtual std::optional<Work> next() = 0;
  // The request has ended; `text` is its answer where ClientOptions::keep_text is set.
  virtual void ended(const RequestRecord& /*record*/, const std::string& /*text*/) {}
};

// A stretch of load. Closed loop: `concurrency` requests are open at any time, a new one starts when one ends. Open loop: each
// request starts at its offset whatever became of the others.
struct Stage {
  std::optional<std::int64_t> concurrency;  // closed loop
  std::optional<std::int64_t> max_open;     // open loop: cap on open requests; those that wait for it are counted
  std::optional<std::int64_t> duration_ns;  // closed loop: no new request after it
};

struct Progress {
  std::int64_t elapsed_ns = 0, sent = 0, open = 0, ended = 0, failed = 0, waiting = 0;
  std::optional<std::int64_t> recent_ttft_ns;
};

struct ClientOptions {
  std::int64_t timeout_ns = 600'000'000'000;  // of a request, from its sending
  std::int64_t connect_timeout_ns = 10'000'000'000;
  int retries = 0;  // of refused, reset, 429 and 5xx
  bool keep_chunks = true;
  bool keep_text = false;
  std::function<bool()> stop;  // polled some hundred times a second; true ends the load
  std::function<void(const Progress&)> progress;
};

struct StageOutcome {
  std::int64_t start_ns = 0, end_ns = 0;
  std::deque<RequestRecord> requests;  // in the order of the schedule; never moved while it grows, which would stall the loop
  ChunkLog chunks;
  std::vector<ClientSample> samples;
  std::int64_t connections = 0;  // opened
  std::int64_t peak_open = 0, waited_for_cap = 0, not_sent = 0;
  bool stopped = false;
};

// The models that a server lists. Outcome ok: a list, which may be empty.
struct ModelList {
  Outcome outcome = Outcome::ok;
  std::string detail;  // of a failure
  std::optional<int> http_status;
  std::vector<std::string> names;
};

class Client {
 public:
  // Resolves the server's name and opens a first connection. Fails with io or timed_out where there is none.
  static core::Result<Client> open(const Target& target, ClientOptions options);
  Client(Client&&) noexcept;
  ~Client();
  // The names of the models that the server lists at /models.
  [[nodiscard]] core::Result<ModelList> models(std::int64_t timeout_ns) const;
  // Returns when all requests of the stage have ended. Fails only where the event loop does.
  core::Result<StageOutcome> run(const Stage& stage, WorkSource& work);

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Raises the soft limit of open files to the hard limit; returns the limit that holds now.
std::int64_t raise_file_limit();

}  // namespace aaco::serving
