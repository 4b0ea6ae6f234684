#include "hooks/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/files.h"
#include "core/subprocess.h"

#ifndef AACO_HOOKS_PRELOAD  // builds with sanitizers
#define AACO_HOOKS_PRELOAD ""
#define AACO_HOOKS_STANDS ""
#endif

namespace aaco::hooks {
namespace {

using core::Json;
using testing::HasSubstr;

struct Recorded {
  int exit_code = 0;
  std::string printed;
  trace::MemorySink sink;
  Recording::Findings findings;

  std::int64_t calls(std::string_view name, std::string_view domain = {}) const {
    std::int64_t count = 0;
    for (const auto& row : sink.rows<trace::ApiCallRow>())
      count += sink.text(row.name) == name && (domain.empty() || sink.text(row.domain) == domain) ? 1 : 0;
    return count;
  }
  // Of the first call of the function.
  Json arguments(std::string_view name) const {
    for (const auto& row : sink.rows<trace::ApiCallRow>())
      if (sink.text(row.name) == name) return Json::parse(sink.text(row.arguments)).value_or(Json());
    return {};
  }
  bool warns_of(std::string_view id) const {
    for (const auto& warning : findings.warnings)
      if (warning.id == id) return true;
    return false;
  }
};

class HookedProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(AACO_HOOKS_PRELOAD).empty()) GTEST_SKIP() << "skipped, no preloaded library in builds with sanitizers";
    folder_ = testing::TempDir() + "aaco_hooks_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { (void)core::remove_tree(folder_); }

