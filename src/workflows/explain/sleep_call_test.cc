#include "workflows/explain/sleep_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class SleepCalls : public ::testing::Test {
 protected:
  void iteration(std::int64_t from, std::int64_t to) {
    trace::IterationRow row;
    row.start_ns = from;
    row.duration_ns = to - from;
    row.caller_off_cpu_ns = 0;
    iterations_.push_back(row);
  }
  void asleep(std::int64_t from, std::int64_t ns, const char* detail, const char* call, std::int64_t thread = 7) {
    trace::SchedEventRow row;
    row.kind = names_.intern("off_cpu");
    row.detail = names_.intern(detail);
    row.call = names_.intern(call);
    row.process_id = 7;
    row.thread_id = thread;
    row.time_ns = from;
    row.duration_ns = ns;
    events_.push_back(row);
  }
  std::map<std::string, std::string> found() { return sleep_calls(iterations_, events_, names_); }

  trace::NameTable names_;
  std::vector<trace::IterationRow> iterations_;
  std::vector<trace::SchedEventRow> events_;
};

TEST_F(SleepCalls, OfTheCallerInsideItsCalls) {
  iteration(100, 200);
  iteration(300, 400);
  asleep(110, 30, "io", "fdatasync");
  asleep(310, 5, "io", "pread64");
  asleep(320, 40, "sleep", "recvfrom");
  asleep(220, 70, "io", "fsync");      // between two calls
  asleep(120, 500, "io", "write", 8);  // another thread
  EXPECT_THAT(found(), ElementsAre(Pair("io", "fdatasync"), Pair("peer", "recvfrom")));
}

TEST_F(SleepCalls, WhatNoCallHasMostOfIsLeftOut) {
  iteration(100, 200);
  for (const char* call : {"read", "write", "recvfrom"}) asleep(110, 10, "sleep", call);
  asleep(150, 10, "disk_sleep", "");  // a page fault
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(SleepCalls, WithoutEventsThereAreNone) { EXPECT_THAT(found(), IsEmpty()); }

}  // namespace
}  // namespace aaco::workflows
