#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "estimation/serving.h"
#include "estimation/serving/aspects.h"
#include "estimation/serving/served_types.h"
#include "estimation/serving/step_work.h"

namespace aaco::estimation {
namespace {

constexpr double kNs = 1e9;
constexpr double kMessageS = 1e-6, kKernelS = 1e-6, kStepS = 1e-3, kSequenceS = 1e-5;
constexpr double kMaxTokens = 1e9, kMaxConcurrency = 1e6;
constexpr std::int64_t kMaxGpus = 4096;

double d(std::int64_t value) { return static_cast<double>(value); }

tl::unexpected<core::Error> invalid(const std::string& what, const std::string& hint = {}) {
  return core::fail(core::ErrorCode::invalid_argument, what, hint);
}

core::Status check(const DecoderArchitecture& model, const ServingRequest& request) {
  const ParallelPlan& plan = request.plan;
  if (plan.tensor < 1 || plan.pipeline < 1 || plan.expert < 1 || plan.replicas < 1)
    return invalid("a parallel degree is below 1");
  if (plan.tensor > kMaxGpus || plan.pipeline > kMaxGpus || plan.replicas > kMaxGpus || plan.gpus() > kMaxGpus)
    return invalid(fmt::format("{} has more than {} GPUs", to_string(plan), kMaxGpus));
  if (model.heads % plan.tensor != 0)
    return invalid(fmt::format("{} attention heads cannot be split across {} GPUs", model.heads, plan.tensor),
                   "use another --tp");
  if (plan.pipeline > model.layers)
    return invalid(fmt::format("{} layers cannot be split into {} stages", model.layers, plan.pipeline));
  if (plan.expert > 1) {
    if (!model.experts) return invalid(model.name + " has no experts to split across GPUs", "remove --ep");
    if (model.experts->count % plan.expert != 0)
      return invalid(fmt::format("{} experts cannot be split across {} GPUs", model.experts->count, plan.expert),
                     "use another --ep");
    const bool divides = plan.expert <= plan.tensor ? plan.tensor % plan.expert == 0 : plan.expert % plan.tensor == 0;
    if (!divides || plan.expert > plan.tensor * plan.replicas)
      return invalid(fmt::format("--ep {} does not fit --tp {} with {} replicas", plan.expert, plan.tensor, plan.replicas),
                     "--ep divides --tp, or is a multiple of it within the replicas");
  }
  const ServingLoad& load = request.load;
  if (load.input_tokens < 1 || load.output_tokens < 1 || d(load.input_tokens) > kMaxTokens || d(load.output_tokens) > kMaxTokens)
    return invalid("input and output tokens require 1 to 1e9");
  if (!(load.concurrency > 0) || load.concurrency > kMaxConcurrency) return invalid("concurrency requires 1 to 1e6");
  if (load.rate && !(*load.rate > 0)) return invalid("the request rate requires a positive number");
  return {};
}

// The estimate at a concurrency; what depends only on model, device and plan is set up once.
class Server {
 public:
  Server(const ServedModel& served, const ServingRequest& request, const ServingRules& rules, const ServingStack& stack)
      : served_(served), request_(request), rules_(rules), stack_(stack) {}

  void at(double concurrency, ServingEstimate& out) const {
    const ServingLoad& load = request_.load;
    out.load.concurrency = concurrency;
    const double mean = d(load.input_tokens) + d(load.output_tokens) / 2;
    const double own = std::max(1.0, concurrency / d(request_.plan.replicas));
    out.running = std::max(1.0, std::min(own, out.memory.capacity_tokens / mean));
    // Stages work on a share of the sequences each, at the same time.
    const double rows = std::max(1.0, out.running / d(request_.plan.pipeline));
    const StepTokens step{rows, rows, rows, mean, 0, 0};
    out.decode = step_work(served_, step);
    const double input = d(load.input_tokens);
    out.prefill = step_work(served_, {input, 1, 0, 0, 1, input});
    out.floor = floor_of(served_, load, out.decode, out.prefill, rows);
    fill_step(out.decode, rows, out);
    out.decode_seconds = std::max(sum(out.terms), floor_of(served_, load, out.decode, {}, 1).output_token_s);
    if (!load.disaggregated) add_prompts(step, rows, out);
    const double output_token = std::max(sum(out.terms), out.floor.output_token_s);
    const double first = first_token(output_token, out);
    const double cycle = first + output_token * d(load.output_tokens - 1);
    const double least = out.floor.first_token_s + out.floor.output_token_s * d(load.output_tokens - 1);
    // Fewer requests than replicas leave some of these without any.
    out.requests_per_s = std::min(out.running * d(request_.plan.replicas), concurrency) / cycle;
    set(out.output_token, output_token, rules_.low, rules_.high, out.floor.output_token_s, out);
    set(out.first_token, first, rules_.first_token_low, rules_.first_token_high, out.floor.first_token_s, out);
    out.first_token.upper *= 1 + stack_.first_token_spread_s / first;
    set(out.request, cycle, rules_.low, rules_.high, least, out);
    out.tokens_per_s = out.requests_per_s * d(load.output_tokens);
    // The rate falls as the time of a request rises.
    out.tokens_per_gpu_s = out.request;
    out.tokens_per_gpu_s.unit = "1/s";
    const double tokens = out.tokens_per_s / gpus(out) * out.request.value;
    out.tokens_per_gpu_s.value = tokens / out.request.value;
    out.tokens_per_gpu_s.lower = tokens / out.request.upper;
    out.tokens_per_gpu_s.upper = tokens / out.request.lower;
  }

