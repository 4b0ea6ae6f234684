#include <algorithm>

#include "core/random.h"
#include "laboratory/benchmarks.h"

namespace aaco::laboratory {
namespace {

struct Stop {
  std::size_t index;
  std::int64_t round;
};

// All visits in the order they are made: round by round, each shuffled by itself.
std::vector<Stop> itinerary(const BenchmarkSuite& suite, std::uint64_t seed) {
  std::vector<Stop> stops;
  for (std::int64_t round = 0; round < suite.rounds; ++round) {
    const std::size_t begin = stops.size();
    for (std::size_t index = 0; index < suite.cases.size(); ++index) stops.push_back({index, round});
    core::Random random = core::Random(seed).fork(static_cast<std::uint64_t>(round));
    std::shuffle(stops.begin() + static_cast<std::ptrdiff_t>(begin), stops.end(), random);
  }
  return stops;
}

}  // namespace

core::Status run_suite(const BenchmarkSuite& suite, const BenchmarkVisitor& visitor, const BenchmarkOptions& options,
                       BenchmarkJournal& journal) {
  const std::vector<Stop> stops = itinerary(suite, options.seed);
  std::int64_t done = 0;
  for (const Stop& at : stops) {
    const BenchmarkCase& one = suite.cases[at.index];
    if (options.stop->load()) return core::fail(core::ErrorCode::cancelled, "stopped by the user");
    options.progress(done++, static_cast<std::int64_t>(stops.size()), one.id);
    if (journal.has(one.id, at.round)) continue;
    BenchmarkVisit visit;
    visit.one = one;
    visit.round = at.round;
    if (const auto status = visitor(suite, visit); !status) {
      if (status.error().code == core::ErrorCode::cancelled) return status;
      visit = {};
      visit.one = one;
      visit.round = at.round;
      visit.error = status.error().message;
    }
    AACO_TRY(journal.add(visit));
  }
  return {};
}

}  // namespace aaco::laboratory
