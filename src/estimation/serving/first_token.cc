#include <algorithm>

#include "estimation/serving/aspects.h"

namespace aaco::estimation {
namespace {

// Requests of each client in a benchmark. The published points' harness asks for ten times as many as are in flight
// (aiconfigurator, src/aiconfigurator/eval/benchmarks/genai_perf_runner.py: --request-count), after a warm-up that ends before.
constexpr double kRounds = 10;

// Mean wait for a server of constant service time at Poisson arrivals (Pollaczek and Khinchine). `load` is below 1.
double queue_wait(double load, double service_s) { return load / (2 * (1 - load)) * service_s; }

// The same where each of `clients` comes back `away_s` after its prompt is done. One that arrives finds the queue of the others
// (arrival theorem; Reiser and Lavenberg, JACM 27, 1980), so the load is their prompts over the time between two of one client.
double wait_of_clients(double clients, double service_s, double away_s) {
  double low = 0, high = 1;
  for (int i = 0; i < 40; ++i) {
    const double load = (low + high) / 2;
    const double cycle = away_s + service_s + queue_wait(load, service_s);
    ((clients - 1) * service_s / cycle > load ? low : high) = load;
  }
  return queue_wait(low, service_s);
}

}  // namespace

std::array<double, kFirstTokenTerms> first_token_terms(const ServingLoad& load, const ParallelPlan& plan, double requests,
                                                       double prefill_s, double output_token_s, double steps) {
  // Stages work on prompts of several requests at the same time.
  const double service = prefill_s / static_cast<double>(plan.pipeline);
  double burst = 0, wait = 0, step = 0;
  if (load.rate) {
    const double busy = *load.rate / static_cast<double>(plan.replicas) * prefill_s;
    if (busy < 1) wait = queue_wait(busy, prefill_s);
  } else if (!load.disaggregated) {
    burst = service * (requests - 1) / 2 / kRounds;
    wait = wait_of_clients(requests, service, output_token_s * static_cast<double>(load.output_tokens - 1));
  }
  // A step is under way when it comes, unless it is alone or prompts have GPUs of their own.
  if (!load.disaggregated) step = steps * output_token_s * (1 - 1 / requests);
  return {prefill_s, burst, wait, step, 0};
}

}  // namespace aaco::estimation