 private:
  [[nodiscard]] double sum(const std::array<double, kServingTerms>& terms) const {
    double seconds = 0;
    for (std::size_t i = 0; i < kServingTerms; ++i) seconds += rules_.coefficients[i] * terms[i];
    return seconds;
  }
  [[nodiscard]] double coefficient(ServingTerm term) const { return rules_.coefficients[static_cast<std::size_t>(term)]; }

  // In times of measured kernels, which the coefficients are of.
  [[nodiscard]] double at(ServingTerm term, const ClassWork& work) const {
    return work.seconds + (rules_.specified[static_cast<std::size_t>(term)] - 1) * work.specified;
  }

  void fill_step(const StepWork& work, double rows, ServingEstimate& out) const {
    const auto put = [&](ServingTerm term, double seconds) { out.terms[static_cast<std::size_t>(term)] = seconds; };
    put(ServingTerm::products, at(ServingTerm::products, work[WorkClass::products]));
    put(ServingTerm::experts, at(ServingTerm::experts, work[WorkClass::experts]));
    put(ServingTerm::attention, at(ServingTerm::attention, work[WorkClass::attention]));
    put(ServingTerm::exchange, at(ServingTerm::exchange, work[WorkClass::exchange]));
    put(ServingTerm::messages, work.messages * kMessageS);
    put(ServingTerm::kernels, work.total().kernels * kKernelS);
    put(ServingTerm::step, kStepS);
    put(ServingTerm::sequences, rows * kSequenceS);
    put(ServingTerm::prefill_attention, 0);
  }

  // While a request gets its output, each of the others has had its prompt done once, in steps that decode as well: what a
  // chunk adds to such a step, which takes as many prompts as come in one.
  void add_prompts(const StepTokens& step, double rows, ServingEstimate& out) const {
    const ServingLoad& load = request_.load;
    const double prompts = std::max(0.0, rows - 1) / d(load.output_tokens);
    const double chunk = std::min(d(load.input_tokens) * std::max(1.0, prompts), d(stack_.chunk_tokens));
    StepTokens mixed = step;
    mixed.rows += chunk;
    const StepWork with = step_work(served_, mixed), without = step_work(served_, step);
    const double chunks = d(load.input_tokens) / chunk * prompts;
    const auto add = [&](ServingTerm term, WorkClass kind) {
      out.terms[static_cast<std::size_t>(term)] += std::max(0.0, at(term, with[kind]) - at(term, without[kind])) * chunks;
    };
    add(ServingTerm::products, WorkClass::products);
    add(ServingTerm::experts, WorkClass::experts);
    add(ServingTerm::exchange, WorkClass::exchange);
    add(ServingTerm::exchange, WorkClass::vectors);
    out.terms[static_cast<std::size_t>(ServingTerm::prefill_attention)] =
        at(ServingTerm::prefill_attention, out.prefill[WorkClass::attention]) * prompts;
  }

