#include <algorithm>
#include <cmath>

#include "estimation/latency/features.h"
#include "estimation/latency/predict.h"

namespace aaco::estimation {
namespace {

// How far carried estimates may be from measurements beyond what the lender's own error brings: half a 90 % interval of the
// logarithm. Much of the lender's error is its own noise, which its mean does not carry over: a part of its bound counts. Chosen
// with one device left out at a time, H100 and H200, A100 and H100, MI100 and MI210 from each other (docs/results.md); kOther by
// judgement. Devices of a vendor whose ceilings are further apart are less alike: kSameVendorApart for each e-fold of the peak
// and of the bandwidth (MI100 and MI210 are 0.3 apart, A100 and H100 1.65). Devices of one architecture whose peaks differ have
// other numbers of units, which tiles fill otherwise (MI300X and MI308X, L40S and L4, A100 and A10): kSameArchitectureApart for
// each e-fold of the peak (MI300X from MI308X, 1.4 apart).
constexpr double kSameArchitecture = 0.163, kSameArchitectureApart = 0.2, kSameVendor = 0.315, kSameVendorApart = 0.05,
                 kOther = 1.0, kLendersPart = 0.3;

// Of the term of other laboratories: what devices differ by was judged on tables that come from several, so a part of it is in
// the constants above. Two thirds of the 0.3 of devices that one laboratory measured is what the only pair of laboratories had
// (0.2).
constexpr double kElsewherePart = 2.0 / 3;

// Compute and memory overlap but for where they are alike, and a launch takes about so long: a roofline without a corner.
double smooth_seconds(const Roofline& roof, const DeviceFacts& device, double slower_launch = 1) {
  constexpr double kSharpness = 4;
  const double launch_s = (device.is_cpu ? 0.5e-6 : 1.5e-6) * slower_launch;
  return std::pow(std::pow(roof.compute_s, kSharpness) + std::pow(roof.memory_s, kSharpness), 1 / kSharpness) + launch_s;
}

// Convolutions of small images have fewer tiles than a large device has units, so that more units may make them no faster:
// between architectures kUsedDoubt of the change of the part that has work is in the bound, by judgement. In the estimate it was
// wrong (MI100 and MI210 from each other: 15 and 16 % off, 13 % without; docs/results.md).
constexpr double kUsedDoubt = 0.5;
double used_units(const Kernel& kernel, const Roofline& roof) {
  return std::holds_alternative<ConvolutionShape>(kernel.shape) ? std::max(roof.wave_ratio, 1e-3) : 1;
}

double ratio_of(double a, double b) { return a > 0 && b > 0 ? a / b : 1; }

// How much longer what does not depend on the size takes, between architectures. A link of an older generation is slower for
// messages of every size: of collectives between 2, 4 and 8 GPUs, A100's took 1.4 to 2.1 times as long as H200's from 1 kB to
// 512 MB, where the links' ratio is 1.5. Attention below 10 us took 1.55 times as long, where the clocks' ratio is 1.4
// (docs/results.md). Beyond a factor of two, by judgement, latencies no longer follow.
double slower_launch(const Kernel& kernel, const DeviceFacts& device, const DeviceFacts& lender) {
  const bool link = std::holds_alternative<CollectiveShape>(kernel.shape);
  const bool attention = std::holds_alternative<AttentionShape>(kernel.shape);
  if ((!link && !attention) || device.architecture == lender.architecture) return 1;
  return std::clamp(
      link ? ratio_of(lender.link_bytes_per_s, device.link_bytes_per_s) : ratio_of(lender.clock_hz, device.clock_hz), 0.5, 2.0);
}

// Serving stacks have other kernels of attention and experts for each architecture. Between A100 and H200, the fastest decode
// attention's ratio was 0.57 to 1.7 times its median, nine of ten; latent attention's, decoding, 0.03 to 13 times what was lent.
// Half a 90 % interval; of experts by judgement.
double other_generation(const Kernel& kernel) {
  constexpr double kOtherKernels = 0.3, kOtherLatentKernels = 1.75;
  if (!has_programs(kind_of(kernel)) || std::holds_alternative<CollectiveShape>(kernel.shape)) return 0;
  const auto* latent = std::get_if<LatentAttentionShape>(&kernel.shape);
  return latent != nullptr && !latent->prefill ? kOtherLatentKernels : kOtherKernels;
}

// Where a stack's kernel is asked for that no lender has measured, it is rather slower than those that were: H200's prefill
// attention in TensorRT-LLM took 0.86 to 3.1 times what H100's table, which names no kernels, lent, in Triton 0.6 to 6 times.
struct Ends {
  double down = 0, up = 0;
};
Ends unseen_kernel(const Kernel& kernel, bool known) {
  constexpr double kFaster = 0.3, kSlower = 0.6;
  return known || std::holds_alternative<CollectiveShape>(kernel.shape) ? Ends{} : Ends{kFaster, kSlower};
}

// The rate of bf16 beside that of fp16, at most one. MI100 computes it at half the rate; its successors do so at the whole rate
// by other instructions, which kernels that were written for the first do not use.
double bf16_share(const DeviceFacts& device) {
  const auto bf16 = device.flops_per_s.find("bf16"), fp16 = device.flops_per_s.find("fp16");
  if (bf16 == device.flops_per_s.end() || fp16 == device.flops_per_s.end()) return 1;
  return std::min(1.0, ratio_of(bf16->second, fp16->second));
}

// The part of the peaks' ratio (a logarithm) that may not have reached the kernels.
double doubtful_rise(const Kernel& kernel, const DeviceFacts& device, const DeviceFacts& lender) {
  if (device.vendor != lender.vendor || element_of(kernel.type) != "bf16") return 0;
  return std::log(bf16_share(device) / bf16_share(lender));
}

struct Lender {
  const CalibrationSet::Entry* entry;
  const LatencyModel* model;
  Roofline roof;
  Roofline ours;        // of the borrower, half of a doubtful rise counted
  double doubt = 0;     // that half
  double distance = 0;  // of the ceilings, in logarithms
  double peaks = 0;     // of it, of the peaks
};

// By judgement: tables of hundreds of shapes.
constexpr std::int64_t kRowsForAnotherMaker = 1000;

double closeness(const DeviceFacts& a, const DeviceFacts& b) {
  if (a.architecture == b.architecture) return 0;
  return a.vendor == b.vendor ? 1 : 2;
}

template <class Test>
void keep_if_any(std::vector<Lender>& lenders, const Test& test) {
  if (std::any_of(lenders.begin(), lenders.end(), test)) std::erase_if(lenders, [&](const Lender& one) { return !test(one); });
}

std::vector<Lender> lenders_of(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof, const CalibrationSet& set) {
  std::vector<Lender> found;
  double nearest = 3;
  for (const auto& [id, entry] : set.entries()) {
    const auto& allowed = set.lenders();
    if (id == device.id || (!allowed.empty() && std::find(allowed.begin(), allowed.end(), id) == allowed.end())) continue;
    const auto model = set.find(id, kernel, true);
    if (!model || !same_class(entry.facts, device)) continue;
    const auto theirs = roofline(kernel, entry.facts);
    if (!theirs) continue;
    const double close = closeness(device, entry.facts);
    if (close == 2 && model->model->type != kernel.type) continue;  // another maker's other program says nothing
    // Nor does a handful of rows: ten of INT8 convolutions of MI100 and MI210 had L4 as fast as T4, which is half as fast, and
    // its published rate outside the bound (docs/results.md).
    if (close == 2 && model->model->quality.rows < kRowsForAnotherMaker) continue;
    // Nor do another maker's products: 74 to 104 % off, where what the device's own kernels reach is 15 to 25 % off, and their
    // launch is not this device's (docs/results.md).
    if (close == 2 && std::holds_alternative<GemmShape>(kernel.shape)) continue;
    if (close > nearest) continue;
    if (close < nearest) found.clear();
    nearest = close;
    const double half_rise = doubtful_rise(kernel, device, entry.facts) / 2;
    Roofline ours = roof;
    ours.compute_s *= std::exp(half_rise);
    const double peaks = std::abs(std::log(ratio_of(theirs->compute_s, ours.compute_s)));
    found.push_back({&entry, model->model, *theirs, ours, std::abs(half_rise),
                     peaks + std::abs(std::log(ratio_of(theirs->memory_s, ours.memory_s))), peaks});
  }
  // Who measured the type, and the stack's kernel, lends before who measured a relative of it.
  const auto exact = [&](const Lender& one) { return one.model->type == kernel.type; };
  const auto known = [&](const Lender& one) { return knows_program(*one.model, kernel); };
  keep_if_any(found, exact);
  keep_if_any(found, known);
  return found;
}

Ceilings carried(const Lender& lender) {
  Ceilings result = lender.model->ceilings;
  result.flops_per_s *= ratio_of(lender.roof.compute_s, lender.ours.compute_s) * std::exp(lender.doubt);
  result.bytes_per_s *= ratio_of(lender.roof.memory_s, lender.ours.memory_s);
  result.cached_bytes_per_s = 0;  // caches do not scale with memory
  return result;
}

}  // namespace

core::Result<std::optional<LatencyEstimate>> interpolated(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof,
                                                          const CalibrationSet& set) {
  const std::vector<Lender> lenders = lenders_of(kernel, device, roof, set);
  if (lenders.empty()) return std::optional<LatencyEstimate>();
  double weights = 0, log_seconds = 0, below = 0, above = 0, least = 0, distance = 0, peaks = 0, doubt = 0, elsewhere = 0,
         units = 0;
  LatencyEstimate result;
  for (const Lender& lender : lenders) {
    AACO_ASSIGN(const LatencyModel* model, lender.entry->with_trees(*lender.model));
    const LatencyEstimate theirs = calibrated(kernel, lender.entry->facts, lender.roof, *model);
    constexpr double kNear = 0.1;
    const double weight = 1 / (kNear + lender.distance * lender.distance);
    const double ratio = smooth_seconds(lender.ours, device, slower_launch(kernel, device, lender.entry->facts)) /
                         smooth_seconds(lender.roof, lender.entry->facts);
    if (closeness(device, lender.entry->facts) > 0)
      units += weight * kUsedDoubt * std::abs(std::log(used_units(kernel, lender.ours) / used_units(kernel, lender.roof)));
    weights += weight;
    log_seconds += weight * std::log(theirs.seconds * ratio);
    const auto range = theirs.same_laboratory.value_or(LatencyEstimate::Range{theirs.lower, theirs.upper});
    below += weight * std::log(theirs.seconds / range.lower);
    above += weight * std::log(range.upper / theirs.seconds);
    elsewhere += weight * model->bounds.elsewhere;
    least += weight * least_seconds(carried(lender), roof, device);
    distance += weight * lender.distance;
    peaks += weight * lender.peaks;
    doubt += weight * lender.doubt;
    if (!result.source.empty()) result.source += " and ";
    result.source += lender.entry->calibration.device;
    if (result.explanation.method.empty()) result.explanation = theirs.explanation;
  }
  const double close = closeness(device, lenders.front().entry->facts);
  const double alike = close == 0   ? kSameArchitecture + kSameArchitectureApart * peaks / weights
                       : close == 1 ? kSameVendor + kSameVendorApart * distance / weights
                                    : kOther;
  // A doubtful rise has reached the kernels or it has not: the bound takes in both.
  const double carry = std::hypot(alike + (doubt + units) / weights, close > 0 ? other_generation(kernel) : 0);
  const bool known = knows_program(*lenders.front().model, kernel);
  const Ends unseen = unseen_kernel(kernel, known);
  elsewhere *= kElsewherePart;
  result.seconds = std::max(std::exp(log_seconds / weights), least / weights);
  const auto interval = [&](double others, double least_time) {
    const double down = std::hypot(kLendersPart * below / weights, carry, std::hypot(others, unseen.down));
    const double up = std::hypot(kLendersPart * above / weights, carry, std::hypot(others, unseen.up));
    return LatencyEstimate::Range{std::min(result.seconds, std::max(least_time, result.seconds * std::exp(-down))),
                                  result.seconds * std::exp(up)};
  };
  const LatencyEstimate::Range own = interval(0, least / weights);
  const LatencyEstimate::Range any =
      elsewhere > 0 ? interval(elsewhere / weights, std::min(least / weights, roof.seconds())) : own;
  result.lower = any.lower;
  result.upper = any.upper;
  if (elsewhere > 0) result.same_laboratory = own;
  result.level = Level::interpolated;
  Explanation& why = result.explanation;
  why.compute_s = roof.compute_s;
  why.memory_s = roof.memory_s;
  why.tile_ratio = roof.tile_ratio;
  why.wave_ratio = roof.wave_ratio;
  why.floor_s = std::min(why.floor_s, result.seconds);  // the lender's: another device's launch may be shorter
  why.efficiency_ratio = explained_ratio(why, result.seconds);
  why.limit = roof.seconds() < why.floor_s ? "floor" : roof.compute_s > roof.memory_s ? "compute" : "memory";
  why.method = std::string("transferred from ") + result.source +
               (close == 0   ? " of the same architecture"
                : close == 1 ? " of another architecture by the same vendor"
                             : " of another vendor") +
               ", scaled by the ratio of the rooflines" +
               (doubt > 0 ? ", including half of the change in the bf16-to-fp16 rate" : "") +
               (known ? std::string() : "; no measurements of " + kernel.program);
  const auto other =
      std::find_if(lenders.begin(), lenders.end(), [&](const Lender& one) { return one.model->type != kernel.type; });
  if (other != lenders.end()) widen_for_another_type(other->model->type, kernel.type, roof, result);
  return std::optional(std::move(result));
}

}  // namespace aaco::estimation
