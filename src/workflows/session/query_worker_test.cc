#include "workflows/query_worker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "core/result.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;

// The answer of a worker that reads the query and then runs `script`.
auto answered_by(const std::string& script, core::Nanoseconds time = std::chrono::seconds(10)) {
  QueryLimits limits;
  limits.time = time;
  return query_in_worker("SELECT 1", limits, {"/bin/sh", "-c", "read -r request; " + script});
}

TEST(QueryWorker, RowsAndTheirTruncationAreRead) {
  const auto answer = answered_by(R"(echo '{"truncated": true, "rows": [{"one": 1}]}')");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->truncated);
  ASSERT_EQ(answer->rows.items().size(), 1U);
  EXPECT_EQ(answer->rows.items()[0]["one"].as_i64(), 1);
}

TEST(QueryWorker, TheRequestCarriesQueryAndLimits) {
  const auto answer = answered_by(R"(printf '{"rows": [%s]}\n' "$request")");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->rows.items()[0]["sql"].text(), "SELECT 1");
  EXPECT_EQ(answer->rows.items()[0]["time_ns"].as_i64(), 10'000'000'000);
  EXPECT_FALSE(answer->truncated);
}

TEST(QueryWorker, TheWorkersErrorIsPassedOn) {
  const auto answer = answered_by(R"(echo '{"error": {"code": )" + std::to_string(static_cast<int>(ErrorCode::exhausted)) +
                                  R"(, "message": "too much", "remedy": "ask for less"}}')");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::exhausted);
  EXPECT_EQ(answer.error().message, "too much");
  EXPECT_EQ(answer.error().remedy, "ask for less");
}

TEST(QueryWorker, AWorkerThatExitsWithoutAnswerIsAnError) { EXPECT_FALSE(answered_by("exit 0")); }

TEST(QueryWorker, AKilledWorkerIsAnError) { EXPECT_FALSE(answered_by("kill -9 $$")); }

TEST(QueryWorker, AnAnswerThatIsNotJsonIsAnError) { EXPECT_FALSE(answered_by("echo oops")); }

TEST(QueryWorker, AMissingProgramIsAnError) { EXPECT_FALSE(query_in_worker("SELECT 1", {}, {"/nonexistent/aaco"})); }

TEST(QueryWorker, AWorkerPastTheTimeLimitIsKilledAndReportedAsTooSlow) {
  const std::string file = testing::TempDir() + "query_worker_pid." + std::to_string(::getpid());
  const auto answer =
      answered_by("echo $$ > '" + file + "'; trap '' INT TERM; while :; do sleep 0.1; done", std::chrono::milliseconds(1));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, query_too_slow(std::chrono::milliseconds(1)).value().message);
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  ::unlink(file.c_str());
  ASSERT_GT(pid, 0);
  EXPECT_EQ(::kill(pid, 0), -1) << "the worker is gone, although it ignores SIGINT and SIGTERM";
}

}  // namespace
}  // namespace aaco::workflows
