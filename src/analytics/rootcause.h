#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/bottleneck.h"
#include "analytics/node_time.h"
#include "analytics/scheduling.h"
#include "analytics/signals.h"
#include "core/json.h"
#include "hardware/fingerprint.h"
#include "trace/metric.h"
#include "trace/names.h"

// Why one session is slower (or faster) than another: the difference per call is decomposed into additive parts, and
// causes are inferred from the parts and the signals.
namespace aaco::analytics::rootcause {

struct Side {
  std::optional<signals::CallAccount> account;
  signals::Signals signals;
  metrics::NodeTime nodes;
  const trace::NameTable* names = nullptr;  // of `nodes`
  trace::Metrics metrics;
  double call_ns = 0;      // mean of the measured calls; 0: unknown
  bool of_median = false;  // call_ns is their median: without `typical` its CPU time is the mean one, its wait and sleep unknown
  std::optional<scheduling::TypicalCall> typical;  // a call as long as the median one, where the scheduler was watched
};

// The mean of several sessions of one side (not empty), with the nodes of one of them: profiles are not averaged.
Side mean_side(std::span<const Side* const> sessions, const Side& nodes_of);

// Sides of a median that changed from `median_a` to `median_b`, for decompose() and find_causes(): where the mean tells of waits
// that the median does not have, since few calls waited. Empty where the means tell the same, or the caller's CPU time does not
// explain the median's change. Their waits and sleeps are those of the typical call, where both sides know it.
struct MedianSides {
  Side a, b;
};
std::optional<MedianSides> median_sides(const Side& a, const Side& b, double median_a, double median_b);

// A part of the difference.
struct Part {
  std::string id;        // "run_queue_wait", "node:Conv"
  std::string title;     // "waiting for a CPU"
  double ns = 0;         // per call, B - A
  std::string evidence;  // one sentence with its numbers
};

struct Decomposition {
  double baseline_ns = 0, candidate_ns = 0;  // of a call
  double delta_ns = 0;
  // The largest in the direction of the total first; parts may go the other way. With unexplained_ns they add up to delta_ns.
  // Where the kernel's account is known on both sides, they divide the caller's CPU time, run-queue wait and sleep, and nothing
  // else: the waiting of other threads is evidence, never a part.
  std::vector<Part> parts;
  double unexplained_ns = 0;
  bool profiled = false;  // both sides have node times, so that compute time is split further
  // What the node times of the profiled passes were multiplied by, where they differ by more than twice the measured difference.
  std::optional<double> profile_scale;
  std::optional<signals::CallAccount> baseline_account, candidate_account;
};
// Empty if a side has no calls.
std::optional<Decomposition> decompose(const Side& a, const Side& b);

struct Cause {
  std::string
      id;  // a class of data/rules/bottleneck.yaml, or a configuration: threads, graph_optimisation, data_type, batch, model
  std::string title;
  double probability = 0;
  double share_ratio = 0;             // of the difference, covered by its parts
  std::vector<std::string> evidence;  // its own parts of the difference, and the counters that speak for it
};

// Features of the learned ranking, in a fixed order: the signals of B with their rule log-odds, their changes, and the
// parts' shares.
std::vector<std::string> feature_names(const bottleneck::RuleBook& book);
bottleneck::Features features_of(const Side& a, const Side& b, const Decomposition& decomposition,
                                 const bottleneck::RuleBook& book);

// Causes, most likely first. Configuration differences precede measured causes: they were changed on purpose or by mistake, but
// certainly changed. They yield where most of the difference is time that they do not explain: waiting for a CPU, a quota, a
// stop. Of a faster B the causes are those that made A slower. `model` may be null: then the parts decide.
std::vector<Cause> find_causes(const Side& a, const Side& b, const Decomposition& decomposition,
                               const std::vector<hardware::Difference>& differences, const bottleneck::RuleBook& book,
                               const bottleneck::LearnedModel* model);

core::Json to_json(const Decomposition& decomposition);
core::Json to_json(const std::vector<Cause>& causes);

}  // namespace aaco::analytics::rootcause
