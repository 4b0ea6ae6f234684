#include <algorithm>

#include "estimation/serving.h"

namespace aaco::estimation {
namespace {

// At least as good in both, and better in one.
bool dominates(const ServingEstimate& a, const ServingEstimate& b) {
  const double at = a.output_token.value, bt = b.output_token.value;
  const double as = a.tokens_per_gpu_s.value, bs = b.tokens_per_gpu_s.value;
  return at <= bt && as >= bs && (at < bt || as > bs);
}

bool is_power_of_two(std::int64_t value) { return (value & (value - 1)) == 0; }

// Powers of two on up to `gpus` GPUs, and every plan on all of them.
std::vector<ParallelPlan> plans(const DecoderArchitecture& model, std::int64_t gpus) {
  std::vector<ParallelPlan> list;
  for (std::int64_t tensor = 1; tensor <= gpus; ++tensor)
    for (std::int64_t pipeline = 1; tensor * pipeline <= gpus; ++pipeline)
      for (std::int64_t replicas = 1; tensor * pipeline * replicas <= gpus; ++replicas) {
        const bool powers = is_power_of_two(tensor) && is_power_of_two(pipeline) && is_power_of_two(replicas);
        if (!powers && tensor * pipeline * replicas != gpus) continue;
        for (std::int64_t expert = 1; expert <= (model.experts ? tensor * replicas : 1); expert *= 2)
          list.push_back({tensor, pipeline, expert, replicas});
      }
  return list;
}

// Whether `a` is the better head of a search on `gpus` GPUs.
bool heads(const ServingEstimate& a, const ServingEstimate& b, std::int64_t gpus) {
  const bool ours = a.plan.gpus() == gpus, theirs = b.plan.gpus() == gpus;
  return ours != theirs ? ours : a.tokens_per_gpu_s.value > b.tokens_per_gpu_s.value;
}

std::vector<double> loads(const ParallelPlan& plan, const std::optional<double>& concurrency) {
  if (concurrency) return {*concurrency};
  constexpr double kMaxPerReplica = 1024;
  std::vector<double> list;
  for (double one = 1; one <= kMaxPerReplica; one *= 2) list.push_back(one * static_cast<double>(plan.replicas));
  return list;
}

std::vector<ServingEstimate> front_of(const std::vector<ServingEstimate>& all) {
  std::vector<ServingEstimate> front;
  for (const ServingEstimate& one : all)
    if (std::none_of(all.begin(), all.end(), [&](const ServingEstimate& other) { return dominates(other, one); }))
      front.push_back(one);
  std::stable_sort(front.begin(), front.end(), [](const ServingEstimate& a, const ServingEstimate& b) {
    return a.output_token.value < b.output_token.value;
  });
  return front;
}

}  // namespace

bool ServingLimits::met_by(const ServingEstimate& estimate) const {
  return (!first_token_ns || estimate.first_token.value <= *first_token_ns) &&
         (!output_token_ns || estimate.output_token.value <= *output_token_ns);
}

core::Result<PlanSearch> search_plans(const DecoderArchitecture& model, const hardware::Device& device,
                                      const ServingRequest& request, std::int64_t gpus, std::optional<double> concurrency,
                                      const ServingLimits& limits, const ServingRules& rules, const CalibrationSet* fits) {
  if (gpus < 1 || gpus > 1024) return core::fail(core::ErrorCode::invalid_argument, "the search requires 1 to 1024 GPUs");
  PlanSearch search;
  std::vector<ServingEstimate> within;
  std::optional<core::Error> first_error;
  for (const ParallelPlan& plan : plans(model, gpus))
    for (const double in_flight : loads(plan, concurrency)) {
      ServingRequest one = request;
      one.plan = plan;
      one.load.concurrency = in_flight;
      one.load.rate.reset();
      ++search.tried;
      auto estimate = estimate_serving(model, device, one, rules, fits);
      if (!estimate) {
        if (!first_error || estimate.error().code == core::ErrorCode::exhausted) first_error = estimate.error();
        break;
      }
      const bool full = estimate->running * static_cast<double>(plan.replicas) < in_flight * 0.999;
      if (full && !concurrency) break;  // more requests only wait
      ++search.fitting;
      if (!limits.met_by(*estimate)) continue;
      if (!search.best || heads(*estimate, *search.best, gpus)) search.best = *estimate;
      within.push_back(std::move(*estimate));
    }
  if (search.fitting == 0 && first_error) return tl::unexpected<core::Error>(*first_error);
  search.front = front_of(within);
  return search;
}

}  // namespace aaco::estimation
