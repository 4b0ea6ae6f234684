#include "hardware/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "hardware/process_facts.h"

namespace aaco::hardware {
namespace {

Fingerprint of(std::vector<Fact> facts) { return make_fingerprint(std::move(facts)); }
const std::vector<Fact> kBase = {{"cpu.model", "EPYC"}, {"threads.intra", "2"}, {"kernel", "6.1"}};

std::vector<Fact> with(std::string key, std::string value) {
  auto facts = kBase;
  facts.push_back({std::move(key), std::move(value)});
  return facts;
}

TEST(Fingerprint, EqualFactsInAnyOrderAreComparableAndHashEqual) {
  EXPECT_EQ(of({kBase[2], kBase[0], kBase[1]}), of(kBase));
  EXPECT_TRUE(compare_fingerprints(of(kBase), of(kBase)).empty());
  EXPECT_EQ(of(kBase).hash.size(), 16U);
}
TEST(Fingerprint, MissingProcessFactsMeanTheUsual) {
  const auto differences = compare_fingerprints(of(kBase), of(with("process.nice", "19")));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].a, "0");
  EXPECT_EQ(differences[0].b, "19");
  EXPECT_EQ(of(kBase).hash, of(with("environment.preload", "slow.so")).hash) << "still the same subject";
}
TEST(ProcessFacts, NameWhatIsUnusual) {
  ASSERT_EQ(::setenv("LD_PRELOAD", "/opt/a/slow.so:/b/trace.so", 1), 0);
  ASSERT_EQ(::setenv("MALLOC_ARENA_MAX", "1", 1), 0);
  const auto facts = of(process_facts()).facts;
  ::unsetenv("LD_PRELOAD"), ::unsetenv("MALLOC_ARENA_MAX");
  const auto value = [&](std::string_view key) {
    for (const Fact& fact : facts)
      if (fact.key == key) return fact.value;
    return std::string();
  };
  EXPECT_EQ(value("environment.preload"), "slow.so trace.so");
  EXPECT_NE(value("environment.allocator").find("MALLOC_ARENA_MAX=1"), std::string::npos);
}
TEST(Fingerprint, DifferentVersionsAreComparableButNotTheSameSubject) {
  for (const char* key : {"model.hash", "dtype", "runtime.name", "provider", "threads.inter", "graph_level", "cpu.limit_cores"}) {
    const auto differences = compare_fingerprints(of(with(key, "1")), of(with(key, "2")));
    ASSERT_EQ(differences.size(), 1U);
    EXPECT_EQ(differences[0].severity, Severity::changed) << key;
    EXPECT_TRUE(comparable(differences)) << key;
    EXPECT_FALSE(same_subject(differences)) << key;
    EXPECT_NE(of(with(key, "1")).hash, of(with(key, "2")).hash) << key;
  }
}
TEST(Fingerprint, DifferentProblemsAndMachinesPreventComparison) {
  for (const char* key : {"mode", "input_shapes", "batch", "cpu.model", "cpu.cores", "gpu.devices", "isolation"})
    EXPECT_FALSE(comparable(compare_fingerprints(of(with(key, "1")), of(with(key, "2"))))) << key;
}
TEST(Fingerprint, AnotherCommandOfOneProgramIsNamedAndAnotherProgramIsNotCompared) {
  const auto command =
      compare_fingerprints(of({{"program", "w"}, {"command", "w 1"}}), of({{"program", "w"}, {"command", "w 2"}}));
  ASSERT_EQ(command.size(), 1U);
  EXPECT_EQ(command[0].severity, Severity::changed);
  EXPECT_FALSE(comparable(compare_fingerprints(of({{"program", "w"}}), of({{"program", "v"}}))));
}
TEST(Fingerprint, InputsOfAnotherTypeAreNotOtherShapes) {
  const auto types = compare_fingerprints(of(with("input_shapes", "x float32[64,512]; y int64[1]")),
                                          of(with("input_shapes", "x float64[64,512]; y int64[1]")));
  ASSERT_EQ(types.size(), 1U);
  EXPECT_EQ(types[0].severity, Severity::changed);
  EXPECT_THAT(types[0].meaning, testing::HasSubstr("data types"));
  EXPECT_FALSE(comparable(
      compare_fingerprints(of(with("input_shapes", "x float32[64,512]")), of(with("input_shapes", "x float64[64,256]")))));
  EXPECT_FALSE(
      comparable(compare_fingerprints(of(with("input_shapes", "x float32[64]")), of(with("input_shapes", "y float32[64]")))));
}
TEST(Fingerprint, DifferentThreadsAreNamedWithReason) {
  const auto differences = compare_fingerprints(of(kBase), of(with("threads.intra", "4")));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_TRUE(comparable(differences));
  EXPECT_EQ(to_text(differences[0]), "threads.intra: 2 vs 4 (different number of intra-op threads)");
  EXPECT_THAT(to_text(compare_fingerprints(of(kBase), of(with("threads.intra", "0")))[0]),
              testing::HasSubstr("2 vs runtime's choice"));
  EXPECT_NE(of(kBase).hash, of(with("threads.intra", "4")).hash);
}
TEST(Fingerprint, DifferentGovernorPreventsComparison) {
  EXPECT_FALSE(comparable(compare_fingerprints(of(with("cpu.governor", "performance")), of(with("cpu.governor", "powersave")))));
}
TEST(Fingerprint, AMemoryLimitOnOneSideIsNoted) {
  const auto differences = compare_fingerprints(of(kBase), of(with("memory.limit_bytes", "157286400")));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_TRUE(comparable(differences));
  EXPECT_EQ(to_text(differences[0]), "memory.limit_bytes: none vs 157286400 (different memory limit of the cgroup)");
}
TEST(Fingerprint, DifferentKernelIsOnlyNoted) {
  const auto differences = compare_fingerprints(of(kBase), of(with("kernel", "6.8")));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_TRUE(comparable(differences));
  EXPECT_EQ(of(kBase).hash, of(with("kernel", "6.8")).hash);
}
TEST(Fingerprint, HardFactUnknownOnOneSideIsOnlyNoted) {
  const auto differences = compare_fingerprints(of(kBase), of(with("cpu.governor", "performance")));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].severity, Severity::soft);
  EXPECT_EQ(to_text(differences[0]), "cpu.governor: unknown vs performance (different clock governor)");
}
TEST(Fingerprint, AnUnlistedFactIsNotedAndDoesNotChangeTheHash) {
  const auto differences = compare_fingerprints(of(kBase), of(with("weather", "rain")));
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_TRUE(comparable(differences));
  EXPECT_EQ(of(kBase).hash, of(with("weather", "rain")).hash);
}
TEST(Fingerprint, HardDifferencesComeFirstThenChanges) {
  auto other = with("kernel", "6.8");
  other.push_back({"threads.intra", "1"});
  other.push_back({"cpu.model", "Xeon"});
  const auto differences = compare_fingerprints(of(kBase), of(other));
  ASSERT_EQ(differences.size(), 3U);
  EXPECT_EQ(differences[0].key, "cpu.model");
  EXPECT_EQ(differences[1].key, "threads.intra");
  EXPECT_EQ(to_string(differences[1].severity), "changed");
}
TEST(Fingerprint, ValuesCannotBeShiftedBetweenKeys) {
  EXPECT_NE(of({{"batch", "1"}, {"dtype", "2"}}).hash, of({{"batch", "12"}, {"dtype", ""}}).hash);
  EXPECT_NE(of({{"batch", std::string("1\0dtype\0002", 8)}}).hash, of({{"batch", "1"}}).hash);
}
TEST(Fingerprint, SurvivesItsJson) {
  const auto back = fingerprint_from_json(to_json(of(kBase)));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, of(kBase));
}
TEST(Fingerprint, ForgedHashIsRecomputed) {
  auto document = to_json(of(kBase));
  document.set("hash", "0000000000000000");
  EXPECT_EQ(fingerprint_from_json(document)->hash, of(kBase).hash);
}
TEST(Fingerprint, RejectsInvalidFingerprints) {
  EXPECT_FALSE(fingerprint_from_json(core::Json()));
  EXPECT_FALSE(fingerprint_from_json(*core::Json::parse(R"({"facts": [1]})")));
  EXPECT_FALSE(fingerprint_from_json(*core::Json::parse(R"({"facts": {"batch": 1}})")));
}
TEST(Fingerprint, RulesAreUnique) {
  std::set<std::string_view> keys;
  for (const FactRule& rule : fact_rules()) EXPECT_TRUE(keys.insert(rule.key).second) << rule.key;
}

}  // namespace
}  // namespace aaco::hardware
