#include "workflows/ab.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/numbers.h"
#include "stats/moments.h"
#include "stats/paired.h"
#include "stats/robust.h"
#include "workflows/ab/ab_sessions.h"
#include "workflows/ab/ab_verdict.h"
#include "workflows/ort_build.h"

namespace aaco::workflows {
namespace {

using analytics::regression::AbRoundBlocks;
using analytics::regression::AbRule;
using core::ErrorCode;

constexpr std::int64_t kRoundNs = 1'500'000'000;  // measured time of a side in a round, where loading is quick
constexpr std::int64_t kFewestRoundsAimed = 8;    // in the time there is
constexpr std::int64_t kFewestPairs = 3;          // of blocks in a round
constexpr core::Nanoseconds kUsualBlock{50'000'000};
constexpr std::int64_t kMaxBlockCalls = 100'000;  // of a block
// For the rounds that an interval needs at least: so many times what was asked, and never less than this.
constexpr std::int64_t kPatience = 6;
constexpr std::int64_t kMinPatienceNs = 120'000'000'000;
constexpr std::size_t kMaxLost = 3;  // rounds whose process ended by itself, before it is given up

double items_of(const AbLoaded& side) { return static_cast<double>(side.described["batch"].as_i64().value_or(1)); }

bool can_share(const AbRequest& request, const Services& services) {
  const auto library = [&](const RunRequest& side) {
    return library_of(side.ort_library, side.backend, services.environment, services.paths);
  };
  return !request.apart && library(request.a.request) == library(request.b.request);
}

// What the loop knows while it goes.
struct Progress {
  const AbRequest& request;
  const Services& services;
  std::int64_t begin_ns = core::monotonic_ns();
  std::array<std::int64_t, 2> calls{};  // measured so far
  std::vector<AbRoundBlocks> rounds;
  AbRule rule;
  std::string verdict{};  // so far, one line

  [[nodiscard]] std::int64_t spent() const { return core::monotonic_ns() - begin_ns; }
  [[nodiscard]] std::int64_t budget() const { return 2 * request.duration.count(); }
  [[nodiscard]] bool calls_left() const { return !request.iterations || calls[0] < *request.iterations; }
  // Fewer rounds than an interval needs are worth nothing, so that they may take longer than asked.
  [[nodiscard]] std::int64_t bound() const { return rounds.size() < stats::kFewestRounds ? patience() : budget(); }
  [[nodiscard]] std::int64_t patience() const { return std::max(kPatience * budget(), kMinPatienceNs); }
  [[nodiscard]] bool over() const { return spent() >= bound() || !calls_left() || services.stopping(); }
};

// The longest block of which the time for each side holds as many as an interval needs.
core::Nanoseconds longest_block(const AbRequest& request) {
  return request.duration / (static_cast<std::int64_t>(stats::kFewestRounds) * kFewestPairs);
}

core::Nanoseconds block_of(const AbRequest& request) {
  return request.block.value_or(std::min(kUsualBlock, longest_block(request)));
}

// Calls of a block so that the slower side takes about the time of one.
std::int64_t block_calls(const AbProcesses& processes, const Progress& progress) {
  const double slower = std::max({processes.loaded(0).warm_median_ns(), processes.loaded(1).warm_median_ns(), 1.0});
  const auto by_time = static_cast<std::int64_t>(static_cast<double>(block_of(progress.request).count()) / slower);
  std::int64_t calls = std::clamp<std::int64_t>(by_time, 1, kMaxBlockCalls);
  if (progress.request.iterations)  // several blocks all the same
    calls = std::clamp<std::int64_t>(
        calls, 1, std::max<std::int64_t>(1, *progress.request.iterations / (kFewestRoundsAimed * kFewestPairs)));
  return calls;
}

// How long a round goes on: long against what starting it took, short enough for several in the time there is.
std::int64_t round_length(std::int64_t start_took_ns, const Progress& progress) {
  const std::int64_t wanted = std::max(2 * kRoundNs, 2 * start_took_ns);
  return std::clamp<std::int64_t>(
      wanted, 0, std::max<std::int64_t>(progress.budget() / kFewestRoundsAimed - start_took_ns, progress.budget() / 50));
}

void tell(const Progress& progress) {
  const std::size_t round = progress.rounds.size() + 1;
  std::string text = progress.verdict + (progress.verdict.empty() ? "" : "; ") + "round " + std::to_string(round);
  if (round <= stats::kFewestRounds) text += " of at least " + std::to_string(stats::kFewestRounds);
  if (progress.request.iterations) text += fmt::format(", {} of {} iterations", progress.calls[0], *progress.request.iterations);
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) / 1e9; };
  progress.services.progress(
      fmt::format("{}, {:.0f} s of {:.0f} s asked", text, seconds(progress.spent()), seconds(progress.budget())));
}

