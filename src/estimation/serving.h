#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/analysis.h"
#include "estimation/decoder.h"
#include "estimation/expert_routing.h"
#include "hardware/device.h"

// Language models as serving stacks run them: fused attention on a paged cache in place, grouped queries shared, residual and
// norm fused, captured graphs, continuous batching with chunked prefill. docs/how_to/estimate_serving.md derives the formulas.
namespace aaco::estimation {

// What the time per output token and the time to first token are made of, in seconds of measured kernels. One product or
// collective has the rows of decoding sequences and of prompts, so each is one term: with one for each kind of rows, tokens/s
// fell with the load.
enum class ServingTerm : std::uint8_t {
  products,           // with dense weights
  experts,            // that at least one token visits
  attention,          // reading the cache for the decoding sequences
  exchange,           // bytes over the links between ranks, and what prompts add to norms
  messages,           // a microsecond for each latency of a collective
  kernels,            // a microsecond for each kernel
  step,               // a millisecond of the scheduler for each step
  sequences,          // 10 us for each sequence: sampling, detokenising
  prefill_attention,  // of other requests' prompts, shared among the steps
};
inline constexpr std::size_t kServingTerms = 9;
std::string_view to_string(ServingTerm term);

// Parts of the time to first token, which add up to it. Clients ask for the next request as soon as they have one, as load
// generators do: ten requests each, all clients at once in the beginning.
enum class FirstTokenTerm : std::uint8_t {
  prompt,    // the request's own, in full: the first token comes after it
  burst,     // prompts of the others that start at the same moment, in one round of ten; none where one request runs or at a rate
  wait,      // for others' prompts that are under way later on
  step,      // steps of the scheduler; none where one request runs
  constant,  // of the stack for each request
};
inline constexpr std::size_t kFirstTokenTerms = 5;
std::string_view to_string(FirstTokenTerm term);

// A serving stack's conventions.
struct ServingStack {
  std::string name;
  std::vector<std::string> aliases;
  std::int64_t chunk_tokens = 8192;  // of prompts in one step
  bool narrow_cache = false;         // an FP8 model gets an FP8 cache where nothing else is asked for
  double first_token_s = 0;          // of every request before its first token, beside prompts and steps
  double first_token_spread_s = 0;   // how much longer that may be where no stack is named
  double spread = 0;  // log of how far its points are from the fit of all stacks; the largest widens an estimate for no stack
  bool operator==(const ServingStack&) const = default;
};

// Fitted points of one version of a stack.
struct StackVersion {
  std::string stack, version;  // empty version: not recorded
  std::int64_t points = 0;
  double error = 0;  // mean, their models held out
  bool operator==(const StackVersion&) const = default;
};

// Share of the peak that large products of a vendor's libraries reach in a type, and of the memory's bandwidth that those of few
// rows do.
struct AchievedRate {
  std::string vendor, type;  // empty vendor or type: any other
  double ratio = 1;
  std::optional<double> memory_ratio;  // with it, computing and moving take turns; without, the longer counts, at full bandwidth
  bool operator==(const AchievedRate&) const = default;
};

// data/rules/serving.yaml.
struct ServingRules {
  std::array<double, kServingTerms> coefficients{};
  std::array<double, kServingTerms> specified{};     // times at the specification's rates over those of measured kernels
  double first_token_steps = 0;                      // steps that a request waits for before its first token
  double low = 0, high = 0;                          // 90 % bounds of log(measured / estimate) of models a fit had not seen
  double first_token_low = 0, first_token_high = 0;  //
  std::vector<std::string> devices;                  // whose points were fitted
  std::vector<std::string> types;                    // of the weights of those points
  double other_device_widening = 1;                  // bounds of other devices and types are wider by this factor
  std::int64_t rows = 0, models = 0;                 // fitted
  double mean_error = 0;                             // of models a fit had not seen
  std::vector<AchievedRate> achieved;                // of products
  std::vector<AchievedRate> experts;                 // of experts' products, by the type of their weights
  double memory_ratio = 0.9;                         // of device memory that a stack takes
  double runtime_bytes = 0;                          // of it, what is neither weights nor cache
  std::int64_t node_gpus = 8;                        // GPUs with direct links
  double network_bytes_per_s = 0;                    // of one GPU to those of other nodes
  std::vector<ServingStack> stacks;
  std::vector<StackVersion> versions;
  [[nodiscard]] core::Result<const ServingStack*> stack(std::string_view name) const;
  [[nodiscard]] bool saw_device(std::string_view id) const;
  [[nodiscard]] bool saw_type(std::string_view type) const;
  [[nodiscard]] AchievedRate achieved_rate(std::string_view vendor, std::string_view type) const;        // the first that fits
  [[nodiscard]] const AchievedRate* experts_rate(std::string_view vendor, std::string_view type) const;  // null: as products
};
core::Result<ServingRules> load_serving_rules(const std::string& path);

// How the ranks share a model.
struct ParallelPlan {
  std::int64_t tensor = 1, pipeline = 1, expert = 1, replicas = 1;
  [[nodiscard]] std::int64_t ranks() const { return tensor * pipeline; }  // of one replica
  [[nodiscard]] std::int64_t gpus() const { return ranks() * replicas; }
  auto operator<=>(const ParallelPlan&) const = default;
};
std::string to_string(const ParallelPlan& plan);  // "tp 4, pp 1, ep 4, 2 replicas"

struct ServingLoad {
  std::int64_t input_tokens = 0, output_tokens = 0;
  double concurrency = 1;      // requests in flight, of all replicas
  std::optional<double> rate;  // requests per second in place of a concurrency
  bool disaggregated = false;  // prompts run on GPUs of their own
};

struct ServingRequest {
  ParallelPlan plan;
  ServingLoad load;
  std::string weight_type, cache_type;  // empty: as published; the stack's usual one
  std::string stack;                    // empty: the points of all stacks
  ExpertRouting routing;                // of tokens to experts
};

// Work of one class in one step on one GPU.
struct ClassWork {
  double flops = 0, bytes = 0;
  double seconds = 0;  // as measured kernels take, else at the specification's rates
  double kernels = 0;
  double specified = 0;       // of seconds, those at the specification's rates
  double peak_seconds = 0;    // operations at the dense peak of the type they are computed in
  double resident_bytes = 0;  // weights and cache, each once: no kernel works without reading them
  ClassWork& operator+=(const ClassWork& other);
};
enum class WorkClass : std::uint8_t { products, experts, attention, vectors, exchange };
inline constexpr std::size_t kWorkClasses = 5;
std::string_view to_string(WorkClass kind);
struct StepWork {
  std::array<ClassWork, kWorkClasses> classes{};
  double messages = 0;          // latencies of collectives
  double expert_imbalance = 1;  // visits of the experts of the busiest GPU over the mean
  ClassWork& operator[](WorkClass kind) { return classes[static_cast<std::size_t>(kind)]; }
  const ClassWork& operator[](WorkClass kind) const { return classes[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] ClassWork total() const;
};

struct ServingMemory {
  double device_bytes = 0;                                                    // of one GPU, as its driver shows them
  double usable_bytes = 0;                                                    // of them, what a stack takes
  double weight_bytes = 0;                                                    // on the fullest GPU
  double cache_bytes_per_token = 0;                                           // on one GPU, mean at the load's length
  double full_cache_bytes_per_token = 0, windowed_cache_bytes_per_token = 0;  // of layers of each kind, within the window
  std::int64_t window = 0;                                                    // tokens; 0: none
  double runtime_bytes = 0;                                                   // activations, graphs, buffers of collectives
  double capacity_tokens = 0;                                                 // of one replica's cache
  double requested_bytes = 0;  // with the cache of all requests in flight at their mean length
  [[nodiscard]] bool weights_fit() const { return capacity_tokens > 0; }
};

// What no software can do faster on the device: operations at the dense peak of their type, or weights and cache once at the
// memory's bandwidth, whichever takes longer. What a cache on the chip may keep from step to step counts as no bytes. Points and
// bounds are never below.
struct ServingFloor {
  double first_token_s = 0, output_token_s = 0;
};

struct ServingEstimate {
  std::string model, device_id, device_name, stack, weight_type, expert_type, cache_type;
  ExpertRouting routing;
  ParallelPlan plan;
  ServingLoad load;    // its concurrency is what is in flight, by Little's law where a rate was asked for
  double running = 0;  // sequences of one replica that fit its cache at a time
  ServingMemory memory;
  StepWork decode, prefill;                                  // one step of `running` sequences; one prompt; on the busiest GPU
  std::array<double, kServingTerms> terms{};                 // at the specification's rates
  std::array<double, kFirstTokenTerms> first_token_terms{};  // seconds
  Estimate first_token, output_token, request;               // ns
  ServingFloor floor;
  Estimate tokens_per_gpu_s;                        // output tokens
  double tokens_per_s = 0;                          // of all GPUs, output
  [[nodiscard]] Estimate all_tokens_per_s() const;  // the same with its interval
  double requests_per_s = 0;
  double prefill_seconds = 0, decode_seconds = 0;     // of one prompt alone; of one step without prompts
  std::optional<double> prefill_gpus_per_decode_gpu;  // disaggregated
  // Of one output token, and of a request with its prompt: specification's power over the estimated time.
  std::optional<Estimate> joules_per_token, joules_per_request;
  std::vector<std::string> notes;
};

// Fails with invalid_argument for a plan or load that cannot be, with exhausted where the weights do not fit, with unsupported
// where the device lacks a needed figure.
// `fits`: of operators, of the device and its relatives; null: all at the specification's rates.
core::Result<ServingEstimate> estimate_serving(const DecoderArchitecture& model, const hardware::Device& device,
                                               const ServingRequest& request, const ServingRules& rules,
                                               const CalibrationSet* fits = nullptr);

struct ServingLimits {
  std::optional<double> first_token_ns, output_token_ns;
  [[nodiscard]] bool met_by(const ServingEstimate& estimate) const;
  [[nodiscard]] bool any() const { return first_token_ns || output_token_ns; }
};
struct PlanSearch {
  std::vector<ServingEstimate> front;  // by time per output token: no other point is at least as good in both
  std::size_t tried = 0, fitting = 0;
  // Most output tokens per second and GPU within the limits, of plans on all GPUs; of fewer where none of these is within.
  std::optional<ServingEstimate> best;
};
// All plans of powers of two on up to `gpus` GPUs and of any degrees on all of them, at `concurrency` requests in flight or,
// empty, at powers of two of them.
core::Result<PlanSearch> search_plans(const DecoderArchitecture& model, const hardware::Device& device,
                                      const ServingRequest& request, std::int64_t gpus, std::optional<double> concurrency,
                                      const ServingLimits& limits, const ServingRules& rules,
                                      const CalibrationSet* fits = nullptr);

core::Json to_json(const ServingEstimate& estimate);

}  // namespace aaco::estimation
