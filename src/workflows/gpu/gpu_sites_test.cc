#include "workflows/gpu_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/support/measured_device.h"
#include "tests/support/shipped_device.h"
#include "tests/support/source_dir.h"
#include "workflows/calibration_registry.h"
#include "workflows/gpu_roofline.h"

namespace aaco::workflows {
namespace {

using analytics::roofline::RowSite;
using analytics::roofline::SiteGroup;
using core::Json;
using testing::HasSubstr;

class GpuSitesTest : public testing::Test {
 protected:
  GpuSitesTest() {
    services_.paths.share = AACO_SOURCE_DIR;
    services_.paths.registry = "/nonexistent";
  }
  // `calls` of a product of 4096^3 in bfloat16: 105 us each at MI300X's 1307.4 TFLOP/s.
  SiteGroup product(std::int64_t calls, double time_ns, std::int64_t kernels) {
    SiteGroup group;
    group.operator_name = names_.intern("aten::mm");
    group.work = {2.0 * 4096 * 4096 * 4096, 3.0 * 4096 * 4096 * 2, "bfloat16", analytics::fingerprint::Family::gemm};
    group.work.site = graph::GemmSite{1, 4096, 4096, 4096, false, 0};
    group.count = calls;
    group.kernels = kernels;
    group.time_ns = time_ns;
    return group;
  }
  SiteGroup rows(std::int64_t count, std::int64_t columns, double time_ns) {
    SiteGroup group;
    group.operator_name = names_.intern("aten::gelu");
    group.work = {5.0 * count * columns, 4.0 * count * columns, "bfloat16", analytics::fingerprint::Family::elementwise};
    group.work.site = RowSite{"gelu", count, columns};
    group.count = group.kernels = 1;
    group.time_ns = time_ns;
    return group;
  }
  GpuSites estimate(const std::vector<SiteGroup>& groups, const char* device = "AMD Instinct MI300X") {
    const hardware::DeviceRegistry::Seen seen{device, "", {}, {}};
    return estimate_sites(groups, names_, match_device(&seen, services_), services_);
  }
  static Json first(const GpuSites& sites) { return to_json(sites, sites.measured_ns)["nodes"].items()[0]; }

