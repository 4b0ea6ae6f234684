#include "estimation/calibration_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/checksum.h"
#include "estimation/latency/features.h"
#include "estimation/latency/probe.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;

constexpr std::size_t kFirstLine = 40;

stats::BoostedTrees stump(std::size_t columns, float threshold) {
  return stats::BoostedTrees::of(columns, {0.5}, {{0, threshold, 2, true}, {-1, 0.1F, 0, false}, {-1, 0.2F, 0, false}}, {0})
      .value();
}

// Kernels of no kind have four features.
LatencyModel model(const char* type) {
  LatencyModel made;
  made.kind = "other";
  made.type = type;
  made.trees = {stump(4, 1), stump(4, 2)};
  made.bounds = {stump(4, 3), -0.1, 0.1, false};
  made.quality = {10, 2, 0.1, 0.1, 0.2, 0};
  return made;
}

DeviceCalibration small() {
  DeviceCalibration made;
  made.device = "acme_one";
  made.provenance = {"1.0", "2026-01-01T00:00:00Z", {"table.csv sha256:0"}, {"me"}};
  made.latency = {model("bf16"), model("fp32")};
  return made;
}

core::Result<CalibrationFile> open(std::string bytes) {
  return CalibrationFile::open(core::PositionalBytes::of(std::move(bytes), "acme_one.calibration"));
}

std::size_t head_bytes(const std::string& bytes) { return std::stoul(bytes.substr(19, 11)); }

// With another head, whose checksum fits.
std::string with_head(const std::string& bytes, const core::Json& head) {
  const std::string text = head.dump(-1), data = bytes.substr(kFirstLine + head_bytes(bytes));
  char line[kFirstLine + 1];
  std::snprintf(line, sizeof line, "aaco-calibration 2 %011zu %08x\n", text.size(), core::crc32c(text));
  return line + text + data;
}

core::Json head_of(const std::string& bytes) {
  return core::Json::parse(std::string_view(bytes).substr(kFirstLine, head_bytes(bytes))).value();
}

// The file with its first class changed, and what is told of its section.
std::string with_class(const std::function<void(core::Json& model, core::Json& section)>& change) {
  const std::string good = to_bytes(small());
  core::Json head = head_of(good), latency = head["latency"];
  core::Json& first = latency.mutable_items()[0];
  core::Json section = first["learnt"];
  change(first, section);
  first.set("learnt", section);
  return with_head(good, head.set("latency", latency));
}

std::string with_section(std::string_view member, const core::Json& value) {
  return with_class([&](core::Json&, core::Json& section) { section.set(member, value); });
}

std::string with_part(std::string_view member, const core::Json& value) {
  return with_class([&](core::Json&, core::Json& section) {
    core::Json members = section["members"];
    members.mutable_items()[0].set(member, value);
    section.set("members", members);
  });
}

// The file with its data changed, and checksums that fit.
std::string with_data(const std::function<void(std::string& data)>& change) {
  const std::string good = to_bytes(small());
  const std::size_t data_at = kFirstLine + head_bytes(good);
  std::string data = good.substr(data_at);
  change(data);
  core::Json head = head_of(good), latency = head["latency"];
  for (core::Json& item : latency.mutable_items()) {
    core::Json section = item["learnt"];
    char sum[16];
    std::snprintf(sum, sizeof sum, "%08x",
                  core::crc32c(std::string_view(data).substr(*section["offset"].as_u64(), *section["bytes"].as_u64())));
    item.set("learnt", section.set("crc32c", sum));
  }
  return with_head(good.substr(0, data_at) + data, head.set("latency", latency));
}

ErrorCode opened(std::string bytes) {
  const auto file = open(std::move(bytes));
  if (file) return ErrorCode::cancelled;
  EXPECT_NE(file.error().text().find("aaco calibrate"), std::string::npos) << file.error().text();
  return file.error().code;
}

TEST(CalibrationFile, TheHeadIsText) {
  const std::string bytes = to_bytes(small());
  EXPECT_TRUE(bytes.starts_with("aaco-calibration 2 "));
  EXPECT_EQ(bytes[kFirstLine - 1], '\n');
  EXPECT_EQ((kFirstLine + head_bytes(bytes)) % 8, 0U);
  EXPECT_EQ(head_of(bytes)["latency"].items()[1]["type"].text(), "fp32");
  EXPECT_EQ(head_of(bytes)["data_bytes"].as_i64(), 2 * 3 * 3 * 8);
}

