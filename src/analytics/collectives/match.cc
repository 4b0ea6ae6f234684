#include <algorithm>
#include <map>
#include <utility>

#include "analytics/collectives.h"

namespace aaco::analytics::collectives {
namespace {

using Kind = std::pair<std::uint32_t, std::uint32_t>;              // group, operation
using OfRanks = std::map<std::int32_t, std::vector<std::size_t>>;  // by rank, in order of start

std::int64_t duration_of(const Call& call) { return std::max<std::int64_t>(0, call.row.end_ns - call.row.start_ns); }

bool equally_many(const OfRanks& ranks) {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const auto& entry) { return entry.second.size() == ranks.begin()->second.size(); });
}

// Whether the calls can be one operation of a group.
bool fit(const std::vector<Call*>& calls) {
  const trace::CollectiveRow& first = calls.front()->row;
  return std::all_of(calls.begin(), calls.end(), [&](const Call* call) {
    return call->row.bytes == first.bytes && call->row.group_size == first.group_size &&
           (!call->row.group_size || *call->row.group_size >= static_cast<std::int64_t>(calls.size()));
  });
}

// A rank that is not in the session may have been the last: then the waits are lower bounds, as rank_count shows.
void find_waits(const std::vector<Call*>& calls) {
  std::int64_t last_arrival = INT64_MIN, first_end = INT64_MAX, last_end = INT64_MIN, shortest = INT64_MAX;
  for (const Call* call : calls) {
    last_arrival = std::max(last_arrival, call->row.start_ns);
    first_end = std::min(first_end, call->row.end_ns);
    last_end = std::max(last_end, call->row.end_ns);
    shortest = std::min(shortest, duration_of(*call));
  }
  const bool one_clock = last_arrival <= first_end;
  for (Call* call : calls) {
    call->method = one_clock ? WaitMethod::arrival : WaitMethod::duration;
    call->wait_ns = one_clock ? last_arrival - call->row.start_ns : duration_of(*call) - shortest;
    call->transfer_ns = one_clock ? last_end - last_arrival : shortest;
  }
}

void rate(Call& call, std::string_view operation) {
  std::optional<std::int64_t> size = call.row.group_size;
  if (!size && call.instance >= 0) size = call.rank_count;
  call.data_bytes = data_bytes(operation, call.row.bytes, size);
  const std::int64_t time_ns = call.transfer_ns.value_or(duration_of(call));
  if (!call.data_bytes || time_ns <= 0) return;
  call.algorithm_bytes_per_s = static_cast<double>(*call.data_bytes) / static_cast<double>(time_ns) * 1e9;
  if (const auto factor = bus_factor(operation, size)) call.bus_bytes_per_s = *call.algorithm_bytes_per_s * *factor;
}

}  // namespace

std::vector<Call> match(std::span<const trace::CollectiveRow> rows, const trace::NameTable& names) {
  std::vector<Call> calls(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) calls[i].row = rows[i];
  std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.row.start_ns < b.row.start_ns; });
  std::map<Kind, OfRanks> kinds;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (calls[i].row.operation.value != 0)
      kinds[{calls[i].row.group.value, calls[i].row.operation.value}][calls[i].row.rank].push_back(i);
  std::int64_t instance = 0;
  for (const auto& [kind, ranks] : kinds) {
    if (ranks.size() < 2 || !equally_many(ranks)) continue;
    const bool waits = synchronises(names.text({kind.second}));
    for (std::size_t k = 0; k < ranks.begin()->second.size(); ++k) {
      std::vector<Call*> one;
      for (const auto& [rank, indexes] : ranks) one.push_back(&calls[indexes[k]]);
      if (!fit(one)) break;  // what follows cannot be counted from the first either
      for (Call* call : one) {
        call->instance = instance;
        call->rank_count = static_cast<std::int64_t>(one.size());
      }
      ++instance;
      if (waits) find_waits(one);
    }
  }
  for (Call& call : calls) rate(call, names.text(call.row.operation));
  return calls;
}

}  // namespace aaco::analytics::collectives
