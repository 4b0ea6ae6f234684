#include <algorithm>
#include <cmath>
#include <set>

#include "estimation/models.h"
#include "estimation/validation.h"
#include "stats/fits.h"

namespace aaco::estimation {
namespace {

// Residuals of logarithms beyond this count linearly: one odd row among twenty moves nothing.
constexpr double kTypical = 0.05;
// Of the squares of the logarithms of coefficients over the usual ones: what the rows do not show stays usual. Small parts of the
// time, which take up what others leave unexplained, are held closer.
constexpr double kDraw = 1e-2, kCloseDraw = 6e-2;
bool is_close(std::size_t term) {
  switch (static_cast<Term>(term)) {
    case Term::weights:
    case Term::streamed:
    case Term::operands:
    case Term::issue: return true;
    default: return false;
  }
}
constexpr int kSteps = 60;
constexpr double kBoundLevel = 0.9;
// With fewer models than a 90 % quantile needs, the largest residual is widened by so much.
constexpr double kWiden = 1.3;
constexpr double kUntestedBound = 0.7;  // one model alone: a factor of two either way

// One fit: logarithms of coefficients over the usual ones, of a common factor, of a factor a device, of training.
class Problem {
 public:
  Problem(std::span<const ModelSample> samples, const std::array<double, kTerms>& usual) : samples_(samples), usual_(usual) {
    for (const ModelSample& sample : samples) devices_.try_emplace(sample.device, 0);
    std::size_t place = kTerms + 1;
    for (auto& [name, column] : devices_) column = place++;
    columns_ = place + 1;
    parameters_.assign(columns_, 0);
  }

  core::Result<ModelFit> solve() {
    start();
    for (int step = 0; step < kSteps; ++step) {
      AACO_ASSIGN(const std::vector<double> next, gauss_newton());
      if (!advance(next)) break;
    }
    ModelFit fit;
    for (std::size_t i = 0; i < kTerms; ++i) fit.coefficients[i] = usual_[i] * std::exp(parameters_[i] + parameters_[kTerms]);
    for (const auto& [name, column] : devices_) fit.devices[name] = std::exp(parameters_[column]);
    fit.training = std::exp(parameters_.back());
    return fit;
  }

 private:
  [[nodiscard]] double residual(const ModelSample& sample, const std::vector<double>& at,
                                std::array<double, kTerms>* share) const {
    double sum = 0;
    std::array<double, kTerms> parts{};
    for (std::size_t i = 0; i < kTerms; ++i) sum += parts[i] = sample.terms.seconds[i] * usual_[i] * std::exp(at[i]);
    if (share != nullptr)
      for (std::size_t i = 0; i < kTerms; ++i) (*share)[i] = parts[i] / sum;
    const double trained = sample.terms.training ? at.back() : 0;
    return std::log(sample.seconds / sum) - at[kTerms] - at[devices_.at(sample.device)] - trained;
  }

  [[nodiscard]] double loss(const std::vector<double>& at) const {
    double sum = 0;
    for (const ModelSample& sample : samples_) {
      const double r = residual(sample, at, nullptr);
      sum += kTypical * (std::hypot(kTypical, r) - kTypical);
    }
    for (std::size_t i = 0; i < columns_; ++i) sum += draw_of(i) / 2 * at[i] * at[i];
    return sum;
  }

  [[nodiscard]] static double draw_of(std::size_t column) {
    if (column == kTerms) return 0;  // the common factor is free
    return column < kTerms && is_close(column) ? kCloseDraw : kDraw;
  }

  // The common factor alone.
  void start() {
    std::vector<double> residuals;
    for (const ModelSample& sample : samples_) residuals.push_back(residual(sample, parameters_, nullptr));
    std::sort(residuals.begin(), residuals.end());
    parameters_[kTerms] = stats::quantile_of_sorted(residuals, 0.5);
  }

  [[nodiscard]] core::Result<std::vector<double>> gauss_newton() const {
    stats::Design design;
    design.columns = columns_;
    std::vector<double> targets, weights;
    for (const ModelSample& sample : samples_) {
      std::array<double, kTerms> share{};
      const double r = residual(sample, parameters_, &share);
      std::vector<double> row(columns_, 0);
      std::copy(share.begin(), share.end(), row.begin());
      row[kTerms] = row[devices_.at(sample.device)] = 1;
      if (sample.terms.training) row.back() = 1;
      double target = r;
      for (std::size_t i = 0; i < columns_; ++i) target += row[i] * parameters_[i];
      design.values.insert(design.values.end(), row.begin(), row.end());
      targets.push_back(target);
      weights.push_back(kTypical / std::hypot(kTypical, r));
    }
    for (std::size_t i = 0; i < columns_; ++i) {
      std::vector<double> row(columns_, 0);
      row[i] = 1;
      design.values.insert(design.values.end(), row.begin(), row.end());
      targets.push_back(i == kTerms ? parameters_[i] : 0);
      weights.push_back(std::max(draw_of(i), kDraw * 1e-6));
    }
    AACO_ASSIGN(const stats::LinearFit fit, stats::least_squares(design, targets, weights));
    return fit.coefficients;
  }

  // Towards `next` as far as it helps; false where it does not any more.
  bool advance(const std::vector<double>& next) {
    const double before = loss(parameters_);
    for (double part = 1; part > 1e-3; part /= 2) {
      std::vector<double> tried = parameters_;
      for (std::size_t i = 0; i < columns_; ++i) tried[i] += part * (next[i] - parameters_[i]);
      const double after = loss(tried);
      if (!(after < before)) continue;
      parameters_ = std::move(tried);
      return before - after > 1e-12 * before;
    }
    return false;
  }