core::Status measure_round(AbProcesses& processes, Progress& progress, AbSessions& sessions, std::int64_t length_ns,
                           bool b_first) {
  AbRoundBlocks blocks;
  const std::int64_t calls = block_calls(processes, progress);
  const std::int64_t begin = core::monotonic_ns();
  const auto enough = [&] {
    if (!progress.calls_left() || progress.services.stopping()) return true;
    const bool pairs = static_cast<std::int64_t>(blocks.sides[0].size()) >= kFewestPairs;
    const bool late = core::monotonic_ns() - begin >= length_ns || progress.spent() >= progress.budget();
    return (pairs && late) || progress.spent() >= progress.patience();
  };
  const std::int64_t share =
      progress.request.iterations ? std::max<std::int64_t>(*progress.request.iterations / kFewestRoundsAimed, 1) : INT64_MAX;
  std::int64_t done = 0;
  for (std::int64_t pair = 0; !enough() && done < share; ++pair, done += calls) {
    tell(progress);
    // The first pair of each turn is in one order, the next in the other: what the first of two blocks pays falls on both sides.
    const bool b_now = (pair % 2 == 0) == b_first;
    for (const int side : b_now ? std::array{1, 0} : std::array{0, 1}) {
      AACO_ASSIGN(const AbBlock block, processes.run(side, calls));
      sessions.add_block(side, block);
      auto& into = blocks.sides[static_cast<std::size_t>(side)].emplace_back();
      for (const auto& call : block.calls) into.push_back(static_cast<double>(call.duration_ns));
      if (const auto cpu = block.account.caller_cpu_ns.value_or(0); cpu > 0 && !block.calls.empty())
        blocks.caller_cpu[static_cast<std::size_t>(side)].push_back(static_cast<double>(cpu) /
                                                                    static_cast<double>(block.calls.size()));
      progress.calls[static_cast<std::size_t>(side)] += calls;
    }
  }
  blocks.b_first = b_first;
  sessions.end_round(processes);
  if (!blocks.sides[0].empty()) progress.rounds.push_back(std::move(blocks));
  return {};
}

std::string ending(const AbRequest& request, const Progress& progress, bool decided) {
  if (progress.services.stopping()) return "stopped by the user";
  if (decided) return "verdict reached";
  if (!progress.calls_left()) return fmt::format("{} iterations per side completed", *request.iterations);
  return "time limit of " + core::format_duration(static_cast<double>(request.duration.count())) + " per side reached";
}

core::Status check(const AbRequest& request) {
  if (request.duration.count() < 100'000'000)
    return core::fail(ErrorCode::invalid_argument, "a comparison needs at least 100 ms per side", "the default is 60s");
  if (request.iterations && *request.iterations < static_cast<std::int64_t>(stats::kFewestRounds) * kFewestPairs)
    return core::fail(ErrorCode::invalid_argument,
                      fmt::format("a comparison needs at least {} iterations per side", stats::kFewestRounds * kFewestPairs));
  if (request.block && *request.block > longest_block(request) * 1.01)  // as it is rounded below
    return core::fail(
        ErrorCode::invalid_argument,
        fmt::format("a confidence interval needs {} blocks per side; with blocks of {}, only {} fit into {}",
                    stats::kFewestRounds * kFewestPairs, core::format_duration(static_cast<double>(request.block->count())),
                    request.duration / *request.block, core::format_duration(static_cast<double>(request.duration.count()))),
        "use a longer --duration, or a --block of at most " +
            core::format_duration(static_cast<double>(longest_block(request).count())));
  return check_detectable(request);
}

// The rounds until something ends them. An error only where the first round already fails, or too many after it.
core::Status measure_all(AbProcesses processes, std::int64_t start_took_ns, Progress& progress, AbSessions& sessions,
                         AbOutcome& outcome) {
  bool decided = false, b_first = false;
  for (;;) {
    AACO_TRY(measure_round(processes, progress, sessions, round_length(start_took_ns, progress), b_first));
    if (progress.over()) break;
    const auto look = look_at(progress.rounds, progress.rule);
    if (look) progress.verdict = look->sentence;
    decided = look && look->enough;
    if (decided || progress.spent() + start_took_ns >= progress.bound()) break;
    b_first = !b_first;
    for (;;) {
      const std::int64_t begin = core::monotonic_ns();
      auto next = AbProcesses::start(progress.request, outcome.together, b_first, progress.services);
      if (next) {
        processes = *std::move(next);
        start_took_ns = core::monotonic_ns() - begin;
        break;
      }
      outcome.lost_rounds.push_back(next.error().message);
      if (outcome.lost_rounds.size() >= kMaxLost || progress.over()) return tl::unexpected<core::Error>(std::move(next).error());
    }
  }
  outcome.ended = ending(progress.request, progress, decided);
  return {};
}

}  // namespace

core::Result<AbOutcome> ab(const AbRequest& request, const Services& services) {
  AACO_TRY(check(request));
  AbOutcome outcome;
  outcome.together = can_share(request, services);
  services.progress("loading both sides");
  Progress progress{request, services, core::monotonic_ns(), {}, {}, {}};
  AACO_ASSIGN(AbProcesses first, AbProcesses::start(request, outcome.together, false, services));
  progress.rule = rule_of(request, {items_of(first.loaded(0)), items_of(first.loaded(1))});
  const std::int64_t took = progress.spent();
  outcome.verdict.differences = ab_differences(first.loaded(0).facts(request.a), first.loaded(1).facts(request.b));
  outcome.verdict.comparable = hardware::comparable(outcome.verdict.differences);
  if (!outcome.verdict.comparable && !request.force) {
    refuse_comparison(outcome);
    return outcome;
  }
  AACO_ASSIGN(AbSessions sessions, AbSessions::begin(request, first, services));
  for (int side = 0; side < 2; ++side) sessions.add_warmup(side, first.loaded(side).warmup);
  AACO_TRY(measure_all(std::move(first), took, progress, sessions, outcome));
  outcome.interrupted = services.stopping();
  outcome.wall_ns = progress.spent();
  fill_verdict(progress.rounds, progress.rule, outcome);
  AACO_TRY(sessions.finish(outcome, request, services));
  return outcome;
}

}  // namespace aaco::workflows