  trace::NameTable names_;
  Services services_;
};

TEST_F(GpuSitesTest, OperatorHasMeasuredAndAttainableTime) {
  const GpuSites sites = estimate({product(2, 420'500, 2), rows(8192, 16384, 210'000)});
  ASSERT_EQ(sites.sites.size(), 2U);
  const GpuSite& mm = sites.sites[0];
  EXPECT_EQ(mm.operator_name, "aten::mm");
  EXPECT_EQ(mm.shape, "4096x4096, k 4096");
  EXPECT_NEAR(mm.attainable_ns, 2 * 105'100, 500);
  EXPECT_EQ(mm.predicted.level, estimation::Level::theoretical);
  EXPECT_GT(mm.predicted.seconds * 2e9, mm.attainable_ns);
  EXPECT_NEAR(sites.sites[1].attainable_ns, 4.0 * 8192 * 16384 / 5300.0, 1000) << "537 MB at 5.3 TB/s";
  const Json json = to_json(sites, 1'000'000);
  EXPECT_NEAR(*json["explained_ratio"].as_f64(), 0.6305, 1e-9);
  EXPECT_EQ(*json["site_count"].as_i64(), 2);
}

TEST_F(GpuSitesTest, TheGapHasAReason) {
  const auto reason = [&](const SiteGroup& group) { return std::string(first(estimate({group}))["reason"].text()); };
  EXPECT_THAT(reason(product(1, 120'000, 1)), HasSubstr("close to the compute ceiling"));
  EXPECT_THAT(reason(product(1, 50'000, 1)), HasSubstr("faster than the data sheet"));
  EXPECT_THAT(reason(product(1, 400'000, 3)), HasSubstr("3.0 kernels per call"));
  EXPECT_THAT(reason(product(1, 4'000'000, 1)), HasSubstr("slower than predicted"));
  EXPECT_THAT(reason(rows(64, 64, 6'000)), HasSubstr("too small"));
}

TEST_F(GpuSitesTest, WithoutADeviceOrSitesThereIsAReason) {
  EXPECT_THAT(estimate({}).reason, HasSubstr("no shapes"));
  EXPECT_THAT(estimate({product(1, 1000, 1)}, "Acme 9000").reason, HasSubstr("Acme 9000"));
  EXPECT_THAT(estimate_sites({product(1, 1000, 1)}, names_, match_device(nullptr, services_), services_).reason,
              HasSubstr("does not name"));
  SiteGroup odd = product(1, 1000, 1);
  odd.work.dtype = "complex64";
  EXPECT_THAT(estimate({odd}).reason, HasSubstr("lists none"));
  EXPECT_FALSE(to_json(estimate({odd}), 1).contains("nodes"));
}

TEST_F(GpuSitesTest, ABoardOfTwoDiesIsOneOfThem) {
  const GpuSites sites = estimate({product(1, 2'000'000, 1)}, "AMD Instinct MI250X");
  EXPECT_EQ(sites.device_id, "amd_instinct_mi250x_128gb@one_die");
  EXPECT_NEAR(sites.attainable_ns, 2.0 * 4096 * 4096 * 4096 / 191.5e12 * 1e9, 10'000) << "half of the board's 383 TFLOP/s";
}

TEST_F(GpuSitesTest, ADamagedCalibrationIsSaid) {
  const auto folder = core::TemporaryDirectory::make("/tmp").value();
  services_.paths.registry = folder.path();
  const auto facts = estimation::facts_of(hardware::shipped_device("MI300X"));
  auto rows = estimation::measured(facts);
  for (auto& row : rows) row.power_watts.reset();  // so that the file ends with the section of their times
  AACO_CALIBRATED(calibration, estimation::calibrate(rows, facts, estimation::quick()));
  calibration.provenance = {"1.0", "2026-01-01T00:00:00Z", {}, {}};
  ASSERT_TRUE(save_calibration(services_.paths, calibration));
  EXPECT_EQ(estimate({product(1, 200'000, 1)}).sites.at(0).predicted.level, estimation::Level::calibrated);

  const std::string path = user_calibration_path(services_.paths, calibration.device);
  std::string bytes = core::read_file(path).value();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  ASSERT_TRUE(core::write_file_atomic(path, bytes));
  const GpuSites damaged = estimate({product(1, 200'000, 1)});
  EXPECT_TRUE(damaged.sites.empty());
  EXPECT_THAT(damaged.reason, HasSubstr(calibration.device));
}

TEST_F(GpuSitesTest, BothGradientsOfAConvolutionCount) {
  SiteGroup forward = product(1, 4'000'000, 1);
  forward.work.site = graph::ConvolutionSite{32, 256, 256, 1, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {}, false};
  forward.work.flops = 2.0 * 32 * 256 * 56 * 56 * 256 * 9;
  SiteGroup backward = forward;
  backward.work.gradient = true;
  backward.work.kernels = backward.kernels = 2;
  const GpuSites one = estimate({forward}), two = estimate({backward});
  ASSERT_EQ(two.sites.size(), 1U);
  EXPECT_NEAR(two.sites[0].predicted.seconds, 2 * one.sites[0].predicted.seconds, 1e-12);
  EXPECT_NEAR(two.sites[0].attainable_ns, 2 * one.sites[0].attainable_ns, 1);
  EXPECT_THAT(std::string(first(two)["reason"].text()), testing::Not(HasSubstr("kernels per call"))) << "each has its own";
}

TEST_F(GpuSitesTest, CrossAttentionRunsOnMatrixCores) {
  SiteGroup group = product(1, 1'000'000, 1);
  group.work.site = graph::AttentionSite{1, 16, 16, 4096, 77, 64, 64, false};
  group.work.flops = 4.0 * 16 * 4096 * 77 * 64;
  group.work.bytes = 2.0 * 16 * 64 * (2 * 4096 + 2 * 77);
  const GpuSites sites = estimate({group});
  ASSERT_EQ(sites.sites.size(), 1U);
  EXPECT_EQ(sites.sites[0].shape, "1 x 16 heads of 64, 4096 on 77");
  EXPECT_NEAR(sites.sites[0].predicted.explanation.compute_s * 1307.4e12 / group.work.flops, 1, 0.01)
      << "lanes take 8 times as long";
}

TEST_F(GpuSitesTest, TheReportSaysWhatShareItExplains) {
  report::ReportModel model;
  Json gpu = Json::object({{"sites", to_json(estimate({product(2, 420'500, 2)}), 841'000)}});
  Json gpus = Json::array();
  gpus.push(std::move(gpu));
  model.session.outcome = trace::outcome_from_json(Json::object({{"gpu", Json::object({{"gpus", std::move(gpus)}})}}));
  fill_sites(model);
  const auto& section = model.sections.attainable.value();
  EXPECT_THAT(section.note.value(), HasSubstr("50.0 % of the kernel time"));
  EXPECT_NEAR(section.unmatched_ns.value(), 420'500, 1);
  EXPECT_EQ(section.nodes.size(), 1U);
}

}  // namespace
}  // namespace aaco::workflows
