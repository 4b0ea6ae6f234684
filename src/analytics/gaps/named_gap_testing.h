#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "analytics/gaps.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::gaps {

// A gap from 1 to 11 ms; times of calls in ms.
class NamedGapTest : public testing::Test {
 public:
  void SetUp() override {
    auto loaded = CauseBook::load(AACO_SOURCE_DIR "/data/gaps/causes.yaml");
    ASSERT_TRUE(loaded) << loaded.error().text();
    book_ = std::move(*loaded);
    explainer_.emplace(names_, &book_);
    gap_ = {0, 0, ns(1), ns(11), names_.intern("before"), names_.intern("after"), std::nullopt};
    explainer_->still_idle({{0, ns(1)}});
  }
  static std::int64_t ns(double ms) { return static_cast<std::int64_t>(ms * 1e6); }
  NamedGapTest& launch(double start_ms, double end_ms, const char* api = "hipLaunchKernel") {
    gap_.launch = NextLaunch{ns(start_ms), ns(end_ms), 1, names_.intern(api), false, false, false};
    return *this;
  }
  NamedGapTest& call(const char* domain, const char* name, double start_ms, double end_ms, std::int64_t thread = 1) {
    trace::ApiCallRow row;
    row.domain = names_.intern(domain);
    row.name = names_.intern(name);
    row.thread_id = thread;
    row.start_ns = ns(start_ms);
    row.end_ns = ns(end_ms);
    explainer_->add_call(row);
    return *this;
  }
  std::string cause() {
    explained_ = explainer_->explain(gap_);
    std::int64_t sum = 0;
    for (const HostShare& share : explained_.host) sum += share.time_ns;
    EXPECT_EQ(sum, gap_.end_ns - gap_.start_ns) << "the shares are the whole gap";
    return std::string(names_.text(explained_.row.host_cause));
  }
  // Of a gap with a launch of 9.8 ms, during which another thread was in a call.
  std::string cause_behind(const char* name, double start_ms, double end_ms) {
    return launch(1.1, 10.9).call("hip", name, start_ms, end_ms, 2).cause();
  }
  [[nodiscard]] std::string evidence() const { return std::string(names_.text(explained_.row.evidence)); }

  trace::NameTable names_;
  CauseBook book_;
  std::optional<GapExplainer> explainer_;
  Gap gap_;
  Explained explained_;
};

}  // namespace aaco::analytics::gaps