  core::Result<std::unique_ptr<Recording>> begin() const {
    return Recording::begin({AACO_HOOKS_PRELOAD, false, false, folder_}, {});
  }
  core::Command command(const Recording& recording, const std::vector<std::string>& arguments, const char* program) const {
    core::Command out{.arguments = {std::string(AACO_HOOKS_STANDS) + "/" + program}};
    out.arguments.insert(out.arguments.end(), arguments.begin(), arguments.end());
    out.set_environment = recording.environment();
    out.set_environment.emplace_back("LD_LIBRARY_PATH", AACO_HOOKS_STANDS);
    return out;
  }
  void record(const std::vector<std::string>& arguments, Recorded& out, const char* program = "aaco_hooks_program") const {
    auto recording = begin();
    ASSERT_TRUE(recording) << recording.error().message;
    const std::string printed = folder_ + "/printed";
    core::Command words = command(**recording, arguments, program);
    std::string line;
    for (const auto& word : words.arguments) line += "'" + word + "' ";
    words.arguments = {"/bin/sh", "-c", "exec " + line + " >" + printed};
    words.output = core::Command::Output::inherit;
    auto child = core::Child::start(words);
    ASSERT_TRUE(child);
    const std::int64_t process = child->pid();
    std::optional<int> code;
    while (!(code = child->poll())) {
      (*recording)->drain(out.sink);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    out.exit_code = *code;
    out.findings = (*recording)->finish(out.sink, process);
    out.printed = core::read_file(printed).value_or("");
    ASSERT_EQ(out.exit_code, 0) << out.printed;
    EXPECT_EQ(out.findings.account.dropped_total(), 0);
  }
  std::string folder_;
};

TEST_F(HookedProgram, CallsOfALinkedRuntimeAreRecorded) {
  Recorded run;
  record({"linked", "1000"}, run);
  EXPECT_EQ(run.calls("hipLaunchKernel", "hip"), 1000);
  EXPECT_EQ(run.printed, "launches 1000\n");
  EXPECT_EQ(run.arguments("hipLaunchKernel")["kernel"].text(), "a_kernel_with_a_name_that_is_longer_than_one_record_of_the_ring");
  std::int64_t previous = 0;
  for (const auto& row : run.sink.rows<trace::ApiCallRow>()) {
    EXPECT_GE(row.end_ns, row.start_ns);
    if (run.sink.text(row.name) != "hipLaunchKernel") continue;
    EXPECT_GE(row.start_ns, previous);
    previous = row.end_ns;
  }
}

TEST_F(HookedProgram, ArgumentsAreThoseOfTheCall) {
  Recorded run;
  record({"common"}, run);
  EXPECT_EQ(run.arguments("hipMemcpy")["bytes"].as_i64(), 64);
  EXPECT_EQ(run.arguments("hipMemcpy")["kind"].text(), "h2d");
  EXPECT_EQ(run.arguments("hipMalloc")["result"].as_i64(), 2);
  EXPECT_EQ(run.arguments("hipLaunchKernel")["device"].as_i64(), 1);
  EXPECT_THAT(run.arguments("hipLaunchKernel")["stream"].text(), HasSubstr("0x"));
  EXPECT_EQ(run.arguments("hipStreamQuery")["result"].as_i64(), 600);
  EXPECT_EQ(run.arguments("hipEventSynchronize")["event"], run.arguments("hipEventRecord")["event"]);
  EXPECT_EQ(run.findings.allocations.count, 1);
  EXPECT_EQ(run.findings.allocations.peak_bytes, 4096);
  EXPECT_EQ(run.findings.allocations.live_bytes, 0);
}

TEST_F(HookedProgram, TwoVersionsOfHipAreKeptApart) {
  Recorded run;
  record({"versions", "20"}, run);
  EXPECT_EQ(run.calls("hipLaunchKernel", "hip"), 21);
}
TEST_F(HookedProgram, Cuda11FindsItsDriverByDlsym) {
  Recorded run;
  record({"cuda11", "20"}, run);
  EXPECT_EQ(run.calls("cudaLaunchKernel", "cuda_runtime"), 20);
  EXPECT_EQ(run.calls("cuLaunchKernel", "cuda_driver"), 20);
}
TEST_F(HookedProgram, Cuda12FindsItsDriverByItsLookup) {
  Recorded run;
  record({"cuda12", "20"}, run);
  EXPECT_EQ(run.calls("cudaLaunchKernel", "cuda_runtime"), 20);
  EXPECT_EQ(run.calls("cuLaunchKernel", "cuda_driver"), 20);
  EXPECT_EQ(run.calls("cuMemAlloc_v2", "cuda_driver"), 1);
  EXPECT_EQ(run.findings.allocations.bytes, 1000);
}
TEST_F(HookedProgram, Cuda13LaunchesByHandleAndManyKernelsHaveTheirNames) {
  Recorded run;
  record({"cuda13", "20"}, run);  // in a burst that is longer than a ring
  EXPECT_EQ(run.calls("cudaLaunchKernel", "cuda_runtime"), 20);
  EXPECT_EQ(run.calls("cuLaunchKernel", "cuda_driver"), 20);
  EXPECT_EQ(run.arguments("cudaLaunchKernel")["kernel"].text(), std::string(400, 'k') + "_11999");
}
TEST_F(HookedProgram, AddressesOfTheLookupAreRecorded) {
  Recorded run;
  record({"lookup", "20"}, run);
  EXPECT_EQ(run.calls("hipLaunchKernel", "hip"), 21);
}
TEST_F(HookedProgram, EveryThreadHasARing) {
  Recorded run;
  record({"threads", "5000"}, run);
  EXPECT_EQ(run.calls("hipLaunchKernel"), 40000);
  std::set<std::int64_t> threads;
  for (const auto& row : run.sink.rows<trace::ApiCallRow>()) threads.insert(row.thread_id);
  EXPECT_EQ(threads.size(), 8U);
}
TEST_F(HookedProgram, ForkedAndExecutedChildrenAreFollowed) {
  Recorded run;
  record({"forks", "100"}, run);
  EXPECT_EQ(run.calls("hipLaunchKernel"), 505);
  std::map<std::int64_t, int> processes;
  for (const auto& row : run.sink.rows<trace::ApiCallRow>())
    processes[row.process_id] += run.sink.text(row.name) == "hipLaunchKernel" ? 1 : 0;
  EXPECT_EQ(processes.size(), 4U);
}
TEST_F(HookedProgram, SignalHandlersMayCall) {
  Recorded run;
  record({"signals", "20000"}, run);
  const std::int64_t handled = std::strtoll(run.printed.c_str() + std::string_view("handled ").size(), nullptr, 10);
  EXPECT_GE(handled, 5);
  EXPECT_EQ(run.calls("hipStreamQuery"), handled);
}
TEST_F(HookedProgram, EndsOfThreadAndProgramMayCall) {
  Recorded run;
  record({"ends"}, run);
  EXPECT_EQ(run.calls("hipLaunchKernel"), 2);
}
TEST_F(HookedProgram, CallsUnderALockAreRecorded) {
  Recorded run;
  record({"locked", "1000"}, run);
  EXPECT_EQ(run.calls("hipLaunchKernel"), 1000);
}

TEST_F(HookedProgram, AStaticRuntimeIsReported) {
  Recorded run;
  record({"late", "40"}, run, "aaco_hooks_static_program");
  EXPECT_EQ(run.printed, "launches 40\n");
  EXPECT_TRUE(run.warns_of("hooks.static_runtime"));
}
TEST_F(HookedProgram, ANamespaceIsReported) {
  Recorded run;
  record({"namespace"}, run);
  EXPECT_TRUE(run.warns_of("hooks.namespaces"));
}
TEST_F(HookedProgram, AProgramWithoutAGpuIsReported) {
  auto recording = begin();
  ASSERT_TRUE(recording);
  core::Command words{.arguments = {"/bin/true"}, .set_environment = (*recording)->environment()};
  ASSERT_TRUE(core::run_command(words));
  trace::MemorySink sink;
  const auto findings = (*recording)->finish(sink, 0);
  ASSERT_EQ(findings.warnings.size(), 1U);
  EXPECT_EQ(findings.warnings[0].id, "hooks.no_calls");
}
TEST_F(HookedProgram, AProgramThatDidNotLoadTheLibraryIsReported) {
  auto recording = begin();
  ASSERT_TRUE(recording);
  trace::MemorySink sink;
  EXPECT_EQ((*recording)->finish(sink, 1).warnings.at(0).id, "hooks.not_loaded");
}

TEST_F(HookedProgram, AKilledProgramLeavesWhatItDid) {
  auto recording = begin();
  ASSERT_TRUE(recording);
  auto words = command(**recording, {"forever"}, "aaco_hooks_program");
  words.output = core::Command::Output::discard;
  auto child = core::Child::start(words);
  ASSERT_TRUE(child);
  Recorded run;
  while (run.sink.rows<trace::ApiCallRow>().size() < 2000) {
    (*recording)->drain(run.sink);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  child->signal(SIGKILL);
  EXPECT_EQ(child->wait(), 128 + SIGKILL);
  const auto before = run.sink.rows<trace::ApiCallRow>().size();
  const auto findings = (*recording)->finish(run.sink, child->pid());
  EXPECT_GE(run.sink.rows<trace::ApiCallRow>().size(), before);
  EXPECT_LE(findings.account.dropped_total(), 1);
}

TEST_F(HookedProgram, AProgramOutlivesItsReader) {
  auto recording = begin();
  ASSERT_TRUE(recording);
  auto words = command(**recording, {"linked", "300000"}, "aaco_hooks_program");
  (*recording).release();  // NOLINT: as if this process had been killed: nobody reads, nothing is removed
  const auto ran = core::run_command(words);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->exit_code, 0) << ran->error_output;
  EXPECT_EQ(ran->output, "launches 300000\n");
}

TEST_F(HookedProgram, RecordsNothingWhileOff) {
  auto recording = begin();
  ASSERT_TRUE(recording);
  (*recording)->set_enabled(false);
  const auto ran = core::run_command(command(**recording, {"linked", "100"}, "aaco_hooks_program"));
  ASSERT_TRUE(ran);
  trace::MemorySink sink;
  EXPECT_EQ((*recording)->finish(sink, 0).account.read, 0);
  EXPECT_EQ(ran->output, "launches 100\n");
}

TEST_F(HookedProgram, ARingThatOverflowsCountsItsLosses) {
  auto recording = begin();
  ASSERT_TRUE(recording);
  const auto ran = core::run_command(command(**recording, {"linked", "100000"}, "aaco_hooks_program"));
  ASSERT_TRUE(ran);
  trace::MemorySink sink;
  const auto findings = (*recording)->finish(sink, 0);
  EXPECT_EQ(findings.account.kept + findings.account.dropped_total(), findings.account.read);
  EXPECT_EQ(findings.account.state, trace::Account::State::partial);
  EXPECT_EQ(findings.warnings.at(0).id, "hooks.lost");
  const auto kernel_name = 2;  // the records of its text
  EXPECT_EQ(findings.account.read, 100000 + kernel_name);
}

TEST_F(HookedProgram, AFolderThatIsGoneChangesNothing) {
  core::Command words{.arguments = {std::string(AACO_HOOKS_STANDS) + "/aaco_hooks_program", "common"}};
  words.set_environment = {
      {"LD_PRELOAD", AACO_HOOKS_PRELOAD}, {"AACO_HOOKS", folder_ + "/nothing"}, {"LD_LIBRARY_PATH", AACO_HOOKS_STANDS}};
  const auto ran = core::run_command(words);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->exit_code, 0) << ran->error_output;
}

TEST_F(HookedProgram, AControlFileOfAnotherVersionIsIgnored) {
  std::ofstream(folder_ + "/control") << std::string(sizeof(wire::Control), 'x');
  core::Command words{.arguments = {std::string(AACO_HOOKS_STANDS) + "/aaco_hooks_program", "linked", "5"}};
  words.set_environment = {{"LD_PRELOAD", AACO_HOOKS_PRELOAD}, {"AACO_HOOKS", folder_}, {"LD_LIBRARY_PATH", AACO_HOOKS_STANDS}};
  const auto ran = core::run_command(words);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->output, "launches 5\n");
}

TEST(Recording, NeedsTheLibrary) {
  const auto recording = Recording::begin({"/nowhere/libaaco_hooks.so", false, false, testing::TempDir()}, {});
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().code, core::ErrorCode::unsupported);
}
TEST(Recording, NeedsAFolder) {
  const auto recording = Recording::begin({"/proc/self/exe", false, false, "/proc"}, {});
  ASSERT_FALSE(recording);
}

}  // namespace
}  // namespace aaco::hooks
