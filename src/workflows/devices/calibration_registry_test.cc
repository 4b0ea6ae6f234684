#include "workflows/calibration_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/support/made_session.h"
#include "tests/support/shipped_device.h"

namespace aaco::workflows {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kH100 = "nvidia_h100_sxm5_80gb";
constexpr const char* kMi100 = "amd_instinct_mi100_32gb";

// What came with the program is in a folder of its own.
class Registry : public testing::Test {
 protected:
  Registry() {
    lake_.services.paths.calibrations = lake_.in("shipped");
    EXPECT_TRUE(core::make_directories(lake_.in("shipped")));
    EXPECT_TRUE(core::make_directories(lake_.in("registry/calibration")));
  }
  static estimation::DeviceCalibration fit(const std::string& device, const char* type, double flops_per_s, bool shipped) {
    estimation::LatencyModel model;
    model.kind = "other";
    model.type = type;
    model.ceilings.flops_per_s = flops_per_s;
    model.trees = {stats::BoostedTrees::of(4, {0.5}, {}, {}).value()};
    model.bounds.low = -0.1;
    model.bounds.high = 0.1;
    model.quality = {10, 5, 0.1, 0.1, 0.2, 0};
    estimation::DeviceCalibration made;
    made.device = device;
    made.compact = shipped;
    made.provenance = {"1.0", "2026-01-01T00:00:00Z", {"table.csv"}, {"me"}, {}};
    if (shipped) made.provenance.licences = {"MIT: acme"};
    made.latency = {model};
    return made;
  }
  void ship(const estimation::DeviceCalibration& made) const { write(lake_.in("shipped"), made.device, to_bytes(made)); }
  void own(const estimation::DeviceCalibration& made) const {
    write(lake_.in("registry/calibration"), made.device, to_bytes(made));
  }
  static void write(const std::string& folder, const std::string& device, const std::string& bytes) {
    ASSERT_TRUE(core::write_file_atomic(core::join_path(folder, device + ".calibration"), bytes));
  }
  [[nodiscard]] core::Result<estimation::CalibrationSet> loaded(const char* device = "h100") const {
    return load_calibrations_for(lake_.services.paths, hardware::shipped_device(device));
  }
  static double rate(const estimation::CalibrationSet& set, const char* type, const char* device = kH100) {
    const auto found = set.find(device, {estimation::OtherShape{"x", 1e9, 1e6}, type});
    return found && found->model->type == type ? found->model->ceilings.flops_per_s : 0;
  }
  Lake lake_;
};

TEST_F(Registry, ShippedFitsAreFound) {
  ship(fit(kH100, "bf16", 1e14, true));
  const auto set = loaded();
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(rate(*set, "bf16"), 1e14);
}

TEST_F(Registry, OnesOwnWinClassByClass) {
  ship(fit(kH100, "bf16", 1e14, true));
  own(fit(kH100, "fp32", 2e13, false));
  EXPECT_EQ(rate(*loaded(), "bf16"), 1e14) << "a part of one's own hides nothing";
  EXPECT_EQ(rate(*loaded(), "fp32"), 2e13);
  own(fit(kH100, "bf16", 3e14, false));
  EXPECT_EQ(rate(*loaded(), "bf16"), 3e14);
}

TEST_F(Registry, OnesOwnCalibrationDoesNotHideRelatives) {
  own(fit(kH100, "fp32", 2e13, false));
  ship(fit(kMi100, "bf16", 1e14, true));
  EXPECT_TRUE(loaded()->entries().contains(kMi100));
}

TEST_F(Registry, BothFilesAreListed) {
  ship(fit(kH100, "bf16", 1e14, true));
  own(fit(kH100, "fp32", 2e13, false));
  const auto entries = list_calibrations(lake_.services.paths).value();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_TRUE(entries[0].own);
  EXPECT_FALSE(entries[1].own);
}

TEST_F(Registry, DamagedShippedFileIsAnError) {
  std::string bytes = to_bytes(fit(kH100, "bf16", 1e14, true));
  bytes[60] = static_cast<char>(bytes[60] ^ 1);
  write(lake_.in("shipped"), kH100, bytes);
  const auto set = loaded();
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().text(), HasSubstr(kH100));
  EXPECT_FALSE(loaded("a100")) << "it would have lent";
  own(fit("nvidia_a100_sxm4_80gb", "bf16", 1e14, false));
  EXPECT_TRUE(loaded("a100")) << "a device with a calibration goes without what others lend";
}

TEST_F(Registry, FolderThatDoesNotExistShipsNothing) {
  lake_.services.paths.calibrations = lake_.in("nowhere");
  EXPECT_THAT(loaded()->entries(), IsEmpty());
}

TEST(ShippedCalibrations, EveryFileIsWholeAndHasItsLicences) {
  Lake lake;
  lake.services.paths.calibrations = core::join_path(AACO_SOURCE_DIR, "data/calibration");
  const auto entries = list_calibrations(lake.services.paths);
  ASSERT_TRUE(entries) << entries.error().text();
  EXPECT_THAT(*entries, Not(IsEmpty()));
  for (const CalibrationEntry& entry : *entries) {
    ASSERT_TRUE(entry.file) << entry.path << ": " << entry.file.error().text();
    EXPECT_LE(entry.bytes, 300'000) << entry.path;
    const auto whole = entry.file->whole();
    ASSERT_TRUE(whole) << whole.error().text();
    EXPECT_TRUE(whole->compact) << entry.path;
    EXPECT_THAT(whole->provenance.licences, Not(IsEmpty())) << entry.path;
    for (const auto& model : whole->latency) EXPECT_GT(model.bounds.elsewhere, 0) << entry.path << " " << model.kind;
  }
}

}  // namespace
}  // namespace aaco::workflows
