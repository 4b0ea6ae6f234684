#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "core/json.h"
#include "workflows/jobs.h"
#include "workflows/live.h"

namespace aaco::server {

// Makes the events of the live stream (docs/formats/live.md). One thread.
class LiveSource {
 public:
  explicit LiveSource(const workflows::Services& services) : sessions_(services.paths.sessions) {}
  void set_jobs(const workflows::Jobs* jobs) { jobs_ = jobs; }
  // Samples; the data of one "tick" event.
  std::string tick();
  // The data of a "history" event: what readers need besides the ticks from now on.
  [[nodiscard]] std::string history() const;

 private:
  // A second of the machine's CPU use, nothing left out.
  struct Second {
    std::int64_t time_ns = 0;
    double min = 0, max = 0, sum = 0;
    int count = 0;
  };
  void remember();

  std::optional<workflows::MachineWatch> machine_;
  workflows::LiveSessions sessions_;
  workflows::ProcessWatch processes_;
  const workflows::Jobs* jobs_ = nullptr;
  report::LiveMachine now_;
  std::vector<report::LiveSession> running_;
  std::vector<report::LiveProcess> tree_;
  std::deque<Second> seconds_;
  std::int64_t number_ = 0, looked_ns_ = 0;
};

}  // namespace aaco::server
