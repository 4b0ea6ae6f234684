#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/health_files.h"
#include "agent/minute_book.h"
#include "agent/sender.h"
#include "agent/spool.h"
#include "collectors/collector.h"
#include "core/clock.h"
#include "core/json.h"

namespace aaco::agent {

struct Settings {
  std::string node;  // name of this node in the fleet
  collectors::SysRoot root;
  std::string job;                   // empty: found from the processes of this node
  std::string status_file;           // empty: none
  std::int64_t started_unix_ns = 0;  // for the status
};

// Watches one node: call sample() at the period; each minute's rows go to the spool. A minute is one of this node's realtime
// clock. Clocks that are set, also while the machine sleeps, end the minute early and are counted; a minute that comes again
// is stored again, and counts once.
class Agent {
 public:
  // Collectors that cannot be opened (no such hardware) are left out, with the reason in the status.
  Agent(Settings settings, std::vector<std::unique_ptr<collectors::Collector>> collectors, Spool& spool, Sender& sender,
        const core::Clock& clock);
  void sample();
  // Stores the part of the running minute.
  void finish();
  [[nodiscard]] core::Json status() const;

 private:
  void look_at_jobs();
  void probe_cpu();
  void notice_clock_jump(std::int64_t realtime_ns, std::int64_t monotonic_ns);
  void end_minute();

  Settings settings_;
  std::vector<std::unique_ptr<collectors::Collector>> collectors_;
  std::vector<std::string> absent_;  // collectors that could not be opened, with the reason
  Spool& spool_;
  Sender& sender_;
  const core::Clock& clock_;
  HealthFiles health_;
  MinuteBook book_;
  UnitFacts host_;
  std::map<std::int32_t, UnitFacts> devices_;
  std::optional<std::int64_t> minute_unix_ns_;
  std::optional<std::int64_t> clocks_apart_ns_;  // realtime minus monotonic
  std::int64_t next_probe_ns_ = 0;
  std::int64_t clock_jumps_ = 0, minutes_ = 0, stored_rows_ = 0, samples_ = 0;
};

// A row as a line for the spool: the columns of row_columns() but the last.
std::string row_text(const trace::FleetMinute& row);
// Names of the columns that Sender inserts.
std::vector<std::string> row_columns();

}  // namespace aaco::agent