  double first_token(double output_token, ServingEstimate& out) const {
    const StepWork& prompt = out.prefill;
    const auto of = [&](ServingTerm term, WorkClass kind) { return coefficient(term) * at(term, prompt[kind]); };
    out.prefill_seconds = of(ServingTerm::products, WorkClass::products) + of(ServingTerm::experts, WorkClass::experts) +
                          of(ServingTerm::prefill_attention, WorkClass::attention) +
                          of(ServingTerm::exchange, WorkClass::exchange) + of(ServingTerm::exchange, WorkClass::vectors);
    out.prefill_seconds = std::max(out.prefill_seconds, out.floor.first_token_s);
    out.first_token_terms =
        first_token_terms(request_.load, request_.plan, out.running, out.prefill_seconds, output_token, rules_.first_token_steps);
    out.first_token_terms.back() = stack_.first_token_s;
    return std::accumulate(out.first_token_terms.begin(), out.first_token_terms.end(), 0.0);
  }

  [[nodiscard]] double gpus(ServingEstimate& out) const {
    const double decoding = d(request_.plan.gpus());
    if (!request_.load.disaggregated) return decoding;
    // As many GPUs in groups of the same plan do the prompts as keep up.
    const double busy = out.requests_per_s * out.prefill_seconds / d(request_.plan.pipeline);
    out.prefill_gpus_per_decode_gpu = busy * d(request_.plan.ranks()) / decoding;
    return decoding * (1 + *out.prefill_gpus_per_decode_gpu);
  }

  void set(Estimate& estimate, double seconds, double low, double high, double least, const ServingEstimate& out) const {
    const bool fitted = rules_.saw_device(out.device_id) && rules_.saw_type(heaviest_type(out));
    const double widening = fitted ? 1 : rules_.other_device_widening;
    estimate.value = seconds * kNs;
    estimate.unit = "ns";
    estimate.level = fitted ? Level::calibrated : Level::interpolated;
    estimate.source = fmt::format("{} published serving points, {} models", rules_.rows, rules_.models);
    estimate.lower = std::max(least * kNs, estimate.value * std::exp(low * widening - stack_.spread));
    estimate.upper = estimate.value * std::exp(high * widening + stack_.spread);
  }

