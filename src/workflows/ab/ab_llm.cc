#include "workflows/ab_llm.h"

#include <fmt/format.h>

#include "core/clock.h"
#include "hardware/fingerprint.h"
#include "workflows/diff_json.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

core::Status check_side(const LlmSide& side, std::string_view name) {
  if (const auto* model = std::get_if<LlmModelRequest>(&side)) {
    if (model->batches.size() <= 1 && (!model->contexts || model->contexts->empty())) return {};
    return core::fail(ErrorCode::invalid_argument, fmt::format("side {}: ab compares one level per side", name),
                      "keep one value of --batch and remove --context-curve");
  }
  const auto& load = std::get<LlmRequest>(side);
  if (load.concurrency.size() + load.rates.size() <= 1 && !load.until_limit) return {};
  return core::fail(ErrorCode::invalid_argument, fmt::format("side {}: ab compares one level of load per side", name),
                    "remove --sweep and keep one value of --concurrency or --rate");
}

// What is known to differ before anything is measured.
core::Status check_comparable(const AbLlmRequest& request, const Services& services) {
  if (request.force) return {};
  AACO_ASSIGN(auto of_a, facts_of(request.a, services));
  AACO_ASSIGN(auto of_b, facts_of(request.b, services));
  const auto differences = hardware::compare_fingerprints(hardware::make_fingerprint(of_a), hardware::make_fingerprint(of_b));
  if (hardware::comparable(differences)) return {};
  const hardware::Difference& first = differences.front();
  return core::fail(ErrorCode::invalid_argument,
                    fmt::format("the sides are not comparable: {} ({} and {})", first.meaning, first.a, first.b),
                    "give both sides the same lengths, load and SLO, or use --force");
}

LlmSide block_of(LlmSide side, const AbLlmRequest& ab, std::string_view name) {
  if (has_no_length(side)) set_duration(side, ab.block.count());
  tag_of(side) = ab.tag.empty() ? std::string() : fmt::format("{}-{}", ab.tag, name);
  return side;
}

DiffRequest diff_request(const AbLlmRequest& request) {
  DiffRequest diff;
  diff.metrics.threshold_ratio = request.threshold_ratio;
  diff.level = request.level;
  diff.force = request.force;
  return diff;
}

// The sessions are blocks of this comparison: more of them are a longer one.
std::string recommend_longer(const DiffOutcome& verdict) {
  const auto blocks = verdict.metrics.empty() ? std::nullopt : verdict.metrics.front().more_sessions;
  return blocks ? fmt::format("measure about {} more blocks per side: use a longer --duration", *blocks)
                : std::string("use a longer --duration, or another --threshold");
}

}  // namespace

core::Result<AbLlmOutcome> ab_llm(const AbLlmRequest& request, const Services& services) {
  AACO_TRY(check_side(request.a, "A"));
  AACO_TRY(check_side(request.b, "B"));
  AACO_TRY(check_comparable(request, services));
  const LlmSide sides[] = {block_of(request.a, request, "a"), block_of(request.b, request, "b")};
  AbLlmOutcome outcome;
  std::vector<std::string>* const paths[] = {&outcome.a_paths, &outcome.b_paths};
  const std::int64_t start = core::monotonic_ns();
  for (std::int64_t round = 0; !services.stopping(); ++round) {
    if (round >= kFewestBlocks && core::monotonic_ns() - start >= 2 * request.duration.count()) break;
    for (const std::int64_t turn : {0, 1}) {
      const std::int64_t side = (round + turn) % 2;
      Services of_block = services;
      of_block.progress = [&, round, side](std::string_view text) {
        services.progress(fmt::format("block {} of {}: {}", round + 1, side == 0 ? "A" : "B", text));
      };
      auto block = measure_llm(sides[side], of_block);
      if (!block) return tl::unexpected(std::move(block).error().with(side == 0 ? "side A" : "side B"));
      if (services.stopping()) break;  // a block that was cut short says less than the others
      paths[side]->push_back(block->path);
    }
  }
  outcome.interrupted = services.stopping();
  outcome.wall_ns = core::monotonic_ns() - start;
  if (outcome.a_paths.empty() || outcome.b_paths.empty())
    return core::fail(ErrorCode::cancelled, "the comparison was stopped before both sides had a block");
  DiffRequest compared = diff_request(request);
  compared.baseline = outcome.a_paths;
  compared.candidate = outcome.b_paths;
  AACO_ASSIGN(outcome.verdict, diff(compared, services));
  if (outcome.verdict.verdict == "inconclusive") outcome.verdict.recommendation = recommend_longer(outcome.verdict);
  return outcome;
}

Json to_json(const AbLlmOutcome& outcome, const AbLlmRequest& request) {
  Json ab = Json::object({{"interrupted", outcome.interrupted},
                          {"wall_ns", outcome.wall_ns},
                          {"a", Json::texts(outcome.a_paths)},
                          {"b", Json::texts(outcome.b_paths)}});
  return to_json(outcome.verdict, diff_request(request)).set("ab", std::move(ab));
}

}  // namespace aaco::workflows
