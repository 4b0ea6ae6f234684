#include "workflows/recorded_run.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;

std::string fact(const hardware::Fingerprint& fingerprint, std::string_view key) {
  for (const auto& one : fingerprint.facts)
    if (one.key == key) return one.value;
  return {};
}

Json request(const std::vector<std::string>& command) {
  return Json::object({{"command", Json::texts(command)}, {"hook_libraries", false}});
}

hardware::Fingerprint facts_of(const Json& request) {
  hardware::Fingerprint fingerprint;
  add_command_facts(request, fingerprint);
  return fingerprint;
}

TEST(RecordedRun, TheProgramIsWhatWrappersRun) {
  EXPECT_EQ(program_of({"/usr/bin/python3", "x.py"}), "python3");
  EXPECT_EQ(program_of({"env", "-u", "A", "B=1", "nice", "-n", "5", "./program", "x"}), "program");
  EXPECT_EQ(program_of({"strace", "-f", "-o", "log", "./w", "sys"}), "w");
  EXPECT_EQ(program_of({"timeout", "-k", "1", "5", "./w"}), "w");
  EXPECT_EQ(program_of({"taskset", "-c", "0,1", "./w"}), "w");
  EXPECT_EQ(program_of({"env"}), "env");
  EXPECT_EQ(program_of({}), "");
}

TEST(RecordedRun, TemporaryFoldersAreNotPartOfTheCommand) {
  EXPECT_EQ(comparable_command({"python3", "/tmp/run-17/job.py", "--out=/tmp/tmpab12cd34"}), "python3 (tmp)/job.py --out=(tmp)");
  EXPECT_EQ(comparable_command({"w", "/srv/tmp/x", "a/tmp/b"}), "w /srv/tmp/x a/tmp/b");
  EXPECT_EQ(comparable_command({"sh", "-c", "cat /tmp/a/in.txt >/dev/null"}), "sh -c cat (tmp)/in.txt >/dev/null");
}

TEST(RecordedRun, ALongCommandIsOneShortLineThatTellsItApart) {
  const auto of = [](const std::string& end) {
    return comparable_command({"python3", "-c", "x = 1\n" + std::string(500, 'y') + end});
  };
  EXPECT_LT(of("a").size(), 200U);
  EXPECT_EQ(of("a").find('\n'), std::string::npos);
  EXPECT_NE(of("a"), of("b"));
}

TEST(RecordedRun, SecretsAreNotPartOfTheCommand) {
  EXPECT_EQ(comparable_command({"./w", "--password", "hunter2hunter2"}).find("hunter2"), std::string::npos);
}

TEST(RecordedRun, ProgramAndCommandAreFactsOfComparability) {
  const auto a = facts_of(request({"python3", "a.py"})), b = facts_of(request({"python3", "b.py"}));
  const auto c = facts_of(request({"sort", "a.py"}));
  EXPECT_EQ(fact(a, "program"), "python3");
  EXPECT_NE(a.hash, b.hash);
  EXPECT_TRUE(hardware::comparable(hardware::compare_fingerprints(a, b)));
  EXPECT_FALSE(hardware::same_subject(hardware::compare_fingerprints(a, b)));
  EXPECT_FALSE(hardware::comparable(hardware::compare_fingerprints(a, c)));
}

TEST(RecordedRun, AnObservedProcessIsKnownByItsCommand) {
  const Json observed = Json::object({{"command", Json::array()},
                                      {"process_id", 7},
                                      {"process_command", Json::texts(std::vector<std::string>{"/opt/server", "--port", "80"})},
                                      {"hook_libraries", false}});
  EXPECT_EQ(fact(facts_of(observed), "program"), "server");
}

TEST(RecordedRun, OtherRequestsGetNoFacts) {
  EXPECT_TRUE(facts_of(Json::object({{"command", Json::texts(std::vector<std::string>{"x"})}})).facts.empty());
}

trace::SessionManifest recording() {
  trace::SessionManifest manifest;
  manifest.kind = "record";
  manifest.request = request({"./w"});
  manifest.outcome.wall_ns = 1'000;
  return manifest;
}

TEST(RecordedRun, ACommandThatEndedByItselfHasARunTime) {
  EXPECT_EQ(run_time_ns(recording()), 1'000);
  EXPECT_EQ(why_no_run_time(recording()), "");
}

TEST(RecordedRun, OneEndedFromOutsideHasNone) {
  auto ended = recording();
  ended.warnings.push_back({"record.command_ended", "", ""});
  EXPECT_FALSE(run_time_ns(ended));
  EXPECT_EQ(why_no_run_time(ended), "--duration ended its command");
  auto interrupted = recording();
  interrupted.state = "interrupted";
  EXPECT_FALSE(run_time_ns(interrupted));
  auto observed = recording();
  observed.request = Json::object({{"process_id", 7}});
  EXPECT_FALSE(run_time_ns(observed));
  auto other = recording();
  other.kind = "run";
  EXPECT_FALSE(run_time_ns(other));
  EXPECT_EQ(why_no_run_time(other), "");
}

}  // namespace
}  // namespace aaco::workflows
