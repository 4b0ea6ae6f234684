#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <vector>

#include "estimation/serving.h"
#include "estimation/serving/aspects.h"
#include "tests/support/shipped_device.h"
#include "tests/support/source_dir.h"

namespace aaco::estimation {
namespace {

using Terms = std::array<double, kFirstTokenTerms>;

double part(const Terms& terms, FirstTokenTerm term) { return terms[static_cast<std::size_t>(term)]; }

// Of a load of 512 input and `output` output tokens, prompts of 100 ms and steps of 10 ms.
Terms terms_of(double requests, std::int64_t output, std::optional<double> rate = {}, bool disaggregated = false,
               ParallelPlan plan = {}) {
  return first_token_terms({512, output, requests, rate, disaggregated}, plan, requests, 0.1, 0.01, 2);
}

// Mean wait of `clients` for one server, each away for a random time after its turn.
double simulated_wait(int clients, double service, double away) {
  std::mt19937_64 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
  std::exponential_distribution<double> pause(1 / away);
  std::priority_queue<double, std::vector<double>, std::greater<>> arrivals;
  for (int i = 0; i < clients; ++i) arrivals.push(pause(random));
  double free = 0, waited = 0;
  constexpr int kTurns = 100'000;
  for (int i = 0; i < kTurns; ++i) {
    const double at = arrivals.top();
    arrivals.pop();
    const double begin = std::max(at, free);
    waited += begin - at;
    free = begin + service;
    arrivals.push(free + pause(random));
  }
  return waited / kTurns;
}

TEST(FirstToken, ClientsWaitAsInASimulatedQueue) {
  for (const auto& [clients, output] : {std::pair(4, 401), {16, 401}, {16, 801}, {64, 1601}, {64, 1001}, {8, 41}}) {
    const double measured = simulated_wait(clients, 0.1, 0.01 * (output - 1));
    const double estimated = part(terms_of(clients, output), FirstTokenTerm::wait);
    EXPECT_NEAR(estimated / measured, 1, 0.25) << clients << " clients, " << output << " tokens: " << measured << " s";
  }
}
TEST(FirstToken, ClientsWithoutOutputWaitForAllOthers) {
  EXPECT_NEAR(part(terms_of(64, 1), FirstTokenTerm::wait), 63 * 0.1, 0.1);
}
// Of n prompts of 100 ms that start together the mean one waits for (n - 1) / 2; in one of ten rounds.
TEST(FirstToken, OneRoundOfTenStartsTogether) {
  EXPECT_NEAR(part(terms_of(21, 100), FirstTokenTerm::burst), 0.1 * 10 / 10, 1e-12);
  EXPECT_NEAR(part(terms_of(21, 100, {}, false, {1, 4, 1, 1}), FirstTokenTerm::burst), 0.1 / 4, 1e-12) << "four stages";
}
TEST(FirstToken, OneRequestWaitsForNobody) {
  const Terms alone = terms_of(1, 100);
  EXPECT_EQ(part(alone, FirstTokenTerm::prompt), 0.1);
  EXPECT_NEAR(std::accumulate(alone.begin(), alone.end(), 0.0), 0.1, 1e-9);
}
TEST(FirstToken, PromptsOnTheirOwnGpusWaitForNoStep) {
  const Terms apart = terms_of(64, 100, {}, true);
  EXPECT_EQ(std::accumulate(apart.begin(), apart.end(), 0.0), 0.1);
}
// M/D/1 at half load waits half a service time; a rate has no beginning, and one beyond the prompts' no mean.
TEST(FirstToken, ArrivalsAtARateWaitAsForOneServer) {
  EXPECT_NEAR(part(terms_of(8, 100, 5), FirstTokenTerm::wait), 0.05, 1e-12);
  EXPECT_EQ(part(terms_of(8, 100, 5), FirstTokenTerm::burst), 0);
  EXPECT_NEAR(part(terms_of(8, 100, 10, false, {1, 1, 1, 2}), FirstTokenTerm::wait), 0.05, 1e-12) << "two replicas";
  EXPECT_EQ(part(terms_of(8, 100, 11), FirstTokenTerm::wait), 0);
}
TEST(FirstToken, MoreRequestsWaitLonger) {
  double before = 0;
  for (const double requests : {1, 2, 3, 8, 64, 1024}) {
    const Terms terms = terms_of(requests, 128);
    const double sum = std::accumulate(terms.begin(), terms.end(), 0.0);
    EXPECT_GT(sum, before);
    before = sum;
  }
}

class ServedFirstToken : public testing::Test {
 protected:
  ServedFirstToken() {
    request_.load.input_tokens = 2048;
    request_.load.output_tokens = 256;
  }
  ServingEstimate estimate() {
    return estimate_serving(*find_decoder(decoders_, "llama3-8b"), hardware::shipped_device("nvidia_h100_sxm5_80gb"), request_,
                            rules_)
        .value();
  }
  std::vector<DecoderArchitecture> decoders_ = *load_decoders(AACO_SOURCE_DIR "/data/architectures/decoders.yaml");
  ServingRules rules_ = *load_serving_rules(AACO_SOURCE_DIR "/data/rules/serving.yaml");
  ServingRequest request_;
};

TEST_F(ServedFirstToken, ComesAfterItsPromptAndIsTheSumOfItsParts) {
  for (const double load : {1.0, 2.0, 64.0}) {
    request_.load.concurrency = load;
    const ServingEstimate e = estimate();
    EXPECT_GT(e.first_token.value, e.prefill_seconds * 1e9);
    EXPECT_GE(e.first_token.lower, e.floor.first_token_s * 1e9);
    EXPECT_GE(e.output_token.lower, e.floor.output_token_s * 1e9);
    EXPECT_NEAR(std::accumulate(e.first_token_terms.begin(), e.first_token_terms.end(), 0.0), e.first_token.value / 1e9, 1e-9);
  }
}
TEST_F(ServedFirstToken, WithoutAStackIsTheFastestWithABoundOverAll) {
  const ServingEstimate any = estimate();
  double fastest = 1e18, highest = 0;
  for (const ServingStack& stack : rules_.stacks) {
    request_.stack = stack.name;
    const ServingEstimate named = estimate();
    EXPECT_EQ(part(named.first_token_terms, FirstTokenTerm::constant), stack.first_token_s);
    fastest = std::min(fastest, stack.first_token_s);
    highest = std::max(highest, named.first_token.upper);
  }
  EXPECT_EQ(part(any.first_token_terms, FirstTokenTerm::constant), fastest);
  EXPECT_GE(any.first_token.upper, highest);
}

}  // namespace
}  // namespace aaco::estimation
