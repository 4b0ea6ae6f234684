#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/files.h"
#include "tracelake/bundle.h"

namespace aaco::tracelake {

// Sessions in a root of one's own, for tests.
class SessionTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kCreatedNs = 1'795'248'930'000'000'000;  // 2026-11-21T08:15:30Z
  static constexpr const char* kId = "20261121T081530Z-3f9a1c";

  static trace::SessionManifest manifest(const std::string& id = kId, const std::string& tag = "",
                                         std::int64_t created_ns = kCreatedNs) {
    trace::SessionManifest out;
    out.id.text = id;
    out.kind = "run";
    out.tag = tag;
    out.created_realtime_ns = created_ns;
    return out;
  }
  [[nodiscard]] std::unique_ptr<BundleWriter> create(const trace::SessionManifest& of) const {
    auto writer = BundleWriter::create(root, of);
    EXPECT_TRUE(writer) << writer.error().text();
    return writer ? std::move(*writer) : nullptr;
  }
  static std::string close(BundleWriter& writer, const trace::SessionManifest& of) {
    auto path = writer.close(of);
    EXPECT_TRUE(path) << path.error().text();
    return path.value_or("");
  }
  static trace::IterationRow iteration(std::int64_t number, trace::NameId phase = {}) {
    trace::IterationRow row;
    row.iteration = number;
    row.phase = phase;
    row.start_ns = number * 1000;
    row.duration_ns = 900 + number;
    return row;
  }
  // A whole session with `rows` iterations and one document.
  [[nodiscard]] std::string make(const trace::SessionManifest& of, int rows = 10) const {
    auto writer = create(of);
    const trace::NameId phase = writer->sink().name("measure");
    for (int i = 0; i < rows; ++i) writer->sink().add(iteration(i, phase));
    EXPECT_TRUE(writer->write_json("env.json", core::Json::object({{"host", "test"}})));
    return close(*writer, of);
  }
  [[nodiscard]] const std::string& folder() const { return directory_.path(); }

 private:
  core::TemporaryDirectory directory_ = *core::TemporaryDirectory::make(::testing::TempDir(), "aaco-tracelake");

 protected:
  std::string root = core::join_path(directory_.path(), "sessions");
};

}  // namespace aaco::tracelake
