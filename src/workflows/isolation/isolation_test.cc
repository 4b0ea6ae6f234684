#include "workflows/isolation.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "tests/support/source_dir.h"

namespace aaco::workflows {
namespace {

class IsolationTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.emplace(std::move(*core::TemporaryDirectory::make(testing::TempDir(), "isolation")));
    services_.paths.share = AACO_SOURCE_DIR;
    services_.paths.cache = folder_->path();
  }
  std::optional<core::TemporaryDirectory> folder_;
  Services services_;
};

TEST_F(IsolationTest, NothingAskedForChangesNothing) {
  auto isolation = Isolation::enter({}, false, std::nullopt, services_);
  ASSERT_TRUE(isolation);
  EXPECT_TRUE(isolation->describe().is_null());
  EXPECT_TRUE(isolation->facts().empty());
  EXPECT_TRUE(isolation->leave());
  EXPECT_TRUE(to_json(IsolationRequest()).is_null());
}

TEST_F(IsolationTest, ALevelAndItsChanges) {
  const auto level = wanted_isolation({"light", {}}, services_);
  ASSERT_TRUE(level);
  EXPECT_EQ(level->settings.at("aslr"), "off");
  const auto changed = wanted_isolation({"light", {"nice=5", "aslr="}}, services_);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->settings.at("nice"), "5");
  EXPECT_FALSE(changed->settings.contains("aslr")) << "an empty value leaves it as it is";
}

TEST_F(IsolationTest, TheRequestIsKeptAsAskedFor) {
  const core::Json told = to_json(IsolationRequest{"", {"nice=5"}});
  EXPECT_TRUE(told["level"].is_null());
  EXPECT_EQ(told["changes"].items().at(0).text(), "nice=5");
}

TEST_F(IsolationTest, UnknownLevelsAndSwitchesAreRefusedBeforeAnythingChanges) {
  for (const IsolationRequest& request : {IsolationRequest{"strickt", {}}, IsolationRequest{"", {"nise=3"}},
                                          IsolationRequest{"", {"nice=300"}}, IsolationRequest{"light", {"nice"}}}) {
    EXPECT_FALSE(wanted_isolation(request, services_)) << request.level;
    EXPECT_FALSE(Isolation::enter(request, false, std::nullopt, services_)) << request.level;
  }
  EXPECT_TRUE(open_changes(services_)->empty());
}

TEST_F(IsolationTest, WithoutTheLevelsFileItFails) {
  services_.paths.share = folder_->path();
  EXPECT_FALSE(wanted_isolation({"light", {}}, services_));
}

}  // namespace
}  // namespace aaco::workflows
