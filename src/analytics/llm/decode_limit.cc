#include "analytics/decode_limit.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/numbers.h"

namespace aaco::analytics::llm {
namespace {

constexpr double kSmallConstant = 1024;  // bytes: scalars, axes, shapes

bool is_lookup(const graph::Node& node) { return node.op_type == "Gather" || node.op_type == "GatherBlockQuantized"; }

double bytes_of(const graph::TensorDescriptor& tensor) {
  const auto count = tensor.shape ? graph::element_count(*tensor.shape) : std::nullopt;
  return count ? static_cast<double>(*count) * graph::element_bits(tensor.type) / 8 : 0;
}

// Lookups and other readers of each tensor of the outermost graph.
struct Readers {
  std::vector<std::int64_t> lookups, others;
};
Readers readers_of(const graph::Graph& graph) {
  Readers readers{std::vector<std::int64_t>(graph.tensors.size()), std::vector<std::int64_t>(graph.tensors.size())};
  for (const graph::Node& node : graph.nodes)
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i].valid()) ++(is_lookup(node) && i == 0 ? readers.lookups : readers.others)[index_of(node.inputs[i])];
  return readers;
}

std::string bytes_text(double bytes) { return core::format_bytes(bytes); }

void add_batches(const std::vector<BatchPoint>& batches, DecodeVerdict& verdict) {
  if (batches.size() < 2) return;
  const auto [least, most] =
      std::minmax_element(batches.begin(), batches.end(), [](const auto& a, const auto& b) { return a.batch < b.batch; });
  if (least->batch == most->batch || least->tpot_ns <= 0) return;
  const double load = static_cast<double>(most->batch) / static_cast<double>(least->batch);
  verdict.batch_growth_ratio = (most->tpot_ns / least->tpot_ns - 1) / (load - 1);
  verdict.evidence.push_back(fmt::format(
      "from batch {} to {} a step takes {:.2f} times as long: {}", least->batch, most->batch, most->tpot_ns / least->tpot_ns,
      *verdict.batch_growth_ratio < kSharedReads ? "the sequences share what it reads" : "each sequence costs its own time"));
}

// Near the floor is near it whatever disturbed the run; far from it may be the disturbance.
DecodeLimit limit_of(const DecodeVerdict& verdict, bool disturbed) {
  if (!verdict.floor_ratio) return DecodeLimit::unknown;
  if (*verdict.floor_ratio >= kBandwidthBound) return DecodeLimit::bandwidth;
  if (disturbed) return DecodeLimit::unknown;
  return *verdict.floor_ratio >= kBandwidthPartly ? DecodeLimit::partly : DecodeLimit::other;
}

std::string sentence_of(const DecodeVerdict& verdict) {
  if (!verdict.weight_floor_ratio) return "distance from the bandwidth floor unavailable: no memory bandwidth for this device";
  const std::string ratio = fmt::format("decode reaches {} of the rate at which memory could deliver its weights",
                                        core::format_percent(*verdict.weight_floor_ratio));
  switch (verdict.limit) {
    case DecodeLimit::bandwidth: return ratio + ": bandwidth-bound";
    case DecodeLimit::partly: return ratio + ": partly bandwidth-bound";
    case DecodeLimit::other: return ratio + ": not bandwidth-bound";
    case DecodeLimit::unknown: break;
  }
  return ratio + "; its limit is undecided because external load affected most generations";
}

}  // namespace

double weight_bytes_per_step(const graph::Graph& bound, std::int64_t batch) {
  const Readers readers = readers_of(bound);
  double bytes = 0;
  for (const graph::Initializer& constant : bound.initializers) {
    const graph::TensorDescriptor& tensor = bound.tensor(constant.tensor);
    const double whole = bytes_of(tensor);
    if (whole < kSmallConstant) continue;
    const std::size_t place = index_of(constant.tensor);
    const bool only_looked_up = readers.others[place] == 0 && readers.lookups[place] > 0;
    const double rows = only_looked_up ? std::max(1.0, static_cast<double>(tensor.shape->front().size)) : 1;
    const double read = only_looked_up ? whole / rows * static_cast<double>(batch * readers.lookups[place]) : whole;
    bytes += std::min(whole, read);
  }
  for (const graph::Graph& body : bound.subgraphs) bytes += weight_bytes_per_step(body, batch);
  return bytes;
}

std::string_view to_string(DecodeLimit limit) {
  switch (limit) {
    case DecodeLimit::bandwidth: return "bandwidth";
    case DecodeLimit::partly: return "partly_bandwidth";
    case DecodeLimit::other: return "other";
    case DecodeLimit::unknown: break;
  }
  return "unknown";
}

DecodeVerdict judge_decode(const DecodeEvidence& evidence) {
  DecodeVerdict verdict;
  const double all = evidence.bytes.weights + evidence.bytes.cache;
  if (evidence.bandwidth && evidence.bandwidth->bytes_per_s > 0 && evidence.tpot_ns > 0) {
    const double per_ns = evidence.bandwidth->bytes_per_s * 1e-9;
    verdict.weight_floor_ns = evidence.bytes.weights / per_ns;
    verdict.floor_ns = all / per_ns;
    verdict.weight_floor_ratio = *verdict.weight_floor_ns / evidence.tpot_ns;
    verdict.floor_ratio = *verdict.floor_ns / evidence.tpot_ns;
    verdict.evidence.push_back(fmt::format("{} of weights at {}/s ({}) take {}; a step takes {}",
                                           bytes_text(evidence.bytes.weights), bytes_text(evidence.bandwidth->bytes_per_s),
                                           evidence.bandwidth->source, core::format_duration(*verdict.weight_floor_ns),
                                           core::format_duration(evidence.tpot_ns)));
    verdict.evidence.push_back(fmt::format("with {} of cached keys and values the floor is {}, {} of the step",
                                           bytes_text(evidence.bytes.cache), core::format_duration(*verdict.floor_ns),
                                           core::format_percent(*verdict.floor_ratio)));
  }
  add_batches(evidence.batches, verdict);
  if (evidence.memory_share)
    verdict.evidence.push_back(fmt::format("nodes limited by memory take {} of the predicted decode time",
                                           core::format_percent(*evidence.memory_share)));
  if (evidence.runtime_ratio)
    verdict.evidence.push_back(
        fmt::format("{} of a step is inside the runtime's call", core::format_percent(*evidence.runtime_ratio)));
  if (evidence.disturbed_ratio && *evidence.disturbed_ratio > 0)
    verdict.evidence.push_back(
        fmt::format("{} of the generations were affected by external load", core::format_percent(*evidence.disturbed_ratio)));
  verdict.limit = limit_of(verdict, evidence.disturbed_ratio.value_or(0) >= kMostlyDisturbed);
  verdict.sentence = sentence_of(verdict);
  return verdict;
}

}  // namespace aaco::analytics::llm
