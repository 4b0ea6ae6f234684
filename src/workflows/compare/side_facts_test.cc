#include "workflows/compare/side_facts.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;

std::string recorded_with(Json facts) {
  hardware::Fingerprint fingerprint;
  add_recording_facts(Json::array({Json::object({{"facts", std::move(facts)}})}), fingerprint);
  for (const auto& fact : fingerprint.facts)
    if (fact.key == "measured_with") return fact.value;
  return "unknown";
}

std::vector<hardware::Difference> differ(const char* a, const char* b) {
  return {{"measured_with", a, b, hardware::Severity::soft, "measured with different collectors or passes"}};
}

TEST(RecordingFacts, NamesTheOptionsThatWereOn) {
  EXPECT_EQ(recorded_with(Json::object({{"with_stack", 1}, {"record_shapes", 0}, {"profile_memory", 1}})),
            "with_stack profile_memory");
}
TEST(RecordingFacts, AllOptionsOffAreOneFact) { EXPECT_EQ(recorded_with(Json::object({{"with_stack", 0}})), "none"); }
TEST(RecordingFacts, ReadsFlags) { EXPECT_EQ(recorded_with(Json::object({{"record_shapes", true}})), "record_shapes"); }
TEST(RecordingFacts, FilesWithoutTheFactsAddNothing) {
  EXPECT_EQ(recorded_with(Json::object({{"schema_version", 1}})), "unknown");
  EXPECT_EQ(recorded_with(Json()), "unknown");
}
// job.ranks of files that state these world sizes; 0: a file without.
std::string ranks_of(std::initializer_list<int> sizes) {
  Json files = Json::array({});
  for (const int size : sizes)
    files.push(Json::object({{"facts", size == 0 ? Json::object({{"schema_version", 1}})
                                                 : Json::object({{"distributed", Json::object({{"world_size", size}})}})}}));
  hardware::Fingerprint fingerprint;
  add_recording_facts(files, fingerprint);
  for (const auto& fact : fingerprint.facts)
    if (fact.key == "job.ranks") return fact.value;
  return "";
}
TEST(RecordingFacts, RanksOfTheJob) {
  EXPECT_EQ(ranks_of({8}), "8");
  EXPECT_EQ(ranks_of({2, 2}), "2");
}
TEST(RecordingFacts, RanksThatAreNotStatedOrContradict) {
  EXPECT_EQ(ranks_of({}), "");
  EXPECT_EQ(ranks_of({8, 2}), "");
  EXPECT_EQ(ranks_of({8, 0}), "");
  EXPECT_EQ(ranks_of({-1}), "");
}
TEST(RecordingFacts, DifferentOptionsForbidAVerdictOnTheHost) {
  EXPECT_NE(host_not_judged(differ("none", "with_stack"), true), "");
}
TEST(RecordingFacts, HostIsJudgedOtherwise) {
  EXPECT_EQ(host_not_judged({}, true), "");
  EXPECT_EQ(host_not_judged(differ("none", "with_stack"), false), "") << "not traces";
  EXPECT_EQ(host_not_judged(differ("", "with_stack"), true), "") << "unknown on one side";
}

}  // namespace
}  // namespace aaco::workflows
