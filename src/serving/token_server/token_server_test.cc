#include "serving/token_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "serving/client.h"
#include "serving/prompts.h"

namespace aaco::serving {
namespace {

class Requests final : public WorkSource {
 public:
  Requests(std::int64_t count, std::int64_t tokens) : count_(count), tokens_(tokens) {}
  std::optional<Work> next() override {
    if (count_-- <= 0) return std::nullopt;
    Work work;
    work.path = "/chat/completions";
    work.body = request_body({.model = "m"}, "hi", tokens_);
    return work;
  }

 private:
  std::int64_t count_, tokens_;
};

// The server in a thread of its own, and a load on it.
struct Served {
  StageOutcome outcome;
  TokenServerCounts counts;
};
Served load(const std::string& path, std::int64_t open, std::int64_t requests, std::int64_t tokens) {
  auto server = TokenServer::listen().value();
  std::array<int, 2> control{};
  EXPECT_EQ(::pipe(control.data()), 0);
  std::thread thread([&] { EXPECT_TRUE(server.serve_until_readable(control[0])); });
  Served served;
  {
    const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + path;
    auto client = Client::open(parse_target(url, {}).value(), {}).value();
    Requests work(requests, tokens);
    served.outcome = client.run({.concurrency = open}, work).value();
  }
  EXPECT_EQ(::write(control[1], "x", 1), 1);
  thread.join();
  ::close(control[0]);
  ::close(control[1]);
  served.counts = server.take_counts();
  return served;
}

TEST(TokenServer, EveryTokenArrives) {
  const Served served = load("/v1", 8, 40, 16);
  ASSERT_EQ(served.outcome.requests.size(), 40U);
  for (const RequestRecord& record : served.outcome.requests) {
    EXPECT_EQ(record.outcome, Outcome::ok) << record.detail;
    EXPECT_EQ(record.content_chunks, 16);
    EXPECT_EQ(record.usage.output_tokens, 16);
  }
  EXPECT_EQ(served.counts.tokens, 40 * 16);
  EXPECT_EQ(served.counts.requests, 40);
}
TEST(TokenServer, OneTokenAnswer) { EXPECT_EQ(load("/v1", 1, 3, 1).outcome.requests[2].content_chunks, 1); }
TEST(TokenServer, TokensKeepTheirPeriod) {
  const Served served = load("/period_us=2000/v1", 1, 1, 11);
  const RequestRecord& record = served.outcome.requests.at(0);
  EXPECT_GE(*record.last_token_ns - *record.sent_ns, 20'000'000);  // ten periods after the first token's time: never early
}
TEST(TokenServer, ConnectionsAreReused) { EXPECT_LE(load("/v1", 2, 20, 2).outcome.connections, 2); }
TEST(TokenServer, CountsStartAnew) {
  auto server = TokenServer::listen().value();
  EXPECT_EQ(server.take_counts().tokens, 0);
  EXPECT_GE(server.take_counts().wall_ns, 0);
}
TEST(TokenServer, RejectsAnInputThatCannotBeWaitedFor) {
  auto server = TokenServer::listen().value();
  EXPECT_FALSE(server.serve_until_readable(-1));
}

}  // namespace
}  // namespace aaco::serving
