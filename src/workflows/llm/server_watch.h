#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/result.h"
#include "serving/fetch.h"
#include "serving/server_metrics.h"
#include "serving/target.h"
#include "trace/sink.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Reads the server's Prometheus metrics a few times per second beside the load, in a thread of its own.
class ServerWatch {
 public:
  // Looks once whether the server has metrics that AACO knows, at `url`, or at /metrics of the target where it is empty. Empty:
  // it has none. Fails where a URL was asked for and cannot be read.
  static core::Result<std::optional<ServerWatch>> find(const serving::Target& target, const std::string& url,
                                                       const Services& services);
  ServerWatch(ServerWatch&&) noexcept = default;
  ServerWatch& operator=(ServerWatch&&) noexcept = default;  // of one that was not started
  ~ServerWatch();

  void start();
  // Ends sampling; rows of system_events go to `sink`: a value per metric, at the middle of its reading.
  void finish(trace::Sink& sink);
  [[nodiscard]] const std::string& dialect() const { return state_->dialect; }
  [[nodiscard]] const std::string& url() const { return state_->url; }
  [[nodiscard]] std::int64_t readings() const { return static_cast<std::int64_t>(state_->readings.size()); }
  [[nodiscard]] std::int64_t failures() const { return state_->failures; }

  static constexpr std::int64_t kPeriodNs = 250'000'000;

 private:
  struct Reading {
    std::int64_t asked_ns = 0, answered_ns = 0;
    serving::ServerReading values;
  };
  struct State {
    std::string url, dialect;
    std::optional<serving::Fetcher> fetcher;
    std::vector<serving::Dialect> dialects;
    std::vector<Reading> readings;
    std::int64_t failures = 0;
    std::atomic<bool> done = false;
    std::thread thread;
    core::Result<Reading> read() const;
  };
  explicit ServerWatch(std::unique_ptr<State> state) : state_(std::move(state)) {}
  std::unique_ptr<State> state_;
};

}  // namespace aaco::workflows