  const ServedModel& served_;
  const ServingRequest& request_;
  const ServingRules& rules_;
  const ServingStack& stack_;
};

// The fastest stack before the first token, and bounds of all.
ServingStack any_stack(const ServingRules& rules) {
  ServingStack any = rules.stacks.front();
  double slowest = 0;
  for (const ServingStack& one : rules.stacks) {
    any.spread = std::max(any.spread, one.spread);
    any.first_token_s = std::min(any.first_token_s, one.first_token_s);
    slowest = std::max(slowest, one.first_token_s);
  }
  any.first_token_spread_s = slowest - any.first_token_s;
  any.narrow_cache = false;
  return any;
}

// Little's law: what is in flight is the rate times the time of a request; the time grows with what is in flight.
bool find_concurrency(const Server& server, double rate, double most, ServingEstimate& out) {
  double low = 0.01, high = most;
  server.at(high, out);
  if (out.requests_per_s < rate) return false;
  for (int i = 0; i < 50 && high / low > 1.001; ++i) {
    const double middle = std::sqrt(low * high);
    server.at(middle, out);
    const double in_flight = rate * out.request.value / kNs;
    (in_flight > middle ? low : high) = middle;
  }
  server.at(high, out);
  out.requests_per_s = rate;
  return true;
}

core::Status fill_memory(const ServedModel& served, const hardware::Device& device, const ServingRules& rules,
                         ServingEstimate& out) {
  if (!device.memory.bytes)
    return core::fail(core::ErrorCode::unsupported, "the registry has no memory size for " + device.id,
                      "add it to " + device.where);
  ServingMemory& memory = out.memory;
  memory.device_bytes = (device.memory.usable_bytes ? device.memory.usable_bytes : device.memory.bytes)->value;
  memory.usable_bytes = rules.memory_ratio * memory.device_bytes;
  memory.weight_bytes = weight_bytes(served);
  memory.runtime_bytes = rules.runtime_bytes;
  const CachedBytes cached = cached_bytes_per_token(served);
  memory.full_cache_bytes_per_token = cached.full;
  memory.windowed_cache_bytes_per_token = cached.windowed;
  // Layers with a window keep no more than the window of each sequence.
  const double mean = d(out.load.input_tokens) + d(out.load.output_tokens) / 2, window = d(served.model.window);
  memory.window = served.model.window;
  memory.cache_bytes_per_token = cached.full + cached.windowed * (window > 0 ? std::min(1.0, window / mean) : 1);
  const double room = memory.usable_bytes - memory.weight_bytes - memory.runtime_bytes;
  memory.capacity_tokens = std::max(0.0, std::floor(room / memory.cache_bytes_per_token));
  const double own = out.load.concurrency / d(out.plan.replicas);
  memory.requested_bytes = memory.weight_bytes + memory.runtime_bytes + own * mean * memory.cache_bytes_per_token;
  if (memory.capacity_tokens >= d(out.load.input_tokens + out.load.output_tokens)) return {};
  return does_not_fit(served, device, out);
}

}  // namespace

std::string to_string(const ParallelPlan& plan) {
  std::string text = fmt::format("tp {}, pp {}", plan.tensor, plan.pipeline);
  if (plan.expert > 1) text += fmt::format(", ep {}", plan.expert);
  if (plan.replicas > 1) text += fmt::format(", {} replicas", plan.replicas);
  return text;
}

Estimate ServingEstimate::all_tokens_per_s() const {
  Estimate all = tokens_per_gpu_s;
  const double gpus = tokens_per_s / tokens_per_gpu_s.value;
  for (double* value : {&all.value, &all.lower, &all.upper}) *value *= gpus;
  return all;
}

std::string_view to_string(ServingTerm term) {
  constexpr std::array<std::string_view, kServingTerms> kNames{"products", "experts", "attention", "exchange",         "messages",
                                                               "kernels",  "step",    "sequences", "prefill_attention"};
  return kNames[static_cast<std::size_t>(term)];
}

std::string_view to_string(FirstTokenTerm term) {
  constexpr std::array<std::string_view, kFirstTokenTerms> kNames{"prompt", "burst", "wait", "step", "constant"};
  return kNames[static_cast<std::size_t>(term)];
}

core::Result<ServingEstimate> estimate_serving(const DecoderArchitecture& model, const hardware::Device& device,
                                               const ServingRequest& request, const ServingRules& rules,
                                               const CalibrationSet* fits) {
  AACO_TRY(check(model, request));
  ServingStack stack = rules.stacks.front();
  if (!request.stack.empty()) {
    AACO_ASSIGN(const ServingStack* found, rules.stack(request.stack));
    stack = *found;
    stack.spread = 0;  // the bounds of models a fit had not seen are those of a named stack
  } else {
    stack = any_stack(rules);
  }
  if (!device.memory.bytes_per_s)
    return core::fail(core::ErrorCode::unsupported, "the registry has no memory bandwidth for " + device.id,
                      "add it to " + device.where);
  ServedModel served{costed_as(model, request),      request.plan,   {}, {}, {}, 2, 0, 0, device.memory.bytes_per_s->value, 0,
                     device.device_link.has_value(), request.routing};
  AACO_ASSIGN(const std::string cache, fill_types(device, request, stack, rules, served));
  const DeviceFacts facts = facts_of(device);
  served.on_chip_bytes = facts.cache_bytes;
  const bool one_node = std::max(request.plan.ranks(), request.plan.expert) <= rules.node_gpus;
  const auto& link = device.device_link ? device.device_link : device.host_link;
  served.link_bytes_per_s = link ? link->bytes_per_s.value : rules.network_bytes_per_s;
  // Messages to other nodes pass the device's own link as well.
  if (!one_node) served.link_bytes_per_s = std::min(served.link_bytes_per_s, rules.network_bytes_per_s);
  served.direct_links = one_node && device.device_link.has_value();
  served.times = OperatorTimes(fits, facts, request.stack.empty() ? std::string() : stack.name);

  ServingEstimate out;
  out.model = model.name;
  out.device_id = device.id_with_state();
  out.device_name = device.name;
  out.stack = request.stack;
  out.weight_type = served.dense.name;
  out.expert_type = model.experts ? served.experts.name : "";
  out.cache_type = cache;
  out.plan = request.plan;
  out.load = request.load;
  out.routing = request.routing;
  AACO_TRY(fill_memory(served, device, rules, out));
  const Server server(served, request, rules, stack);
  bool sustained = true;
  if (request.load.rate) {
    const double mean = d(request.load.input_tokens) + d(request.load.output_tokens) / 2;
    const double most = std::min(4096.0, out.memory.capacity_tokens / mean) * d(request.plan.replicas);
    sustained = find_concurrency(server, *request.load.rate, std::max(1.0, most), out);
    out.tokens_per_s = out.requests_per_s * d(request.load.output_tokens);
  } else {
    server.at(request.load.concurrency, out);
  }
  fill_energy(device, served.dense, out);
  add_notes(request, rules, model.context, sustained, out);
  add_type_notes(served, device, out);
  out.notes.insert(out.notes.end(), model.notes.begin(), model.notes.end());
  return out;
}

}  // namespace aaco::estimation