  std::span<const ModelSample> samples_;
  const std::array<double, kTerms>& usual_;
  std::map<std::string, std::size_t> devices_;
  std::size_t columns_ = 0;
  std::vector<double> parameters_;
};

// Of each row the logarithm of measured over estimate, by a fit without its model.
core::Result<std::vector<double>> unseen_residuals(std::span<const ModelSample> samples, const std::array<double, kTerms>& usual,
                                                   const std::set<std::string>& models) {
  std::vector<double> residuals(samples.size(), 0);
  for (const std::string& held : models) {
    std::vector<ModelSample> seen;
    for (const ModelSample& sample : samples)
      if (sample.model != held) seen.push_back(sample);
    AACO_ASSIGN(const ModelFit fit, Problem(seen, usual).solve());
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (samples[i].model == held)
        residuals[i] = std::log(samples[i].seconds / estimate_model(fit, samples[i].terms, samples[i].device).seconds);
  }
  return residuals;
}

// The half width that 90 % of unseen residuals keep, every model counting the same, one more than were seen.
double half_width(std::span<const ModelSample> samples, const std::vector<double>& residuals, std::size_t models) {
  std::map<std::string, double> rows;
  for (const ModelSample& sample : samples) ++rows[sample.model];
  std::vector<std::pair<double, double>> sizes;  // residual, weight
  for (std::size_t i = 0; i < samples.size(); ++i) sizes.emplace_back(std::abs(residuals[i]), 1 / rows[samples[i].model]);
  std::sort(sizes.begin(), sizes.end());
  const double wanted = kBoundLevel * static_cast<double>(models + 1);
  double sum = 0;
  for (const auto& [size, weight] : sizes)
    if ((sum += weight) >= wanted) return size;
  return sizes.back().first * kWiden;
}

core::Status check(std::span<const ModelSample> samples) {
  if (samples.empty()) return core::fail(core::ErrorCode::invalid_input, "no measured models to fit");
  for (const ModelSample& sample : samples)
    if (!(sample.seconds > 0) || !(sample.terms.roofline() > 0))
      return core::fail(core::ErrorCode::invalid_input, sample.model + " has no operations or no measured time");
  return {};
}

Quality quality_of(std::span<const ModelSample> samples, const std::vector<double>& residuals, std::size_t models) {
  std::vector<Judged> judged;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Judged one;
    one.site = samples[i].model;
    one.measured = samples[i].seconds;
    one.estimated = samples[i].seconds / std::exp(residuals[i]);
    judged.push_back(std::move(one));
  }
  const Scores scores = score(judged, {0, 1});
  return {static_cast<std::int64_t>(samples.size()),
          static_cast<std::int64_t>(models),
          scores.mean_ape->value,
          scores.median_ape->value,
          scores.p90_ape->value,
          scores.bias->value};
}

}  // namespace

std::array<double, kTerms> usual_coefficients(const DeviceFacts& device, bool eager) {
  // In the order of Term. AMD's from single FP32 kernels of an MI100: products at two thirds of the peak, onto vocabularies of 50
  // thousand at a quarter, elementwise steps at three quarters of the bandwidth. Of CPUs: 0.3 us a node, as ONNX Runtime takes,
  // and 10 us a kernel, as eager frameworks do.
  if (device.is_cpu) return {1.6, 1.6, 1.6, 1, 1.6, 0.5, 2, 1.3, eager ? 10.0 : 0.3, 15};
  if (device.vendor == "amd") return {1.5, 1.5, 3.5, 1, 1, 1, 2, 1.35, eager ? 5.0 : 2.0, 15};
  return {1.25, 1.25, 1.25, 1, 1, 1, 2, 1.3, eager ? 5.0 : 2.0, 15};
}

ModelFit untested_fit(const std::array<double, kTerms>& usual) {
  ModelFit fit;
  fit.coefficients = usual;
  fit.low = -kUntestedBound;
  fit.high = kUntestedBound;
  return fit;
}

core::Result<ModelFit> fit_models(std::span<const ModelSample> samples, const std::array<double, kTerms>& usual) {
  AACO_TRY(check(samples));
  AACO_ASSIGN(ModelFit fit, Problem(samples, usual).solve());
  std::set<std::string> models;
  for (const ModelSample& sample : samples) models.insert(sample.model);
  fit.low = -kUntestedBound;
  fit.high = kUntestedBound;
  fit.quality.rows = static_cast<std::int64_t>(samples.size());
  fit.quality.sites = static_cast<std::int64_t>(models.size());
  if (models.size() < 2) return fit;
  AACO_ASSIGN(const auto residuals, unseen_residuals(samples, usual, models));
  fit.high = half_width(samples, residuals, models.size());
  fit.low = -fit.high;
  fit.quality = quality_of(samples, residuals, models.size());
  return fit;
}

ModelEstimate estimate_model(const ModelFit& fit, const ModelTerms& terms, const std::string& device) {
  double seconds = 0;
  for (std::size_t i = 0; i < kTerms; ++i) seconds += fit.coefficients[i] * terms.seconds[i];
  if (const auto known = fit.devices.find(device); known != fit.devices.end()) seconds *= known->second;
  if (terms.training) seconds *= fit.training;
  return {seconds, seconds * std::exp(fit.low), seconds * std::exp(fit.high)};
}

}  // namespace aaco::estimation
