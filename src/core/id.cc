#include "core/id.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

namespace aaco::core {

SessionId make_session_id(std::int64_t realtime_ns, std::uint64_t entropy) {
  const std::time_t seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> stamp{};
  std::strftime(stamp.data(), stamp.size(), "%Y%m%dT%H%M%SZ", &parts);
  return SessionId{fmt::format("{}-{:06x}", stamp.data(), entropy & 0xFFFFFF)};
}

}  // namespace aaco::core