TEST(CalibrationFile, ReadsWhatItWrote) {
  const auto file = open(to_bytes(small()));
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->head().provenance, small().provenance);
  EXPECT_TRUE(file->head().latency[0].trees.empty()) << "not before somebody asks";
  EXPECT_EQ(**file->latency(1), small().latency[1]);
  EXPECT_EQ(file->whole()->latency, small().latency);
  const auto sections = file->sections();
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[1].name, "other fp32");
  EXPECT_EQ(sections[1].bytes, 72U);
  EXPECT_EQ(sections[1].members, 2U);
}

TEST(CalibrationFile, ThreadsReadASectionOnce) {
  const auto file = open(to_bytes(small())).value();
  std::vector<const LatencyModel*> seen(4);
  std::vector<std::thread> threads;
  for (auto& one : seen) threads.emplace_back([&one, &file] { one = *file.latency(0); });
  for (auto& thread : threads) thread.join();
  for (const auto* one : seen) EXPECT_EQ(one, seen.front());
}

TEST(CalibrationFile, EveryTruncationIsDetected) {
  const std::string good = to_bytes(small());
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(opened(good.substr(0, size)), ErrorCode::invalid_input) << size;
  EXPECT_EQ(opened(good + "x"), ErrorCode::invalid_input);
}

TEST(CalibrationFile, EveryFlippedBitIsDetected) {
  const std::string good = to_bytes(small());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    const auto file = open(bad);
    if (!file) continue;
    const auto whole = file->whole();
    ASSERT_FALSE(whole) << at;
    EXPECT_EQ(whole.error().code, ErrorCode::invalid_input);
    EXPECT_NE(whole.error().text().find("acme_one.calibration"), std::string::npos);
    EXPECT_NE(whole.error().text().find("aaco calibrate"), std::string::npos);
  }
}

DeviceCalibration small_compact() {
  DeviceCalibration made = small();
  made.compact = true;
  made.provenance.licences = {"MIT: acme/rows 1234"};
  for (LatencyModel& model : made.latency) {
    model.bounds.elsewhere = 0.2;
    model.classes = {{"x " + model.type, 10}};
  }
  return made;
}

TEST(CompactCalibrationFile, ReadsWhatItWrote) {
  const std::string bytes = to_bytes(small_compact());
  const auto file = open(bytes);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->head().provenance, small_compact().provenance);
  EXPECT_EQ(file->head().latency[0].bounds.elsewhere, 0.2);
  EXPECT_EQ(file->head().latency[0].classes, small_compact().latency[0].classes);
  EXPECT_TRUE(file->head().compact);
  const auto whole = file->whole();
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_NEAR(whole->latency[0].trees[0].predict(std::vector<float>{0, 0, 0, 0}), 0.6, 0.001);
  EXPECT_EQ(to_bytes(*whole), bytes) << "rounded once";
  EXPECT_FALSE(open(to_bytes(small()))->head().compact);
}

TEST(CompactCalibrationFile, EveryTruncationAndFlippedBitIsDetected) {
  const std::string good = to_bytes(small_compact());
  for (std::size_t at = 0; at < good.size(); ++at) {
    EXPECT_EQ(opened(good.substr(0, at)), ErrorCode::invalid_input) << at;
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    const auto file = open(bad);
    EXPECT_FALSE(file && file->whole()) << at;
  }
}

