#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/subprocess.h"
#include "core/units.h"
#include "workflows/services.h"
#include "workflows/signal_relay.h"

namespace aaco::workflows {

// A user's command that runs while we look on. It keeps its standard streams. With a terminal it is in our process group and gets
// a Ctrl-C of the terminal itself. With a relay every signal that we get is passed on as it is, and only the command decides what
// comes of it; without one a stop is passed on as SIGINT and the command is killed where it goes on.
class AttendedChild {
 public:
  using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;  // of its environment; empty value: unset
  static core::Result<AttendedChild> start(const std::vector<std::string>& command, const Services& services,
                                           SignalRelay* relay = nullptr, const Variables& variables = {});
  AttendedChild(AttendedChild&& other) noexcept;
  AttendedChild& operator=(AttendedChild&&) = delete;
  ~AttendedChild();  // kills and reaps what still runs

  [[nodiscard]] std::int64_t pid() const { return child_.pid(); }
  struct Ended {
    int exit_code = 0;
    bool interrupted = false;  // the user stopped it: by a signal that it died of, where there is a relay
    std::optional<core::ChildUsage> usage;
  };
  // Until it ends, the user stops it or `duration` has passed; it is killed where it does not end in the time of grace.
  // `meanwhile` is called every 20 ms.
  Ended wait(std::optional<core::Nanoseconds> duration, const Services& services, const std::function<void()>& meanwhile);

 private:
  AttendedChild(core::Child child, std::atomic<bool>* lent, SignalRelay* relay)
      : child_(std::move(child)), lent_(lent), relay_(relay) {}
  core::Child child_;
  std::atomic<bool>* lent_;
  SignalRelay* relay_;
};

inline constexpr std::int64_t kAttendingPeriodNs = 20'000'000;

}  // namespace aaco::workflows
