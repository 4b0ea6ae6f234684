#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/yaml.h"

// What the launching thread did while its device was idle: names of host events as causes (data/gaps), and the time of a thread
// by the innermost of its nested events that has one.
namespace aaco::analytics::gaps {

using CauseIndex = std::uint8_t;  // in CauseBook::causes()

// The metric of the idle time that a cause names, per step and device: "gpu.idle.data_loading_ns" of "data-loading".
inline constexpr std::string_view kIdleMetrics = "gpu.idle.";
std::string idle_metric(std::string_view cause);

// A cause of data/gaps/causes.yaml.
struct NamedCause {
  std::string id;        // "data-loading"
  std::string class_id;  // host, launch, warmup, dependency, cannot-tell
  std::string title;     // "loading and preparing data"
  std::string remedy;
  bool weak = false;                       // yields to any enclosing cause that is not
  bool any_thread = false;                 // holds up the process, whichever thread is in it
  bool waits = false;                      // for another thread or program: what that did is the cause where it is recorded
  std::optional<CauseIndex> gives_way_to;  // directly inside an event of this cause it is part of that
};

// Of work that the host had launched, and that the device did not start: the host is not what was waited for.
inline bool is_held_back(const NamedCause& cause) { return cause.class_id == "dependency" || cause.class_id == "cannot-tell"; }

enum class HostDomain : std::uint8_t { runtime, cpu_op, python, range, overhead, os };
// Empty: a domain whose events are not what a thread does.
std::optional<HostDomain> host_domain(std::string_view domain);

class CauseBook {
 public:
  // Fails, with file and line, on an unknown key, class, domain or cause, a duplicate cause, an empty pattern, and where one of
  // the causes that the program itself gives is missing.
  static core::Result<CauseBook> load(const std::string& path);
  static core::Result<CauseBook> parse(const core::YamlNode& document);

  [[nodiscard]] const std::vector<NamedCause>& causes() const { return causes_; }
  [[nodiscard]] const NamedCause& at(CauseIndex index) const { return causes_[index]; }
  [[nodiscard]] std::optional<CauseIndex> find(std::string_view id) const;
  // Empty: the event is neutral.
  [[nodiscard]] std::optional<CauseIndex> match(HostDomain domain, std::string_view name) const;
  // Of an event that alone fills a long wait and has nothing else in it; patterns with `alone` say what it does then.
  [[nodiscard]] std::optional<CauseIndex> match_alone(HostDomain domain, std::string_view name) const;

  // Causes that follow from times and not from names.
  struct Own {
    CauseIndex first_use = 0, launch = 0, launch_latency = 0, device_latency = 0, graph_launch = 0, synchronisation = 0,
               synchronous_copy = 0, cpu_contention = 0, disk = 0, sleep = 0, python = 0, unknown = 0, lock = 0, queue_full = 0,
               blocked_launch = 0, framework = 0, host_code = 0, host_operator = 0, start_up = 0, allocation = 0,
               first_allocation = 0, collective_launch = 0, library_initialisation = 0, model_loading = 0, weight_streaming = 0,
               stream_event = 0, peer_device = 0, host_function = 0, stream_value = 0, jit_compilation = 0;
  };
  [[nodiscard]] const Own& own() const { return own_; }

 private:
  struct Pattern {
    CauseIndex cause = 0;
    std::vector<HostDomain> domains;  // empty: all
    std::vector<std::string> any, none;
    bool alone = false;
  };
  [[nodiscard]] std::optional<CauseIndex> first_match(HostDomain domain, std::string_view name, bool alone) const;
  core::Status read_cause(const core::YamlNode& node);
  core::Status read_pattern(const core::YamlNode& node);
  core::Status find_own(const core::YamlNode& document);

  std::vector<NamedCause> causes_;
  std::vector<Pattern> patterns_;
  Own own_;
};

// An event of one thread.
struct HostFrame {
  std::int64_t start_ns = 0, end_ns = 0;
  CauseIndex cause = 0;
  bool weak = false;
  std::optional<CauseIndex> gives_way_to = {};
};
struct HostShare {
  CauseIndex cause = 0;
  std::int64_t time_ns = 0;
  bool operator==(const HostShare&) const = default;
};

// In order of start; of two that start together the enclosing one first.
void sort_frames(std::vector<HostFrame>& frames);

// The time from `from_ns` to `until_ns` by cause, the largest first. Frames of one thread as `sort_frames` leaves them. Each
// moment belongs to the innermost open frame that is not weak, else to the innermost, and to `idle` where none is open. A frame
// directly inside one of the cause that it gives way to has that cause. One that outlives the frame it began in by more than half
// of itself is not inside it. The sum is the whole time.
std::vector<HostShare> host_time(std::span<const HostFrame> frames, std::int64_t from_ns, std::int64_t until_ns, CauseIndex idle);

}  // namespace aaco::analytics::gaps