TEST(CompactCalibrationFile, RefusesDamageUnderFittingChecksums) {
  EXPECT_EQ(opened(with_part("form", "compact_trees")), ErrorCode::cancelled) << "found when the section is read";
  const auto file = open(with_part("form", "compact_trees"));
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->latency(0));
  const auto with_head_member = [](const std::function<void(core::Json&)>& change) {
    const std::string bytes = to_bytes(small_compact());
    core::Json head = head_of(bytes), latency = head["latency"];
    change(latency.mutable_items()[0]);
    return opened(with_head(bytes, head.set("latency", latency)));
  };
  EXPECT_EQ(with_head_member([](core::Json& model) {
              core::Json bounds = model["bounds"];
              model.set("bounds", bounds.set("elsewhere", -1));
            }),
            ErrorCode::invalid_input);
  EXPECT_EQ(with_head_member([](core::Json& model) {
              core::Json bounds = model["bounds"];
              model.set("bounds", bounds.set("elsewhere", 99));
            }),
            ErrorCode::invalid_input);
  EXPECT_EQ(with_head_member([](core::Json& model) {
              model.set("classes", core::Json::object({{"x bf16", -1}}));
            }),
            ErrorCode::invalid_input);
}

TEST(CalibrationSet, ASecondFileCountsForWhatTheFirstLacks) {
  DeviceCalibration own = small(), shipped = small_compact();
  own.latency.erase(own.latency.begin());  // fp32 alone
  own.latency[0].quality.sites = shipped.latency[0].quality.sites = shipped.latency[1].quality.sites = 5;
  shipped.energy["other bf16"] = {10, 0, 0, {stump(energy_feature_count(), 1)}, {}, {}};
  CalibrationSet set;
  set.add_behind(open(to_bytes(own)).value(), {});
  set.add_behind(open(to_bytes(shipped)).value(), {});
  const auto found = [&](const char* type) { return set.find("acme_one", {OtherShape{"x", 1, 1}, type})->model; };
  EXPECT_EQ(found("fp32")->bounds.elsewhere, 0) << "the first one's own";
  EXPECT_EQ(found("bf16")->bounds.elsewhere, 0.2);
  const auto& entry = set.entries().at("acme_one");
  EXPECT_EQ((*entry.with_trees(*found("fp32")))->trees.size(), 2U);
  EXPECT_EQ((*entry.with_trees(*found("bf16")))->bounds.elsewhere, 0.2);
  EXPECT_TRUE(entry.with_trees("other bf16"));
}

TEST(CalibrationFile, DamagedSectionAffectsOnlyItsClass) {
  std::string bytes = to_bytes(small());
  bytes.back() = '!';
  const auto file = open(bytes).value();
  EXPECT_TRUE(file.latency(0));
  EXPECT_TRUE(file.status());
  EXPECT_FALSE(file.latency(1));
  EXPECT_FALSE(file.status());
  CalibrationSet set;
  set.add(open(bytes).value(), {});
  EXPECT_TRUE(set.status());
  const auto& entry = set.entries().at("acme_one");
  EXPECT_TRUE(entry.with_trees(entry.calibration.latency[0]));
  EXPECT_FALSE(entry.with_trees(entry.calibration.latency[1]));
  EXPECT_FALSE(set.status());
}

TEST(CalibrationFile, CalibrationOfDifferentRelease) {
  const std::string good = to_bytes(small());
  EXPECT_EQ(opened("{\n \"schema_version\": 1,"), ErrorCode::unsupported);
  EXPECT_EQ(opened("aaco-calibration 3 " + good.substr(19)), ErrorCode::unsupported);
  EXPECT_EQ(opened(with_part("form", "table")), ErrorCode::unsupported);
  EXPECT_EQ(opened(with_part("columns", 5)), ErrorCode::invalid_input) << "of other features than this release has";
}

TEST(CalibrationFile, FittedWithUnsupportedFeatures) {
  const auto with_probe = [](const std::function<void(core::Json::Array&)>& change) {
    return opened(with_class([&](core::Json&, core::Json& section) {
      core::Json probe = section["probe"];
      change(probe.mutable_items());
      section.set("probe", probe);
    }));
  };
  EXPECT_EQ(with_probe([](auto& row) { row[0] = *row[0].as_f64() * (1 + 1e-7); }), ErrorCode::cancelled)
      << "another library's digits";
  EXPECT_EQ(with_probe([](auto& row) { row[0] = *row[0].as_f64() * 1.001; }), ErrorCode::invalid_input);
  EXPECT_EQ(with_probe([](auto& row) { row[0] = nullptr; }), ErrorCode::invalid_input);
  EXPECT_EQ(with_probe([](auto& row) { row.pop_back(); }), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_section("probe", nullptr)), ErrorCode::invalid_input);
}

