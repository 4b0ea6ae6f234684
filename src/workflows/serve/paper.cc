#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/numbers.h"
#include "workflows/serve.h"

namespace aaco::workflows {
namespace {

using estimation::Estimate;
using estimation::ServingEstimate;

constexpr std::size_t kMaxFrontRows = 20;

std::string time_text(const Estimate& e) {
  return fmt::format("{}  ({} to {}, 90 %)", core::format_duration(e.value), core::format_duration(e.lower),
                     core::format_duration(e.upper));
}

std::string rate(double value) { return value < 100 ? fmt::format("{:.3g}", value) : core::format_count(std::round(value)); }

std::string types_text(const ServingEstimate& e) {
  std::string text = e.weight_type + " weights";
  if (!e.expert_type.empty() && e.expert_type != e.weight_type) text += ", " + e.expert_type + " experts";
  return text + ", " + e.cache_type + " cache";
}

std::string load_text(const ServingEstimate& e) {
  std::string text = fmt::format("{} input and {} output tokens, ", e.load.input_tokens, e.load.output_tokens);
  text += e.load.rate ? fmt::format("{:g} requests/s ({:.3g} in flight)", *e.load.rate, e.load.concurrency)
                      : fmt::format("{:g} requests in flight", e.load.concurrency);
  return e.load.disaggregated ? text + ", prefill on separate GPUs" : text;
}

// "busiest GPU 1.21 times the mean in a step, 1.02 in a prompt (uniform)"
std::string expert_load_text(const ServingEstimate& e) {
  using Kind = estimation::ExpertRouting::Kind;
  const std::string how = e.routing.kind == Kind::uniform  ? "tokens choose at random (--expert-load)"
                          : e.routing.kind == Kind::factor ? "as requested"
                                                           : to_string(e.routing);
  return fmt::format("busiest GPU {:.2f} times the mean in a step, {:.2f} in a prompt; {}", e.decode.expert_imbalance,
                     e.prefill.expert_imbalance, how);
}

report::PaperSection summary(const ServingEstimate& e) {
  report::PaperSection section;
  auto& facts = section.facts;
  facts.emplace_back("load", load_text(e));
  facts.emplace_back("plan", fmt::format("{} ({} GPU{})", to_string(e.plan), e.plan.gpus(), e.plan.gpus() == 1 ? "" : "s"));
  facts.emplace_back("types", types_text(e));
  if (e.plan.expert > 1) facts.emplace_back("expert load", expert_load_text(e));
  facts.emplace_back("stack", e.stack.empty() ? "any" : e.stack);
  facts.emplace_back("TTFT", time_text(e.first_token));
  facts.emplace_back("TPOT", time_text(e.output_token));
  facts.emplace_back("tokens/s per GPU", fmt::format("{}  ({} to {}, 90 %)  output tokens", rate(e.tokens_per_gpu_s.value),
                                                     rate(e.tokens_per_gpu_s.lower), rate(e.tokens_per_gpu_s.upper)));
  facts.emplace_back("tokens/s", fmt::format("{}, {} requests/s", rate(e.tokens_per_s), rate(e.requests_per_s)));
  facts.emplace_back("request", core::format_duration(e.request.value));
  if (e.joules_per_token)
    facts.emplace_back("energy per token", fmt::format("{:.3g} J  THEORETICAL, specification", *e.joules_per_token));
  facts.emplace_back("level", fmt::format("{}, {}", to_string(e.output_token.level), e.output_token.source));
  return section;
}

// Layers with a window keep no more than that of a sequence, so the mean falls with its length.
std::string cache_text(const estimation::ServingMemory& m) {
  std::string text = core::format_bytes(m.cache_bytes_per_token) + " per token";
  if (m.window > 0)
    text += fmt::format(", mean at this length (full attention {}, layers with a window {} within {} tokens)",
                        core::format_bytes(m.full_cache_bytes_per_token), core::format_bytes(m.windowed_cache_bytes_per_token),
                        core::format_count(static_cast<double>(m.window)));
  return text + fmt::format("; room for {} tokens per replica", core::format_count(m.capacity_tokens));
}

report::PaperSection memory(const ServingEstimate& e) {
  report::PaperSection section;
  section.title = "Memory per GPU";
  const auto& m = e.memory;
  section.facts.emplace_back("weights", core::format_bytes(m.weight_bytes));
  section.facts.emplace_back("runtime", core::format_bytes(m.runtime_bytes));
  section.facts.emplace_back("KV cache", cache_text(m));
  const double mean = static_cast<double>(e.load.input_tokens) + static_cast<double>(e.load.output_tokens) / 2;
  const double used = m.weight_bytes + m.runtime_bytes + e.running * mean * m.cache_bytes_per_token;
  std::string use =
      fmt::format("{} of {}", core::format_bytes(std::min(used, m.requested_bytes)), core::format_bytes(m.device_bytes));
  if (m.requested_bytes > used * 1.001)
    use += fmt::format("; all requests at once would take {}", core::format_bytes(m.requested_bytes));
  section.facts.emplace_back("in use", use);
  return section;
}

std::string amount(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t place = 0;
  while (value >= 1000 && place + 1 < kPrefixes.size()) value /= 1000, ++place;
  return fmt::format("{:.3g} {}{}", value, kPrefixes[place], unit);
}

report::PaperSection work(const ServingEstimate& e) {
  report::PaperSection section;
  section.title = "Work per GPU: one decode step, one prompt";
  section.table.header = {"class", "step FLOP", "step bytes", "step time", "prompt FLOP", "prompt bytes", "prompt time"};
  section.table.numeric = {false, true, true, true, true, true, true};
  for (std::size_t i = 0; i < estimation::kWorkClasses; ++i) {
    const auto kind = static_cast<estimation::WorkClass>(i);
    const auto &step = e.decode[kind], &prompt = e.prefill[kind];
    if (step.bytes <= 0 && prompt.bytes <= 0) continue;
    section.table.rows.push_back({std::string(to_string(kind)), amount(step.flops, "FLOP"), core::format_bytes(step.bytes),
                                  core::format_duration(step.seconds * 1e9), amount(prompt.flops, "FLOP"),
                                  core::format_bytes(prompt.bytes), core::format_duration(prompt.seconds * 1e9)});
  }
  section.facts.emplace_back("decode step", core::format_duration(e.decode_seconds * 1e9) + " without prompts");
  section.facts.emplace_back("prefill", core::format_duration(e.prefill_seconds * 1e9) + " per prompt");
  if (e.prefill_gpus_per_decode_gpu)
    section.facts.emplace_back("prefill GPUs", fmt::format("{:.2f} per decode GPU", *e.prefill_gpus_per_decode_gpu));
  return section;
}

report::PaperSection front(const estimation::PlanSearch& search) {
  report::PaperSection section;
  section.title = fmt::format("Pareto front: {} of {} points ({} tried)", search.front.size(), search.fitting, search.tried);
  section.table.header = {"plan", "GPUs", "in flight", "TTFT", "TPOT", "tokens/s per GPU"};
  section.table.numeric = {false, true, true, true, true, true};
  for (const ServingEstimate& e : search.front) {
    if (section.table.rows.size() == kMaxFrontRows) {
      section.lines.push_back(fmt::format("{} more with --format json", search.front.size() - kMaxFrontRows));
      break;
    }
    section.table.rows.push_back({to_string(e.plan), std::to_string(e.plan.gpus()), fmt::format("{:g}", e.load.concurrency),
                                  core::format_duration(e.first_token.value), core::format_duration(e.output_token.value),
                                  rate(e.tokens_per_gpu_s.value)});
  }
  return section;
}

// A point without an estimate has the name that the same model has on another device.
std::string model_of(const ServedPoint& point, const std::vector<ServedPoint>& points) {
  if (point.estimate) return point.estimate->model;
  for (const ServedPoint& other : points)
    if (other.model == point.model && other.estimate) return other.estimate->model;
  return point.model;
}

report::PaperSection ranked(const std::vector<ServedPoint>& points, const std::string& model) {
  report::PaperSection section;
  // Wide tables go on below with their first column: the device, because all rows are of one model.
  const std::vector<std::string> header{"hardware",         "model",     "plan", "TTFT", "TPOT", "90 %",
                                        "tokens/s per GPU", "KV tokens", "level"};
  section.table.numeric = {false, false, false, true, true, true, true, true, false};
  for (const ServedPoint& point : points) {
    if (model_of(point, points) != model) continue;
    if (!point.estimate) {
      section.lines.push_back(point.model + " on " + point.hardware + ": " + point.error->message);
      continue;
    }
    const ServingEstimate& e = *point.estimate;
    section.table.rows.push_back(
        {e.device_id, e.model, to_string(e.plan), core::format_duration(e.first_token.value),
         core::format_duration(e.output_token.value),
         core::format_duration(e.output_token.lower) + " to " + core::format_duration(e.output_token.upper),
         rate(e.tokens_per_gpu_s.value), core::format_count(e.memory.capacity_tokens),
         std::string(to_string(e.output_token.level))});
  }
  if (!section.table.rows.empty()) section.table.header = header;
  return section;
}

}  // namespace

report::Paper serving_paper(const std::vector<ServedPoint>& points, const ServeRequest& request) {
  report::Paper paper;
  if (points.size() == 1 && points.front().estimate) {
    const ServingEstimate& e = *points.front().estimate;
    paper.title = fmt::format("{} served on {} ({})", e.model, e.device_id, e.device_name);
    paper.sections = {summary(e), memory(e), work(e)};
    if (points.front().search) paper.sections.push_back(front(*points.front().search));
    if (!e.notes.empty()) paper.sections.push_back({"Notes", {}, {}, e.notes});
    return paper;
  }
  paper.title = fmt::format("Served with {} input and {} output tokens, by output tokens/s per GPU",
                            request.serving.load.input_tokens, request.serving.load.output_tokens);
  // Tokens of different models are different goods: each has a ranking of its own.
  std::vector<std::string> models;
  for (const ServedPoint& point : points)
    if (std::find(models.begin(), models.end(), model_of(point, points)) == models.end())
      models.push_back(model_of(point, points));
  for (const std::string& model : models) {
    paper.sections.push_back(ranked(points, model));
    if (models.size() > 1) paper.sections.back().title = model;
  }
  return paper;
}

report::PaperTable serving_table(const std::vector<ServedPoint>& points) {
  report::PaperTable table;
  table.header = {"model",
                  "hardware",
                  "tensor",
                  "pipeline",
                  "expert",
                  "replicas",
                  "concurrency",
                  "ttft_ns",
                  "ttft_lower_ns",
                  "ttft_upper_ns",
                  "tpot_ns",
                  "tpot_lower_ns",
                  "tpot_upper_ns",
                  "output_tokens_per_gpu_per_s",
                  "kv_capacity_tokens",
                  "weight_bytes",
                  "level",
                  "error"};
  const auto add = [&](const ServingEstimate& e) {
    const auto n = [](double value) { return fmt::format("{:.6g}", value); };
    table.rows.push_back({e.model, e.device_id, std::to_string(e.plan.tensor), std::to_string(e.plan.pipeline),
                          std::to_string(e.plan.expert), std::to_string(e.plan.replicas), n(e.load.concurrency),
                          n(e.first_token.value), n(e.first_token.lower), n(e.first_token.upper), n(e.output_token.value),
                          n(e.output_token.lower), n(e.output_token.upper), n(e.tokens_per_gpu_s.value),
                          n(e.memory.capacity_tokens), n(e.memory.weight_bytes), std::string(to_string(e.output_token.level)),
                          ""});
  };
  for (const ServedPoint& point : points) {
    if (point.search) {
      for (const ServingEstimate& e : point.search->front) add(e);
    } else if (point.estimate) {
      add(*point.estimate);
    }
    if (!point.error) continue;
    std::vector<std::string> row(table.header.size());
    row[0] = point.model;
    row[1] = point.hardware;
    row.back() = point.error->message;
    table.rows.push_back(std::move(row));
  }
  table.numeric.assign(table.header.size(), true);
  return table;
}

core::Json serving_json(const std::vector<ServedPoint>& points, const ServeRequest& request) {
  core::Json list = core::Json::array();
  for (const ServedPoint& point : points) {
    core::Json one = core::Json::object({{"model", point.model}, {"hardware", point.hardware}});
    if (point.error) one.set("error", point.error->message);
    if (point.estimate) one.set("estimate", to_json(*point.estimate));
    if (point.search) {
      core::Json front = core::Json::array();
      for (const auto& e : point.search->front) front.push(to_json(e));
      one.set("search",
              core::Json::object({{"tried", point.search->tried}, {"fitting", point.search->fitting}, {"front", front}}));
    }
    list.push(std::move(one));
  }
  core::Json limits = core::Json::object();
  limits.set_if("ttft_ns", request.limits.first_token_ns);
  limits.set_if("tpot_ns", request.limits.output_token_ns);
  return core::Json::object({{"schema_version", 1}, {"slo", std::move(limits)}, {"points", std::move(list)}});
}

}  // namespace aaco::workflows
