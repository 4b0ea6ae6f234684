#include "core/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::core {
namespace {

using testing::HasSubstr;

Command shell(const std::string& script) {
  Command command;
  command.arguments = {"/bin/sh", "-c", script};
  return command;
}
CommandResult run(const Command& command) {
  auto result = run_command(command);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result ? *result : CommandResult{-1, false, "", ""};
}

TEST(RunCommand, Output) { EXPECT_EQ(run(shell("echo out")).output, "out\n"); }
TEST(RunCommand, SeparateErrorOutput) { EXPECT_EQ(run(shell("echo out; echo err >&2")).error_output, "err\n"); }
TEST(RunCommand, ExitCode) { EXPECT_EQ(run(shell("exit 7")).exit_code, 7); }
TEST(RunCommand, DeathByASignal) { EXPECT_EQ(run(shell("kill -TERM $$")).exit_code, 128 + SIGTERM); }
TEST(RunCommand, FoundByPath) { EXPECT_EQ(run({.arguments = {"true"}}).exit_code, 0); }
TEST(RunCommand, ArgumentsAreNotReadByAShell) {
  EXPECT_EQ(run({.arguments = {"printf", "%s", "$HOME; ls *"}}).output, "$HOME; ls *");
}
TEST(RunCommand, LargeOutputOnBothPipes) {
  const auto result = run(shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"));
  EXPECT_EQ(result.output.size() + result.error_output.size(), 600'000u);
}
TEST(RunCommand, CaptureLimitDropsRemainingOutput) {
  Command command = shell("head -c 300000 /dev/zero");
  command.capture_limit_bytes = 1000;
  const auto result = run(command);
  EXPECT_EQ(result.output.size(), 1000u);
  EXPECT_EQ(result.exit_code, 0);
}
TEST(RunCommand, Discard) {
  Command command = shell("echo out");
  command.output = Command::Output::discard;
  EXPECT_EQ(run(command).output, "");
}
TEST(RunCommand, Directory) {
  Command command = shell("pwd");
  command.directory = "/proc";
  EXPECT_EQ(run(command).output, "/proc\n");
}
TEST(RunCommand, BrokenPipeEndsAChild) {  // as a shell would start it, though this program ignores the signal
  EXPECT_EQ(run(shell("(yes; echo $? >&2) | head -n 1")).error_output, "141\n");
}
std::optional<std::int64_t> process_group(Command::Group group) {
  Command command{.arguments = {"cut", "-d ", "-f5", "/proc/self/stat"}};
  command.group = group;
  return parse_i64(trim(run(command).output));
}
TEST(RunCommand, SeparateProcessGroup) { EXPECT_NE(process_group(Command::Group::own), ::getpgrp()); }
TEST(RunCommand, CallersGroup) { EXPECT_EQ(process_group(Command::Group::callers), ::getpgrp()); }
TEST(RunCommand, SetsVariable) {
  Command command = shell("echo $AACO_TEST_VARIABLE");
  command.set_environment = {{"AACO_TEST_VARIABLE", "a b"}};
  EXPECT_EQ(run(command).output, "a b\n");
}
TEST(RunCommand, UnsetsVariable) {
  Command command = shell("echo ${HOME-unset}");
  command.set_environment = {{"HOME", std::nullopt}};
  EXPECT_EQ(run(command).output, "unset\n");
}
TEST(RunCommand, ReplacesVariableOnce) {
  Command command = shell("env | grep -c ^PATH=");
  command.set_environment = {{"PATH", "/usr/bin:/bin"}};
  EXPECT_EQ(run(command).output, "1\n");
}
TEST(RunCommand, TimeoutKillsTheWholeGroup) {
  Command command = shell("sleep 1000 & echo $!; wait");
  command.timeout_ns = 300'000'000;
  const auto result = run(command);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
  const std::string grandchild = "/proc/" + std::string(trim(result.output)) + "/status";
  for (int i = 0; i < 2000 && exists(grandchild); ++i) {
    if (const auto status = read_file(grandchild); status && status->find("State:\tZ") != std::string::npos)
      break;  // dead, not yet reaped by init
    SystemClock().sleep_until(monotonic_ns() + 5'000'000);
  }
  const auto status = read_file(grandchild);
  EXPECT_TRUE(!status || status->find("State:\tZ") != std::string::npos);
}
TEST(RunCommand, TimeoutKeepsOutputUntilThen) {
  Command command = shell("echo early; sleep 1000");
  command.timeout_ns = 300'000'000;
  EXPECT_EQ(run(command).output, "early\n");
}
TEST(RunCommand, TimeoutAfterOutputIsClosed) {
  Command command = shell("exec >&- 2>&-; sleep 1000");
  command.timeout_ns = 200'000'000;
  EXPECT_TRUE(run(command).timed_out);
}
TEST(RunCommand, NoTimeoutWhenItExitsInTime) {
  Command command = shell("true");
  command.timeout_ns = 60'000'000'000;
  EXPECT_FALSE(run(command).timed_out);
}

TEST(RunCommandRefuses, MissingProgram) {
  const auto result = run_command({.arguments = {"aaco-no-such-program"}});
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_THAT(result.error().text(), HasSubstr("cannot start aaco-no-such-program"));
}
TEST(RunCommandRefuses, NotExecutable) {
  EXPECT_EQ(run_command({.arguments = {"/etc/passwd"}}).error().code, ErrorCode::permission);
}
TEST(RunCommandRefuses, MissingDirectory) {
  Command command = shell("true");
  command.directory = "/nowhere";
  EXPECT_EQ(run_command(command).error().code, ErrorCode::not_found);
}

TEST(ChildProcess, ExitCode) { EXPECT_EQ(Child::start(shell("exit 3"))->wait(), 3); }
TEST(ChildProcess, RunsUntilSignalled) {
  auto child = *Child::start(shell("exec sleep 1000"));
  EXPECT_EQ(child.poll(), std::nullopt);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 128 + SIGTERM);
  EXPECT_EQ(child.poll(), 128 + SIGTERM);
}
TEST(ChildProcess, DiesWithItsOwner) {
  pid_t pid = 0;
  {
    const auto child = *Child::start(shell("exec sleep 1000"));
    pid = child.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}
TEST(ChildProcess, MovedFromHandleIsEmpty) {
  auto first = *Child::start(shell("exit 4"));
  auto second = std::move(first);
  EXPECT_EQ(first.poll(), std::nullopt);  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_EQ(second.wait(), 4);
}
TEST(ChildProcess, UsageIncludesItsEndedChildren) {
  auto child = *Child::start(shell("sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'; exit 0"));
  EXPECT_FALSE(child.usage());
  EXPECT_EQ(child.wait(), 0);
  ASSERT_TRUE(child.usage());
  EXPECT_GT(child.usage()->user_ns + child.usage()->system_ns, 0);
  EXPECT_GT(child.usage()->minor_faults, 0);
}
TEST(ChildProcess, RefusesMissingProgram) {
  EXPECT_EQ(Child::start({.arguments = {"aaco-no-such-program"}}).error().code, ErrorCode::not_found);
}

TEST(FindProgram, ByPath) { EXPECT_EQ(find_program("sh", "/nowhere:/bin"), "/bin/sh"); }
TEST(FindProgram, ByFullName) { EXPECT_EQ(find_program("/bin/sh", ""), "/bin/sh"); }
TEST(FindProgram, RefusesFolders) { EXPECT_EQ(find_program("bin", "/usr"), std::nullopt); }
TEST(FindProgram, RefusesUnknown) { EXPECT_EQ(find_program("aaco-no-such-program", "/bin"), std::nullopt); }

}  // namespace
}  // namespace aaco::core
