// Recorded pairs of sides with faults that the laboratory lacks (recorded/, written by scripts/proofs/unseen_faults.py): each
// verdict, cause and account is judged without running anything.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/files.h"
#include "tests/support/made_session.h"
#include "workflows/diff.h"
#include "workflows/diff_json.h"

namespace aaco::workflows {
namespace {

using core::Json;
using trace::LoopBlockRow;

constexpr const char* kFolder = AACO_SOURCE_DIR "/tests/faults_unseen/recorded";
constexpr std::size_t kFewestFaults = 30;

using Member = std::variant<std::int64_t LoopBlockRow::*, std::optional<std::int64_t> LoopBlockRow::*>;
const std::map<std::string, Member>& members() {
  static const std::map<std::string, Member> all = {{"block", &LoopBlockRow::block},
                                                    {"start_ns", &LoopBlockRow::start_ns},
                                                    {"end_ns", &LoopBlockRow::end_ns},
                                                    {"call_count", &LoopBlockRow::call_count},
                                                    {"caller_cpu_ns", &LoopBlockRow::caller_cpu_ns},
                                                    {"caller_wait_ns", &LoopBlockRow::caller_wait_ns},
                                                    {"process_cpu_ns", &LoopBlockRow::process_cpu_ns},
                                                    {"process_wait_ns", &LoopBlockRow::process_wait_ns},
                                                    {"process_system_ns", &LoopBlockRow::process_system_ns},
                                                    {"minor_faults", &LoopBlockRow::minor_faults},
                                                    {"major_faults", &LoopBlockRow::major_faults},
                                                    {"voluntary_switches", &LoopBlockRow::voluntary_switches},
                                                    {"involuntary_switches", &LoopBlockRow::involuntary_switches},
                                                    {"migrations", &LoopBlockRow::migrations},
                                                    {"storage_bytes", &LoopBlockRow::storage_bytes},
                                                    {"throttled_ns", &LoopBlockRow::throttled_ns},
                                                    {"machine_busy_ns", &LoopBlockRow::machine_busy_ns},
                                                    {"steal_ns", &LoopBlockRow::steal_ns},
                                                    {"iowait_ns", &LoopBlockRow::iowait_ns},
                                                    {"interrupts", &LoopBlockRow::interrupts},
                                                    {"io_some_ns", &LoopBlockRow::io_some_ns},
                                                    {"stops", &LoopBlockRow::stops}};
  return all;
}

LoopBlockRow block_of(const Json& columns, const Json& values) {
  LoopBlockRow row;
  for (std::size_t i = 0; i < columns.items().size(); ++i) {
    const auto found = members().find(std::string(columns.items()[i].text()));
    const auto value = values.items()[i].as_i64();
    if (found == members().end() || !value) continue;
    std::visit([&](auto member) { row.*member = *value; }, found->second);
  }
  return row;
}

std::string made(const Lake& lake, const Json& recorded) {
  MadeSession session;
  session.outcome = Json::object({{"model", "recorded"}, {"backend", "cpu"}});
  session.facts.clear();
  for (const auto& [key, value] : recorded["facts"].members()) session.facts.push_back({key, std::string(value.text())});
  session.metrics = trace::metrics_from_json(recorded["metrics"]).value();
  session.rows = [&](trace::Sink& sink) {
    trace::IterationRow call;
    call.phase = sink.name("measure");
    for (const Json& one : recorded["calls"].items()) {
      call.block = one.items()[0].as_i64().value();
      call.start_ns = one.items()[1].as_i64().value();
      call.duration_ns = one.items()[2].as_i64().value();
      sink.add(call);
      ++call.iteration;
    }
    for (const Json& one : recorded["blocks"].items()) {
      LoopBlockRow row = block_of(recorded["block_columns"], one);
      row.phase = sink.name("measure");
      sink.add(row);
    }
  };
  return lake.make(session).path;
}

class RecordedFault : public testing::TestWithParam<std::string> {};

// A change of the smallest detectable size or more must be found; below that, inconclusive is right.
bool is_strong(const analytics::regression::MetricResult& decided) {
  if (!decided.detectable) return false;
  return *decided.delta_ratio >= decided.detectable->increase_ratio ||
         -*decided.delta_ratio >= decided.detectable->decrease_ratio;
}

TEST_P(RecordedFault, IsFoundWithItsCauseAndPartsThatAddUp) {
  const auto recorded = core::read_json_file(core::join_path(kFolder, GetParam()));
  ASSERT_TRUE(recorded) << recorded.error().text();
  const Lake lake;
  DiffRequest request;
  request.use_history = request.store = false;
  for (const Json& one : (*recorded)["a"].items()) request.baseline.push_back(made(lake, one));
  for (const Json& one : (*recorded)["b"].items()) request.candidate.push_back(made(lake, one));
  const auto outcome = diff(request, lake.services);
  ASSERT_TRUE(outcome) << outcome.error().text();
  const auto& decided = outcome->metrics.front();
  ASSERT_TRUE(decided.delta_ratio);
  if (!is_strong(decided) && outcome->verdict == "inconclusive") return;
  EXPECT_EQ(outcome->verdict, "regression");
  ASSERT_TRUE(outcome->cause);
  const Json& details = outcome->cause->details;
  std::set<std::string> accepted;
  for (const Json& one : (*recorded)["causes"].items()) accepted.emplace(one.text());
  EXPECT_TRUE(accepted.contains(std::string(details["causes"].items().front()["cause"].text())))
      << details["causes"].items().front()["cause"].text();
  const Json& parts = details["decomposition"];
  double sum = parts["unexplained_ns"].as_f64().value_or(0);
  for (const Json& part : parts["parts"].items()) sum += part["delta_ns"].as_f64().value();
  const double delta = parts["delta_ns"].as_f64().value();
  EXPECT_NEAR(sum, delta, 1e-6 * std::abs(delta));
  // The same from the recorded counters, without the code under test.
  const Json& account = parts["account"]["candidate"];
  const auto of = [&](const char* key) { return account[key].as_f64().value_or(0); };
  EXPECT_NEAR(of("caller_cpu_ns") + of("caller_wait_ns") + of("caller_asleep_ns") + of("unexplained_ns"), of("wall_ns"), 1);
}

std::vector<std::string> recorded_faults() {
  std::vector<std::string> names;
  const auto listed = core::list_directory(kFolder);
  for (const std::string& name : listed.value_or(std::vector<std::string>()))
    if (name.ends_with(".json")) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedFault, testing::ValuesIn(recorded_faults()),
                         [](const auto& name) { return name.param.substr(0, name.param.size() - 5); });

TEST(RecordedFaults, AreMany) { EXPECT_GE(recorded_faults().size(), kFewestFaults); }

}  // namespace
}  // namespace aaco::workflows
