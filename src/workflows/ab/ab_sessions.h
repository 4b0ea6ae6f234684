#pragma once

#include <array>
#include <optional>
#include <vector>

#include "workflows/ab/ab_processes.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// The evidence of both sides while it is gathered: a session each, blocks numbered through, with the process of each in
// session.json.
class AbSessions {
 public:
  // Nothing is stored where the request says so.
  static core::Result<AbSessions> begin(const AbRequest& request, const AbProcesses& first, const Services& services);
  void add_warmup(int side, const std::vector<runner::TimedCall>& calls);
  void add_block(int side, const AbBlock& block);
  void end_round(const AbProcesses& processes);
  // Closes both sessions, and looks in them for the cause of a change that was found.
  core::Status finish(AbOutcome& outcome, const AbRequest& request, const Services& services);

 private:
  struct Side {
    std::optional<SessionDraft> draft;
    AbLoaded loaded;
    std::int64_t iterations = 0, warmups = 0, round_iterations = 0, blocks = 0;
    std::int64_t first_ns = 0, last_ns = 0;
    std::int64_t rss_peak_bytes = 0;
    core::Json processes = core::Json::array();  // iterations of each process, in order
  };
  AbSessions() = default;
  core::Result<SessionOutcome> finish_side(int number, const AbOutcome& outcome, const AbRequest& request);
  std::array<Side, 2> sides_;
};

}  // namespace aaco::workflows