TEST(Probe, EveryKindHasOne) {
  for (const char* kind : {"gemm", "convolution", "attention", "decode attention", "vector", "other", "latent attention",
                           "decode latent attention", "experts", "collective"}) {
    const auto probe = probe_of(kind, "bf16");
    EXPECT_EQ(probe.size() % (feature_count(kind) + 1), 0U) << kind;
    EXPECT_FALSE(probe.empty());
    EXPECT_TRUE(same_probe(probe, probe_of(kind, "bf16")));
  }
  EXPECT_FALSE(same_probe(probe_of("gemm", "bf16"), probe_of("convolution", "bf16")));
  EXPECT_TRUE(same_probe(energy_probe(), energy_probe()));
  EXPECT_TRUE(same_probe(probe_of("gemm", "fp8_block"), probe_of("gemm", "bf16")));
  EXPECT_FALSE(same_probe(probe_of("gemm", "int8_wo"), probe_of("gemm", "bf16"))) << "narrow weights are moved faster";
}

TEST(CalibrationFile, RejectsInvalidFiles) {
  const std::string good = to_bytes(small());
  EXPECT_EQ(opened(""), ErrorCode::invalid_input);
  EXPECT_EQ(opened(std::string(100, '\0')), ErrorCode::invalid_input);
  EXPECT_EQ(opened("aaco-calibration 2 99999999999 00000000\n" + good), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_head(good, core::Json::array())), ErrorCode::invalid_input);
}

TEST(CalibrationFile, RefusesAWrongHead) {
  const std::string good = to_bytes(small());
  const auto with = [&](std::string_view member, const core::Json& value) {
    return opened(with_head(good, head_of(good).set(member, value)));
  };
  EXPECT_EQ(with("note", "a member that nobody knows"), ErrorCode::cancelled);
  EXPECT_EQ(with("data_bytes", nullptr), ErrorCode::invalid_input);
  EXPECT_EQ(with("device", 3), ErrorCode::invalid_input);
  EXPECT_EQ(with("provenance", core::Json::array()), ErrorCode::invalid_input);
  EXPECT_EQ(with("latency", core::Json::array()), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_class([](core::Json& model, core::Json&) { model.set("kind", "gemm"); })), ErrorCode::invalid_input)
      << "whose features are more than four";
  EXPECT_EQ(opened(with_class([](core::Json& model, core::Json&) {
              core::Json bounds = model["bounds"];
              model.set("bounds", bounds.set("below_ceilings", "yes"));
            })),
            ErrorCode::invalid_input);
}

TEST(CalibrationFile, RejectsMisplacedSections) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_EQ(opened(with_section("offset", 0)), ErrorCode::cancelled) << "as it was";
  EXPECT_EQ(opened(with_section("offset", 1000)), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_section("offset", kHuge)), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_section("offset", -8)), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_section("bytes", 80)), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_section("crc32c", "no sum")), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_section("members", core::Json::array())), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_part("bytes", kHuge)), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_part("bytes", 16)), ErrorCode::invalid_input);
  EXPECT_EQ(opened(with_part("bases", core::Json::array({"0"}))), ErrorCode::invalid_input);
}

TEST(CalibrationFile, RefusesWrongTrees) {
  const auto learnt = [](const std::string& bytes) {
    const auto model = open(bytes).value().latency(0);
    return model ? ErrorCode::cancelled : model.error().code;
  };
  constexpr std::size_t kRight = 6;
  EXPECT_EQ(learnt(with_data([](std::string&) {})), ErrorCode::cancelled) << "as it was";
  EXPECT_EQ(learnt(with_data([](std::string& data) { data[kRight] = 0; })), ErrorCode::invalid_input) << "a circle";
  EXPECT_EQ(learnt(with_data([](std::string& data) { data[2] = data[3] = '\xff'; })), ErrorCode::invalid_input) << "not a number";
  EXPECT_EQ(learnt(with_part("trees", 9)), ErrorCode::invalid_input);
  EXPECT_EQ(learnt(with_part("bases", core::Json::array())), ErrorCode::invalid_input);
}

}  // namespace
}  // namespace aaco::estimation
