#include "core/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace aaco::core {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kLongNs = 60'000'000'000;

WorkerProcess shell(const std::string& script) {
  Command command;
  command.arguments = {"/bin/sh", "-c", script};
  return WorkerProcess::start(command).value();
}

std::string end_of(const std::string& script) { return shell(script).receive(kLongNs).error().message; }

TEST(WorkerProcessTest, AnswersLineByLine) {
  WorkerProcess worker = shell("read a; echo \"<$a>\"; read b; printf '%s\\n%s\\n' one \"$b\"");
  ASSERT_TRUE(worker.send("first"));
  EXPECT_EQ(worker.receive(kLongNs).value(), "<first>");
  ASSERT_TRUE(worker.send("second"));
  EXPECT_EQ(worker.receive(kLongNs).value(), "one");
  EXPECT_EQ(worker.receive(kLongNs).value(), "second");
  EXPECT_EQ(worker.receive(kLongNs).error().code, ErrorCode::io);
}

TEST(WorkerProcessTest, TellsHowItEnded) {
  EXPECT_THAT(end_of("echo last words >&2; exit 7"), HasSubstr("exited unexpectedly with code 7: last words"));
  EXPECT_THAT(end_of("kill -ABRT $$"), HasSubstr("crashed (signal 6"));
  EXPECT_THAT(end_of("kill -TERM $$"), HasSubstr("asked to end (signal 15"));
  EXPECT_THAT(end_of("kill -KILL $$"), HasSubstr("out-of-memory killer"));
}

TEST(WorkerProcessTest, ASilentOneTimesOut) { EXPECT_EQ(shell("read a").receive(1'000'000).error().code, ErrorCode::timed_out); }

TEST(WorkerProcessTest, SendingToOneThatEndedFailsWithItsLastWords) {
  ::signal(SIGPIPE, SIG_IGN);
  WorkerProcess worker = shell("echo gone >&2; exit 3");
  Status sent;
  for (int i = 0; sent && i < 10'000; ++i) sent = worker.send(std::string(1000, 'x'));
  EXPECT_EQ(sent.error().code, ErrorCode::io);
  EXPECT_THAT(sent.error().message, HasSubstr("code 3: gone"));
}

}  // namespace
}  // namespace aaco::core
