#include "serving/record.h"

#include <array>

namespace aaco::serving {
namespace {

constexpr std::array<std::string_view, 11> kNames = {"ok",           "refused",   "tls",   "http_429", "http_4xx", "http_5xx",
                                                     "stream_error", "truncated", "reset", "timeout",  "protocol"};

}  // namespace

std::string_view to_string(Outcome outcome) {
  const auto index = static_cast<std::size_t>(outcome);
  return index < kNames.size() ? kNames[index] : "cancelled";
}

}  // namespace aaco::serving
