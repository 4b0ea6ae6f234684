#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "estimation/mapping.h"
#include "tests/estimates/measured_rows.h"
#include "tests/support/shipped_device.h"

// Estimates from specifications alone, held against what others measured: how wide their interval must be.
namespace aaco::estimation {
namespace {

struct Tally {
  std::vector<double> ratios;  // estimate over measured
  std::size_t inside = 0;
  [[nodiscard]] double coverage() const { return static_cast<double>(inside) / static_cast<double>(ratios.size()); }
};

// By device and type.
std::map<std::string, Tally> tally(const std::vector<Row>& rows, Kernel (*kernel_of)(const Row&)) {
  std::map<std::string, hardware::Device> devices;
  std::map<std::string, Tally> tallies;
  for (const Row& row : rows) {
    const auto known = devices.find(row.at("device"));
    const hardware::Device& device =
        known != devices.end() ? known->second
                               : devices.emplace(row.at("device"), hardware::shipped_device(row.at("device"))).first->second;
    const auto seconds = core::parse_f64(row.at("latency_us"));
    const Kernel kernel = kernel_of(row);
    const auto work = work_of(kernel);
    if (!work || !seconds || !(*seconds > 0) || !std::isfinite(*seconds)) continue;
    const auto mapping = map_kernel(kernel, *work, device);
    if (!mapping) continue;
    const LatencyEstimate estimate = theoretical_estimate(*work, *mapping, device);
    Tally& one = tallies[device.id + " " + kernel.type];
    one.ratios.push_back(estimate.seconds / (*seconds * 1e-6));
    if (*seconds * 1e-6 >= estimate.lower && *seconds * 1e-6 <= estimate.upper) ++one.inside;
  }
  return tallies;
}

void check(const char* file, std::size_t step, Kernel (*kernel_of)(const Row&)) {
  if (!core::exists(data_file(file))) GTEST_SKIP() << "skipped, no real data";
  std::size_t inside = 0, all = 0;
  for (auto& [name, one] : tally(rows_of(data_file(file), step), kernel_of)) {
    std::sort(one.ratios.begin(), one.ratios.end());
    const double median = one.ratios[one.ratios.size() / 2];
    std::printf("%-48s %7zu rows, estimate over measured: median %.2f, p10 %.2f, p90 %.2f; inside %.0f %%\n", name.c_str(),
                one.ratios.size(), median, one.ratios[one.ratios.size() / 10], one.ratios[one.ratios.size() * 9 / 10],
                100 * one.coverage());
    inside += one.inside;
    all += one.ratios.size();
    // A variant ("fp8_block") is one library's kernel family, which may reach far less than its type: only in the interval's
    // count.
    if (one.ratios.size() < 100 || name.substr(name.find(' ')).find('_') != std::string::npos) continue;
    EXPECT_GT(median, 0.33) << name;
    EXPECT_LT(median, 3) << name;
  }
  ASSERT_GT(all, 0U);
  const double coverage = static_cast<double>(inside) / static_cast<double>(all);
  std::printf("all: %zu rows, inside the interval: %.1f %%\n", all, 100 * coverage);
  EXPECT_GT(coverage, 0.85);
}

TEST(TheoreticalEstimates, HoldForProductsOfMatrices) { check("gemm.csv.gz", 17, &gemm_of); }
TEST(TheoreticalEstimates, HoldForConvolutions) { check("conv2d.csv.gz", 7, &convolution_of); }

}  // namespace
}  // namespace aaco::estimation
