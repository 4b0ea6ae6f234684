#include "estimation/calibration/program_costs.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace aaco::estimation {
namespace {

constexpr double kUsualFactor = 1.3;  // over the specification, to start from
constexpr double kLinearBeyond = 0.3;
constexpr double kDraw = 1;  // towards the start, of squared logarithms

// Least squares of logarithms in the logarithms of the three coefficients, which stay positive so; far rows count linearly.
ProgramCost fit_cost(std::span<const ProgramRow> rows, std::size_t program, double floor_s) {
  const Eigen::Vector3d start(std::log(floor_s), std::log(kUsualFactor), std::log(kUsualFactor));
  Eigen::Vector3d at = start;
  for (int turn = 0; turn < 40; ++turn) {
    Eigen::Matrix3d matrix = Eigen::Matrix3d::Identity() * kDraw;
    Eigen::Vector3d gradient = kDraw * (start - at);
    const Eigen::Vector3d scale = at.array().exp();
    for (const ProgramRow& row : rows) {
      if (row.program != program) continue;
      const Eigen::Vector3d parts(scale[0], scale[1] * row.compute_s, scale[2] * row.memory_s);
      const double total = parts.sum(), residual = std::log(row.seconds / total);
      const double weight = std::min(1.0, kLinearBeyond / std::max(std::abs(residual), 1e-9));
      const Eigen::Vector3d share = parts / total;
      matrix += weight * share * share.transpose();
      gradient += weight * residual * share;
    }
    const Eigen::Vector3d step = matrix.ldlt().solve(gradient);
    const double most = step.cwiseAbs().maxCoeff();
    at += step * std::min(1.0, 0.5 / std::max(most, 1e-12));
    if (most < 1e-4) break;
  }
  return {std::exp(at[0]), std::exp(at[1]), std::exp(at[2])};
}

}  // namespace

std::vector<ProgramCost> fit_program_costs(std::span<const ProgramRow> rows, std::size_t programs, double floor_s) {
  std::vector<ProgramCost> result;
  for (std::size_t program = 0; program < programs; ++program) result.push_back(fit_cost(rows, program, floor_s));
  return result;
}

}  // namespace aaco::estimation
