#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "stats/fits.h"

namespace aaco::stats {
namespace {

using core::ErrorCode;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

core::Status check(const Design& design, std::span<const double> targets, std::span<const double> weights) {
  if (design.columns == 0 || design.values.size() != design.rows() * design.columns || design.rows() != targets.size() ||
      (!weights.empty() && weights.size() != targets.size()))
    return core::fail(ErrorCode::invalid_argument,
                      "a fit requires one target (and one weight, if weights are given) per row, and columns of equal length");
  if (targets.size() < design.columns)
    return core::fail(
        ErrorCode::invalid_argument,
        std::to_string(targets.size()) + " rows are too few to fit " + std::to_string(design.columns) + " coefficients",
        "measure more points");
  const bool positive = std::all_of(weights.begin(), weights.end(), [](double weight) { return weight > 0; });
  if (!positive || !all_finite(design.values) || !all_finite(targets) || !all_finite(weights))
    return core::fail(ErrorCode::invalid_input, "a fit requires finite values and positive weights");
  return {};
}

// The problem with the roots of the weights multiplied in, and each column scaled to length 1, so that nanoseconds and
// gigabytes do not spoil the arithmetic.
struct Scaled {
  Matrix a;
  Vector b;
  Vector scale;  // true coefficient = fitted / scale
};

Scaled scaled(const Design& design, std::span<const double> targets, std::span<const double> weights) {
  const auto rows = static_cast<Eigen::Index>(design.rows()), columns = static_cast<Eigen::Index>(design.columns);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Scaled problem{Eigen::Map<const RowMajor>(design.values.data(), rows, columns), Eigen::Map<const Vector>(targets.data(), rows),
                 Vector::Ones(columns)};
  if (!weights.empty()) {
    const Vector roots = Eigen::Map<const Vector>(weights.data(), rows).cwiseSqrt();
    problem.a = roots.asDiagonal() * problem.a;
    problem.b = roots.cwiseProduct(problem.b);
  }
  for (Eigen::Index j = 0; j < columns; ++j) {
    const double length = problem.a.col(j).stableNorm();
    if (length > 0) problem.scale[j] = length;
    problem.a.col(j) /= problem.scale[j];
  }
  return problem;
}

// Residuals and what they say, of the unscaled coefficients in `fit`.
void add_quality(const Design& design, std::span<const double> targets, std::span<const double> weights, LinearFit& fit) {
  double residuals = 0, total = 0, weight_sum = 0, mean = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double weight = weights.empty() ? 1 : weights[i];
    weight_sum += weight;
    mean += weight * targets[i];
  }
  mean /= weight_sum;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double weight = weights.empty() ? 1 : weights[i];
    double predicted = 0;
    for (std::size_t j = 0; j < design.columns; ++j) predicted += design.values[i * design.columns + j] * fit.coefficients[j];
    residuals += weight * (targets[i] - predicted) * (targets[i] - predicted);
    total += weight * (targets[i] - mean) * (targets[i] - mean);
  }
  const std::size_t free = targets.size() - design.columns;
  fit.residual_deviation = std::sqrt(residuals / static_cast<double>(free > 0 ? free : targets.size()));
  if (total > 0) fit.explained_ratio = 1 - residuals / total;
}

std::vector<double> unscaled(const Vector& solution, const Vector& scale) {
  const Vector coefficients = solution.cwiseQuotient(scale);
  return {coefficients.data(), coefficients.data() + coefficients.size()};
}

// Least squares over the columns that are free.
Vector solve_free(const Scaled& problem, const std::vector<Eigen::Index>& free) {
  Matrix part(problem.a.rows(), static_cast<Eigen::Index>(free.size()));
  for (std::size_t k = 0; k < free.size(); ++k) part.col(static_cast<Eigen::Index>(k)) = problem.a.col(free[k]);
  const Vector solved = part.completeOrthogonalDecomposition().solve(problem.b);
  Vector full = Vector::Zero(problem.a.cols());
  for (std::size_t k = 0; k < free.size(); ++k) full[free[k]] = solved[static_cast<Eigen::Index>(k)];
  return full;
}

// Steps from `x` towards `wanted` until the first free coefficient reaches 0, and fixes those that did.
void step_back(Vector& x, const Vector& wanted, std::vector<Eigen::Index>& free) {
  double share = 1;
  for (const Eigen::Index j : free)
    if (wanted[j] <= 0) share = std::min(share, x[j] / (x[j] - wanted[j]));
  x += share * (wanted - x);
  std::erase_if(free, [&](Eigen::Index j) {
    const bool fixed = x[j] <= std::numeric_limits<double>::epsilon() * std::max(1.0, x.cwiseAbs().maxCoeff());
    if (fixed) x[j] = 0;
    return fixed;
  });
}

Vector lawson_hanson(const Scaled& problem) {
  Vector x = Vector::Zero(problem.a.cols());
  std::vector<Eigen::Index> free;
  const double tolerance = 1e-12 * problem.b.norm() * std::sqrt(static_cast<double>(problem.a.rows()));
  const Eigen::Index most_rounds = 10 * problem.a.cols() + 10;  // it ends sooner; rounding must not make it circle
  for (Eigen::Index round = 0; round < most_rounds; ++round) {
    const Vector gradient = problem.a.transpose() * (problem.b - problem.a * x);
    Eigen::Index best = -1;
    for (Eigen::Index j = 0; j < gradient.size(); ++j) {
      const bool fixed = std::find(free.begin(), free.end(), j) == free.end();
      if (fixed && gradient[j] > tolerance && (best < 0 || gradient[j] > gradient[best])) best = j;
    }
    if (best < 0) break;
    free.push_back(best);
    for (;;) {
      const Vector wanted = solve_free(problem, free);
      const bool inside = std::all_of(free.begin(), free.end(), [&](Eigen::Index j) { return wanted[j] > 0; });
      if (inside) {
        x = wanted;
        break;
      }
      step_back(x, wanted, free);
      if (free.empty()) break;
    }
  }
  return x;
}

}  // namespace

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

core::Result<LinearFit> least_squares(const Design& design, std::span<const double> targets, std::span<const double> weights) {
  AACO_TRY(check(design, targets, weights));
  const Scaled problem = scaled(design, targets, weights);
  Eigen::ColPivHouseholderQR<Matrix> qr(problem.a);
  constexpr double kDependent = 1e-10;  // a column this little apart from the others is one of them, but for rounding
  qr.setThreshold(kDependent);
  if (qr.rank() < problem.a.cols())
    return core::fail(ErrorCode::invalid_input,
                      "the columns of the fit are linearly dependent, so their coefficients are not unique",
                      "drop one of them, or measure points where they differ");
  LinearFit fit;
  fit.coefficients = unscaled(qr.solve(problem.b), problem.scale);
  add_quality(design, targets, weights, fit);
  if (targets.size() > design.columns) {
    const Matrix inverse = (problem.a.transpose() * problem.a).inverse();
    const Vector errors = fit.residual_deviation * inverse.diagonal().cwiseSqrt();
    fit.standard_errors = unscaled(errors, problem.scale);
  }
  return fit;
}

core::Result<LinearFit> non_negative_least_squares(const Design& design, std::span<const double> targets,
                                                   std::span<const double> weights) {
  AACO_TRY(check(design, targets, weights));
  const Scaled problem = scaled(design, targets, weights);
  LinearFit fit;
  fit.coefficients = unscaled(lawson_hanson(problem), problem.scale);
  add_quality(design, targets, weights, fit);
  return fit;
}

}  // namespace aaco::stats
