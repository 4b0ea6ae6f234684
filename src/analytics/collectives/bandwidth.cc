#include <algorithm>
#include <array>

#include "analytics/collectives.h"

namespace aaco::analytics::collectives {
namespace {

// Source: doc/PERFORMANCE.md of nccl-tests; gather and send/recv as its programs compute them.
enum class Factor : std::uint8_t { all_reduce, share, one };
struct Operation {
  std::string_view name;
  Factor factor;
  bool gathers;       // S is the gathered whole
  bool synchronises;  // no rank leaves before the last one arrives
};
constexpr std::array<Operation, 11> kOperations = {{
    {"all_reduce", Factor::all_reduce, false, true},
    {"reduce_scatter", Factor::share, false, true},
    {"all_gather", Factor::share, true, true},
    {"all_to_all", Factor::share, false, true},
    {"gather", Factor::share, true, false},
    {"broadcast", Factor::one, false, false},
    {"reduce", Factor::one, false, false},
    {"send", Factor::one, false, false},
    {"recv", Factor::one, false, false},
    {"send_recv", Factor::one, false, false},
    {"barrier", Factor::one, false, true},
}};

const Operation* find(std::string_view name) {
  const auto* found =
      std::find_if(kOperations.begin(), kOperations.end(), [&](const Operation& one) { return one.name == name; });
  return found == kOperations.end() ? nullptr : found;
}

}  // namespace

std::optional<double> bus_factor(std::string_view operation, std::optional<std::int64_t> ranks) {
  const Operation* known = find(operation);
  if (known == nullptr || operation == "barrier") return std::nullopt;
  if (known->factor == Factor::one) return 1.0;
  if (!ranks || *ranks < 2) return std::nullopt;
  const auto n = static_cast<double>(*ranks);
  return (known->factor == Factor::all_reduce ? 2 : 1) * (n - 1) / n;
}

std::optional<std::int64_t> data_bytes(std::string_view operation, std::optional<std::int64_t> bytes,
                                       std::optional<std::int64_t> ranks) {
  const Operation* known = find(operation);
  if (known == nullptr || operation == "barrier" || !bytes || *bytes <= 0) return std::nullopt;
  if (!known->gathers) return bytes;
  std::int64_t whole = 0;
  if (!ranks || *ranks < 1 || __builtin_mul_overflow(*bytes, *ranks, &whole)) return std::nullopt;
  return whole;
}

bool synchronises(std::string_view operation) {
  const Operation* known = find(operation);
  return known != nullptr && known->synchronises;
}

std::string_view to_string(WaitMethod method) {
  return method == WaitMethod::arrival ? "arrival" : method == WaitMethod::duration ? "duration" : "";
}

}  // namespace aaco::analytics::collectives
