#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "core/files.h"
#include "tests/support/source_dir.h"
#include "workflows/jobs.h"
#include "workflows/jobs/job_file.h"

namespace aaco::workflows {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const JobVerb& verb(std::string_view name) {
  for (const JobVerb& one : job_verbs())
    if (one.name == name) return one;
  throw std::runtime_error("no such verb");
}

ServerPolicy open_policy() {
  ServerPolicy policy;
  for (const JobVerb& one : job_verbs()) policy.verbs.emplace_back(one.name);
  return policy;
}

core::Result<std::vector<std::string>> words(std::string_view name, const JobFields& fields,
                                             const ServerPolicy& policy = open_policy()) {
  core::Paths paths;
  paths.sessions = "/nonexistent";
  return job_words(verb(name), fields, policy, paths);
}

core::ErrorCode refusal(std::string_view name, const JobFields& fields, const ServerPolicy& policy = open_policy()) {
  const auto made = words(name, fields, policy);
  return made ? core::ErrorCode::io : made.error().code;
}

constexpr auto kInvalid = core::ErrorCode::invalid_argument, kForbidden = core::ErrorCode::permission;

TEST(JobWords, OfARun) {
  EXPECT_THAT(*words("run", {{"iterations", "100"}, {"model", "resnet50"}, {"telemetry", "true"}, {"profile", "false"}}),
              ElementsAre("run", "--json", "--no-report", "--model=resnet50", "--iterations=100", "--telemetry"));
}

TEST(JobWords, OfAnOptimization) {
  EXPECT_THAT(*words("optimize", {{"model", "resnet50"}, {"budget", "2m"}, {"slo", "p99=20ms"}, {"fix", "threads=2"}}),
              ElementsAre("optimize", "--json", "--model=resnet50", "--budget=2m", "--slo=p99=20ms", "--fix=threads=2"));
  EXPECT_EQ(refusal("optimize", {{"budget", "2m"}}), kInvalid);
  EXPECT_EQ(refusal("optimize", {{"model", "../net.onnx"}}), kInvalid);
  EXPECT_EQ(refusal("optimize", {{"model", "m"}, {"out", "/tmp/x"}}), kInvalid);  // the server chooses the folder
  EXPECT_EQ(refusal("optimize", {{"model", "m"}, {"budget", "-1s"}}), kInvalid);
}

TEST(JobWords, SidesOfAbFollowTheirDashes) {
  EXPECT_THAT(*words("ab", {{"a_model", "mlp"}, {"a_threads", "1"}, {"b_threads", "2"}, {"duration", "5s"}}),
              ElementsAre("ab", "--json", "--duration=5s", "--", "--model=mlp", "--threads=1", "--", "--threads=2"));
}

TEST(JobWords, SideBMayBeEmpty) { EXPECT_EQ(words("ab", {{"a_model", "mlp"}})->back(), "--"); }

TEST(JobWords, ArgumentsOfARecordedProgramStayBehindTheDashes) {
  ServerPolicy policy = open_policy();
  policy.record_programs = {"/usr/bin/true"};
  EXPECT_THAT(*words("record", {{"program", "/usr/bin/true"}, {"argument", "--json"}, {"argument", "; rm -rf /"}}, policy),
              ElementsAre("record", "--json", "--no-report", "--", "/usr/bin/true", "--json", "; rm -rf /"));
}

TEST(JobWords, ModelsAreNamesAndNoPaths) {
  for (const char* name :
       {"/etc/passwd", "../x.onnx", "a/b.onnx", "--ort-lib=/tmp/x.so", "-m", "", ".", "a b", "a;b", "$(x)", "a\nb", "a\x1b[2J"})
    EXPECT_EQ(refusal("run", {{"model", name}}), kInvalid) << name;
}

TEST(JobWords, OptionsThatAreNotListedAreRefused) {
  for (const char* name : {"ort_library", "ort-lib", "out", "html", "report_to", "--json", "shape", "input"})
    EXPECT_EQ(refusal("run", {{"model", "mlp"}, {name, "x"}}), kInvalid) << name;
}

TEST(JobWords, ValuesOutOfRangeAreRefused) {
  for (const JobFields& more : {JobFields{{"batch", "0"}}, JobFields{{"batch", "1e9"}}, JobFields{{"iterations", "-1"}},
                                JobFields{{"duration", "0s"}}, JobFields{{"duration", "soon"}}, JobFields{{"precision", "2"}},
                                JobFields{{"telemetry", "yes"}}, JobFields{{"model", "again"}}}) {
    JobFields fields{{"model", "mlp"}};
    fields.insert(fields.end(), more.begin(), more.end());
    EXPECT_EQ(refusal("run", fields), kInvalid) << more[0].first;
  }
}

TEST(JobWords, WhatIsRequiredIsMissed) {
  EXPECT_EQ(refusal("run", {}), kInvalid);
  EXPECT_EQ(refusal("diff", {{"a", "x"}}), core::ErrorCode::not_found);
}

TEST(JobWords, ThePolicyDecides) {
  EXPECT_EQ(refusal("run", {{"model", "mlp"}}, ServerPolicy()), kForbidden);
  EXPECT_EQ(refusal("record", {{"program", "/bin/sh"}}), kForbidden);
  EXPECT_EQ(refusal("llm", {{"url", "http://127.0.0.1:8000/v1"}}), kForbidden);
  EXPECT_EQ(refusal("import", {{"path", "/etc/passwd"}}), kForbidden);
}

TEST(JobWords, ImportsStayBelowTheirFolder) {
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-jobs");
  const std::string open = folder->path() + "/open", closed = folder->path() + "/open2";
  std::filesystem::create_directories(open);
  std::filesystem::create_directories(closed);
  std::ofstream(open + "/trace.json") << "{}";
  std::ofstream(closed + "/secret") << "x";
  std::filesystem::create_symlink(closed + "/secret", open + "/link");
  ServerPolicy policy = open_policy();
  policy.import_folders = {open};
  EXPECT_EQ(words("import", {{"path", open + "/trace.json"}}, policy)->back(), std::filesystem::canonical(open + "/trace.json"));
  for (const std::string& path :
       {closed + "/secret", open + "/../open2/secret", open + "/link", open + "/missing", std::string("trace.json")})
    EXPECT_EQ(refusal("import", {{"path", path}}, policy), kForbidden) << path;
}

TEST(JobFile, IsReadAsItWasWritten) {
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-jobs");
  const JobFolder jobs(folder->path());
  Job job{.id = "20261121T081530Z-3f9a1c",
          .verb = "run",
          .state = "failed",
          .words = {"run", "--json"},
          .measures = true,
          .created = "c"};
  job.exit_code = 3;
  job.message = "no model";
  job.process_id = 12;
  job.process_started = 34;
  ASSERT_TRUE(jobs.write(job));
  const auto read = jobs.read();
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(to_json(read->front()), to_json(job));
  EXPECT_EQ(read->front().process_started, 34);
}

TEST(JobFile, DamagedOnesAreSkipped) {
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-jobs");
  for (const char* text :
       {"", "{", "[]", R"({"id":"x","state":"running"})", R"({"id":"other","state":"done","command":["run"]})"}) {
    std::ofstream(folder->path() + "/x.json") << text;
    EXPECT_EQ(JobFolder(folder->path()).read()->size(), 0U) << text;
  }
}

TEST(ServerPolicy, TheShippedFileStartsNothingOfTheClientsChoice) {
  core::Paths paths;
  paths.share = AACO_SOURCE_DIR;
  const auto policy = load_server_policy("", paths);
  ASSERT_TRUE(policy) << policy.error().text();
  EXPECT_TRUE(policy->record_programs.empty() && policy->import_folders.empty() && policy->llm_servers.empty());
  EXPECT_EQ(policy->verbs.size(), job_verbs().size());
}

TEST(ServerPolicy, DamagedFilesAreRefused) {
  const auto folder = core::TemporaryDirectory::make("/tmp", "aaco-jobs");
  const std::string file = folder->path() + "/server.yaml";
  for (const char* text : {"[]", "verb: [run]", "record_programs: [true.sh]", "other_jobs: 0", "max_log: much", "verbs: 3"}) {
    std::ofstream(file) << text;
    EXPECT_FALSE(load_server_policy(file, {})) << text;
  }
  EXPECT_THAT(load_server_policy("/nonexistent.yaml", {}).error().message, HasSubstr("nonexistent"));
}

}  // namespace
}  // namespace aaco::workflows
