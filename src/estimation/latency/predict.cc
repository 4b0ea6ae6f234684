#include "estimation/latency/predict.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "estimation/latency/features.h"

namespace aaco::estimation {
namespace {

// Half an interval of the logarithm for each octave: A100's products of up to 64 rows said of those of 2048 and more, and the
// reverse (docs/results.md).
constexpr double kBeyondOctave = 0.12;
// Further out than this a fit is no longer one of such kernels.
constexpr double kUnseenOctaves = 1;

// How many times the work, and its operations a byte, are doubled or halved from the edge of what was seen.
double octaves_beyond(const Extent& seen, const Roofline& roof) {
  const auto beyond = [](double value, double least, double most) {
    if (!(value > 0) || !(least > 0) || !(most > 0)) return 0.0;
    return std::max(0.0, std::log2(value / most)) + std::max(0.0, std::log2(least / value));
  };
  return beyond(roof.seconds(), seen.least_seconds, seen.most_seconds) +
         beyond(intensity(roof), seen.least_intensity, seen.most_intensity);
}

// An end of the interval (a logarithm), further out for what lies beyond.
double widened(double end, double beyond, double sign) {
  return beyond > 0 ? sign * std::hypot(std::max(0.0, sign * end), beyond) : end;
}

}  // namespace

bool saw_size(const LatencyModel& model, const Roofline& roof) { return octaves_beyond(model.extent, roof) < kUnseenOctaves; }

double intensity(const Roofline& roof) { return roof.compute_s / std::max(roof.memory_s, 1e-30); }

double mean_of(const std::vector<stats::BoostedTrees>& trees, std::span<const float> row) {
  AACO_CHECK(!trees.empty());
  double sum = 0;
  for (const stats::BoostedTrees& tree : trees) sum += tree.predict(row);
  return sum / static_cast<double>(trees.size());
}

double least_seconds(const Ceilings& ceilings, const Roofline& roof, const DeviceFacts& device) {
  double least = ceilings.flops_per_s > 0 ? roof.flops / ceilings.flops_per_s : 0;
  const double bandwidth = roof.bytes <= device.cache_bytes ? ceilings.cached_bytes_per_s : ceilings.bytes_per_s;
  if (bandwidth > 0) least = std::max(least, roof.bytes / bandwidth);
  return least;
}

double nominal_seconds(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof, const LatencyModel& model) {
  const auto found = std::find(model.operators.begin(), model.operators.end(), kernel.program);
  const auto place = static_cast<std::size_t>(found - model.operators.begin());
  if (place >= model.programs.size()) return roof.seconds() + nominal_floor_s(device);
  const ProgramCost& cost = model.programs[place];
  return cost.floor_s + cost.compute * roof.compute_s + cost.memory * roof.memory_s;
}

double explained_ratio(const Explanation& why, double seconds) {
  return std::min(1.0, (std::max(why.compute_s, why.memory_s) + why.floor_s) / seconds);
}

namespace {

// The model's kernels that are asked for: that one, else all of its stack, else all.
struct Programs {
  std::vector<std::string> names;
  bool known = true;
};

Programs asked_programs(const LatencyModel& model, const std::string& asked) {
  const auto& all = model.operators;
  if (asked.empty()) return {all, true};
  if (std::find(all.begin(), all.end(), asked) != all.end()) return {{asked}, true};
  const std::size_t colon = asked.find(':');
  Programs found{{}, colon == std::string::npos};
  const std::string stack = asked.substr(0, colon) + ":";
  for (const std::string& name : all)
    if (name.starts_with(stack)) found.names.push_back(name);
  return found.names.empty() ? Programs{all, false} : found;
}

LatencyEstimate of_program(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof, const LatencyModel& model) {
  const std::vector<float> row = features_of(kernel, device, roof, model.operators);
  const double nominal = nominal_seconds(kernel, device, roof, model);
  // The best of one or two sites is no ceiling.
  const bool tested = model.quality.sites >= CalibrationSet::kTestedSites;
  const double least = tested ? std::max(least_seconds(model.ceilings, roof, device), model.ceilings.floor_s) : 0;
  LatencyEstimate result;
  result.seconds = std::max(least, nominal * std::exp(mean_of(model.trees, row)));
  const double scale = model.bounds.log_scale.empty() ? 1 : std::exp(model.bounds.log_scale.predict(row));
  const double lowest = model.bounds.below_ceilings ? 0 : least;
  const double octaves = octaves_beyond(model.extent, roof), beyond = kBeyondOctave * octaves;
  const double low = widened(scale * model.bounds.low, beyond, -1), high = widened(scale * model.bounds.high, beyond, 1);
  const double untuned = std::max(roof.seconds(), nominal / 2);  // others may be tuned better
  const auto interval = [&](double lower, double upper, double least_time) {
    LatencyEstimate::Range range{std::min(result.seconds, std::max(least_time, result.seconds * std::exp(lower))),
                                 std::max(result.seconds, result.seconds * std::exp(upper))};
    if (!tested) range.lower = std::min(range.lower, untuned);
    return range;
  };
  const LatencyEstimate::Range own = interval(low, high, lowest);
  result.lower = own.lower;
  result.upper = own.upper;
  if (model.bounds.elsewhere > 0) {
    // Another laboratory's ceilings are not known either: the roofline is the least.
    const LatencyEstimate::Range others = interval(widened(low, model.bounds.elsewhere, -1),
                                                   widened(high, model.bounds.elsewhere, 1), std::min(lowest, roof.seconds()));
    result.lower = others.lower;
    result.upper = others.upper;
    result.same_laboratory = own;
  }
  result.level = octaves >= kUnseenOctaves ? Level::interpolated : Level::calibrated;
  result.source = device.id;
  Explanation& why = result.explanation;
  const Ceilings& best = model.ceilings;
  why.compute_s = best.flops_per_s > 0 ? roof.flops / best.flops_per_s : roof.compute_s;
  const double bandwidth = roof.bytes <= device.cache_bytes ? best.cached_bytes_per_s : best.bytes_per_s;
  why.memory_s = bandwidth > 0 ? roof.bytes / bandwidth : roof.memory_s;
  why.floor_s = best.floor_s;
  why.tile_ratio = roof.tile_ratio;
  why.wave_ratio = roof.wave_ratio;
  const double attainable = std::max(why.compute_s, why.memory_s);
  why.efficiency_ratio = explained_ratio(why, result.seconds);
  why.limit = attainable < why.floor_s ? "floor" : why.compute_s > why.memory_s ? "compute" : "memory";
  why.method = "boosted trees over the roofline of " + model.kind + " " + model.type + ", fitted to " +
               std::to_string(model.quality.rows) + " measurements of " + std::to_string(model.quality.sites) + " sites";
  if (octaves >= kUnseenOctaves) why.method += "; the shape is outside the measured range, so the interval is wider";
  return result;
}

void take_in(const LatencyEstimate::Range& other, double& lower, double& upper) {
  lower = std::min(lower, other.lower);
  upper = std::max(upper, other.upper);
}

}  // namespace

bool knows_program(const LatencyModel& model, const Kernel& kernel) {
  if (kernel.program.empty() || !has_programs(model.kind)) return true;
  const bool whole_stack = kernel.program.find(':') == std::string::npos;
  return std::any_of(model.operators.begin(), model.operators.end(), [&](const std::string& name) {
    return name == kernel.program || (whole_stack && name.starts_with(kernel.program + ":"));
  });
}

LatencyEstimate calibrated(const Kernel& kernel, const DeviceFacts& device, const Roofline& roof, const LatencyModel& model) {
  if (!has_programs(model.kind) || model.operators.empty()) return of_program(kernel, device, roof, model);
  const Programs programs = asked_programs(model, kernel.program);
  Kernel one = kernel;
  one.program = programs.names.front();
  LatencyEstimate best = of_program(one, device, roof, model);
  std::string fastest = one.program;
  for (std::size_t i = 1; i < programs.names.size(); ++i) {
    one.program = programs.names[i];
    LatencyEstimate next = of_program(one, device, roof, model);
    if (next.seconds < best.seconds) {
      std::swap(next, best);
      fastest = one.program;
    }
    take_in({next.lower, next.upper}, best.lower, best.upper);
    if (best.same_laboratory && next.same_laboratory)
      take_in(*next.same_laboratory, best.same_laboratory->lower, best.same_laboratory->upper);
  }
  if (programs.names.size() > 1)
    best.explanation.method += "; the fastest of " + std::to_string(programs.names.size()) + " measured kernels (" + fastest +
                               "), bounds of all of them";
  if (!programs.known) {
    best.level = Level::interpolated;
    best.explanation.method += "; no measurements of " + kernel.program;
  }
  return best;
}

}  // namespace aaco::estimation
