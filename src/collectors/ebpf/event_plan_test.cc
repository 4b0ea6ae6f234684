#include "collectors/ebpf/event_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectors/ebpf/thread_names.h"
#include "core/files.h"

namespace aaco::collectors::ebpf {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kFormat =
    "name: a_point\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n"
    "\tfield:void *ptr;\toffset:48;\tsize:8;\n\tfield:int far;\toffset:99999;\tsize:4;\n\tfield:int bad;\toffset:x;\n\nprint "
    "fmt: \"\"\n";

TEST(TracepointFormat, OffsetOfAField) { EXPECT_EQ(field_offset(kFormat, "pid"), 24U); }
TEST(TracepointFormat, OffsetOfAnArray) { EXPECT_EQ(field_offset(kFormat, "rwbs"), 34U); }
TEST(TracepointFormat, OffsetOfAPointer) { EXPECT_EQ(field_offset(kFormat, "ptr"), 48U); }
TEST(TracepointFormat, MissingField) { EXPECT_FALSE(field_offset(kFormat, "id")); }
TEST(TracepointFormat, PartialName) { EXPECT_FALSE(field_offset(kFormat, "id_t")); }
TEST(TracepointFormat, ImpossibleOffset) { EXPECT_FALSE(field_offset(kFormat, "far")); }
TEST(TracepointFormat, NonNumericOffset) { EXPECT_FALSE(field_offset(kFormat, "bad")); }
TEST(TracepointFormat, EmptyText) { EXPECT_FALSE(field_offset("", "pid")); }
TEST(TracepointFormat, TruncatedText) { EXPECT_FALSE(field_offset("\tfield:pid_t pid;\toff", "pid")); }

TEST(Layout, ListsTracepointsMissingFromTracefs) {
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-tracefs");
  ASSERT_TRUE(folder);
  const std::string wakeup = folder->path() + "/events/sched/sched_wakeup";
  ASSERT_TRUE(core::make_directories(wakeup));
  ASSERT_TRUE(core::write_file_atomic(wakeup + "/format", kFormat));
  std::vector<std::string> missing;
  const WireLayout layout = read_layout(folder->path(), missing);
  EXPECT_EQ(layout.wakeup_pid, 24U);
  EXPECT_THAT(missing, Contains("sched/sched_switch"));
  EXPECT_THAT(missing, Not(Contains("sched/sched_wakeup")));
}

TEST(EventPlans, EveryProgramHasItsPoint) {
  for (const EventPlan& plan : event_plans())
    for (std::size_t i = 0; i < plan.names.size(); ++i)
      EXPECT_EQ(plan.names.at(i).empty(), plan.points.at(i).empty()) << plan.event;
}
TEST(EventPlans, EventsOfDriversHaveOneWay) {
  for (const EventPlan& plan : event_plans()) EXPECT_EQ(plan.module.empty(), plan.only_way.empty()) << plan.event;
}
TEST(EventPlans, FunctionsOfProbes) {
  EXPECT_THAT(
      probed_functions("ffff t drm_gem_object_init\t[drm]\nffff T ttm_resource_free\n0 t drm_gem_object_init_x\n\nx\nx \n"),
      UnorderedElementsAre("drm_gem_object_init", "ttm_resource_free"));
  EXPECT_THAT(probed_functions(""), IsEmpty());
}

std::vector<std::string> told_of(const std::string& heard, const std::string& module) {
  std::vector<Attachment> choice;
  for (const EventPlan& plan : event_plans()) choice.push_back({std::string(plan.event), {}, {}});
  for (Attachment& one : choice) {
    if (one.event != heard) continue;
    one.way = "tracepoint";
    break;
  }
  std::vector<std::string> told;
  for (const Attachment& one : worth_telling(choice, [&module](std::string_view name) { return name == module; }))
    if (one.event.find("GPU") != std::string::npos) told.push_back(one.event + (one.way.empty() ? "" : " by " + one.way));
  return told;
}
TEST(EventPlans, WithoutADriverNothingIsMissing) { EXPECT_THAT(told_of("switch", ""), IsEmpty()); }
TEST(EventPlans, WhatADriverHasIsReported) { EXPECT_THAT(told_of("switch", "ttm"), UnorderedElementsAre("GPU memory")); }
TEST(EventPlans, OneNameOfTwoIsEnough) {
  EXPECT_THAT(told_of("GPU job", "gpu_sched"), UnorderedElementsAre("GPU job by tracepoint"));
  EXPECT_THAT(told_of("switch", "gpu_sched"), UnorderedElementsAre("GPU job"));
}

TEST(EventPlans, WaysHavePrefixes) {
  EXPECT_EQ(way_prefix("tp_btf"), "btf");
  EXPECT_EQ(way_prefix("raw_tp"), "raw");
  EXPECT_EQ(way_prefix("tracepoint"), "tp");
  EXPECT_EQ(way_prefix("kprobe"), "kp");
  EXPECT_EQ(way_prefix("uprobe"), "");
}

TEST(Interrupts, NamesOfTheDevices) {
  EXPECT_THAT(parse_interrupts(
                  "           CPU0       CPU1\n  4:   12   0  IO-APIC   4-edge      ttyS0\n 24:  1  2  PCI-MSI  virtio0-req\n"
                  "LOC:  5  6  Local timer interrupts\n"),
              UnorderedElementsAre(Pair(4U, "ttyS0"), Pair(24U, "virtio0-req")));
}
TEST(Interrupts, IgnoresEmptyLines) { EXPECT_THAT(parse_interrupts(":\n7\n7:\n-1: a b\n99999999999: a b\n"), IsEmpty()); }

TEST(ThreadNames, MemoryIsBoundedAndTheNewestAreKept) {
  ThreadNames names(SysRoot{"/nowhere"});
  for (std::uint32_t thread = 1; thread <= 3 * ThreadNames::kMaxNames; ++thread) names.ended(thread, "worker");
  EXPECT_EQ(names.size(), ThreadNames::kMaxNames);
  EXPECT_EQ(names.of_thread(1, 3 * ThreadNames::kMaxNames), "worker");
  EXPECT_EQ(names.of_thread(1, 1), "");
}
TEST(ThreadNames, FromProcAndFromTheEnd) {
  ThreadNames names(SysRoot{"/nowhere"});
  EXPECT_EQ(names.of_thread(1, 2), "");
  names.ended(3, "worker");
  EXPECT_EQ(names.of_thread(1, 3), "worker");
  EXPECT_EQ(names.of_interrupt(7), "irq 7");
}

}  // namespace
}  // namespace aaco::collectors::ebpf
