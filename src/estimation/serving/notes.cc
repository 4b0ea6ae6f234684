#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "estimation/serving/aspects.h"

namespace aaco::estimation {
namespace {

double counted(std::int64_t value) { return static_cast<double>(value); }

// "0.18", "0.18.x" and "0.18.0" name 0.18.0.
bool names_version(std::string_view asked, std::string_view version) {
  if (asked.ends_with(".x")) asked.remove_suffix(2);
  return !asked.empty() && version.starts_with(asked) && (version.size() == asked.size() || version[asked.size()] == '.');
}

// What the fitted points say of the version of "STACK@VERSION".
std::string version_note(const std::string& asked, const ServingRules& rules) {
  const auto at = asked.find('@');
  const std::string version = asked.substr(at + 1);
  const auto stack = rules.stack(asked);
  const std::string name = stack ? (*stack)->name : asked.substr(0, at);
  double points = 0, errors = 0;
  std::vector<std::string> fitted;
  for (const StackVersion& one : rules.versions) {
    if (one.stack != name) continue;
    fitted.push_back(fmt::format("{} of {}", one.points, one.version.empty() ? "no recorded version" : one.version));
    if (!names_version(version, one.version)) continue;
    points += counted(one.points);
    errors += counted(one.points) * one.error;
  }
  const std::string same = fmt::format("the estimate is the same for all versions of {}", name);
  if (points > 0)
    return fmt::format("{:.0f} fitted points are of {} {}, {:.0f} % off with their models held out; {}", points, name, version,
                       100 * errors / points, same);
  return fmt::format("no fitted points are of {} {} (fitted: {}); {}", name, version, fmt::join(fitted, ", "), same);
}

}  // namespace

const std::string& heaviest_type(const ServingEstimate& out) {
  return out.expert_type.empty() ? out.weight_type : out.expert_type;
}

void add_notes(const ServingRequest& request, const ServingRules& rules, std::int64_t context, bool sustained,
               ServingEstimate& out) {
  if (!sustained)
    out.notes.push_back(fmt::format("the rate of {:g} requests/s exceeds what this plan sustains ({:.3g}/s); the queue grows",
                                    *request.load.rate, out.requests_per_s));
  const double own = out.load.concurrency / counted(out.plan.replicas);
  if (own > out.running * 1.001)
    out.notes.push_back(
        fmt::format("{:.0f} of {:.0f} requests per replica fit the cache at a time; the others wait (not in TTFT)",
                    std::floor(out.running), own));
  if (request.plan.ranks() > rules.node_gpus || request.plan.expert > rules.node_gpus)
    out.notes.push_back(fmt::format("ranks beyond {} GPUs communicate over a network of {:g} GB/s per GPU (an assumption)",
                                    rules.node_gpus, rules.network_bytes_per_s / 1e9));
  const ExpertRouting& routing = request.routing;
  if (out.expert_type.empty() && routing.kind != ExpertRouting::Kind::uniform)
    out.notes.push_back(out.model + " has no experts: --expert-load has no effect");
  else if (request.plan.expert == 1 && routing.kind == ExpertRouting::Kind::factor)
    out.notes.emplace_back("--expert-load has no effect without --ep: every GPU has a part of each expert");
  if (request.stack.empty()) out.notes.emplace_back("no --stack: TTFT is the fastest measured stack's, bounds are of all");
  if (context > 0 && counted(request.load.input_tokens + request.load.output_tokens) > counted(context))
    out.notes.push_back(fmt::format("{} tokens per request exceed the model's context of {}",
                                    request.load.input_tokens + request.load.output_tokens, context));
  if (request.stack.find('@') != std::string::npos) out.notes.push_back(version_note(request.stack, rules));
  if (rules.saw_device(out.device_id) && !rules.saw_type(heaviest_type(out)))
    out.notes.push_back(fmt::format("no serving points of {} weights were fitted, only of {}; bounds are wider",
                                    heaviest_type(out), fmt::join(rules.types, " and ")));
  if (!rules.saw_device(out.device_id))
    out.notes.push_back(fmt::format("no serving points of this device were fitted; coefficients are from {}, bounds are wider",
                                    fmt::join(rules.devices, " and ")));
}

}  // namespace aaco::estimation
