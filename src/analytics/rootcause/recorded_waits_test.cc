// Recorded sessions under contention: the parts must be those of the kernel's own counters.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "analytics/rootcause.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::rootcause {
namespace {

using Row = trace::LoopBlockRow;

struct Sums {
  double wall = 0, cpu = 0, wait = 0, others = 0;  // of a call, added up here without the code under test
};

struct Recorded {
  trace::NameTable names;
  Side side;
  Sums sums;
};

constexpr std::array<std::optional<std::int64_t> Row::*, 9> kCounters = {
    &Row::caller_cpu_ns, &Row::caller_wait_ns, &Row::process_cpu_ns, &Row::process_wait_ns, &Row::process_system_ns,
    &Row::minor_faults,  &Row::major_faults,   &Row::storage_bytes,  &Row::machine_busy_ns};

Recorded recorded(const std::string& name) {
  Recorded out;
  const auto text = core::read_file(AACO_SOURCE_DIR "/tests/fixtures/waiting/" + name + ".csv");
  EXPECT_TRUE(text) << name;
  if (!text) return out;
  std::vector<Row> rows;
  std::int64_t calls = 0;
  for (const auto line : core::split(*text, '\n')) {
    const auto cells = core::split(core::trim(line), ',');
    if (cells.size() != 3 + kCounters.size() || cells[0] == "start_ns") continue;
    const auto cell = [&](std::size_t i) { return core::parse_i64(cells[i]).value_or(-1); };
    Row row;
    row.phase = out.names.intern("measure");
    row.start_ns = cell(0);
    row.end_ns = cell(1);
    row.call_count = cell(2);
    for (std::size_t i = 0; i < kCounters.size(); ++i) row.*kCounters[i] = cell(3 + i);
    calls += row.call_count;
    out.sums.wall += static_cast<double>(row.end_ns - row.start_ns);
    out.sums.cpu += static_cast<double>(*row.caller_cpu_ns);
    out.sums.wait += static_cast<double>(*row.caller_wait_ns);
    out.sums.others += static_cast<double>(*row.process_wait_ns - *row.caller_wait_ns);
    rows.push_back(row);
  }
  EXPECT_GT(calls, 0) << name;
  for (double* sum : {&out.sums.wall, &out.sums.cpu, &out.sums.wait, &out.sums.others}) *sum /= static_cast<double>(calls);
  out.side.account = signals::account_of(rows, out.names);
  out.side.call_ns = out.sums.wall;
  return out;
}

double part_of(const Decomposition& difference, std::string_view id) {
  for (const Part& part : difference.parts)
    if (part.id == id) return part.ns;
  return 0;
}

class RecordedWaits : public ::testing::TestWithParam<std::array<const char*, 2>> {};

TEST_P(RecordedWaits, PartsAreTheCallersOwnTimes) {
  const Recorded a = recorded(GetParam()[0]), b = recorded(GetParam()[1]);
  const auto difference = decompose(a.side, b.side);
  ASSERT_TRUE(difference);
  const double small = 0.006 * std::abs(difference->delta_ns);  // parts below this are not listed
  const double cpu = part_of(*difference, "computing") + part_of(*difference, "page_faults");
  EXPECT_NEAR(part_of(*difference, "run_queue_wait"), b.sums.wait - a.sums.wait, small);
  EXPECT_NEAR(cpu, b.sums.cpu - a.sums.cpu, 2 * small);
  EXPECT_NEAR(part_of(*difference, "host_waiting"),
              (b.sums.wall - b.sums.cpu - b.sums.wait) - (a.sums.wall - a.sums.cpu - a.sums.wait), small);
  double sum = difference->unexplained_ns;
  for (const Part& part : difference->parts) sum += part.ns;
  EXPECT_NEAR(sum, difference->delta_ns, 1);
  EXPECT_LT(std::abs(difference->unexplained_ns), 4 * small);
}

INSTANTIATE_TEST_SUITE_P(Pairs, RecordedWaits,
                         ::testing::Values(std::array{"calm", "loaded"}, std::array{"calm", "loaded_batch_2"},
                                           std::array{"loaded", "loaded_batch_2"}, std::array{"loaded_batch_2", "calm"},
                                           std::array{"one_thread", "loaded"}, std::array{"calm", "one_thread"}));

// Twice the computing under load: waiting of both threads together is longer than the whole difference.
TEST(RecordedWait, ComputingStaysVisibleUnderLoad) {
  const Recorded a = recorded("calm"), b = recorded("loaded_batch_2");
  ASSERT_GT(b.sums.wait + b.sums.others, b.sums.wall - a.sums.wall);
  const auto difference = decompose(a.side, b.side);
  EXPECT_NEAR(part_of(*difference, "computing") / difference->delta_ns, 0.30, 0.03);
  EXPECT_NEAR(part_of(*difference, "run_queue_wait") / difference->delta_ns, 0.69, 0.03);
}

TEST(RecordedWait, AccountIsTheCountersAsTheyAre) {
  for (const char* name : {"calm", "one_thread", "loaded", "loaded_batch_2"}) {
    const Recorded one = recorded(name);
    const auto& account = *one.side.account;
    EXPECT_NEAR(*account.cpu_ns, one.sums.cpu, 1) << name;
    EXPECT_NEAR(*account.wait_ns, one.sums.wait, 1) << name;
    EXPECT_NEAR(*account.others_wait_ns, one.sums.others, 1) << name;
    EXPECT_NEAR(*account.cpu_ns + *account.wait_ns + *account.blocked_ns + *account.unexplained_ns, account.wall_ns, 1) << name;
  }
}

}  // namespace
}  // namespace aaco::analytics::rootcause
