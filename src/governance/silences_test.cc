#include "governance/silences.h"

#include <gtest/gtest.h>

#include "core/time_text.h"

namespace aaco::governance {
namespace {

constexpr std::int64_t kHourNs = std::int64_t{3600} * 1'000'000'000;
const std::int64_t kNoon = *core::parse_time_text("2026-01-01T12:00");

std::vector<Silence> parsed(const std::string& list) { return *parse_silences("schema_version: 1\n" + list, "s.yaml"); }
std::string refused(const std::string& text) {
  const auto result = parse_silences(text, "s.yaml");
  return result ? "" : result.error().text();
}
bool mutes(const std::string& entry, std::string_view node, std::string_view kind, std::int64_t since, std::int64_t until,
           std::int32_t device = -1, std::string_view job = "") {
  return find_silence(parsed(entry), {node, kind, job, device, since, until}) != nullptr;
}

TEST(Silences, NodeKindAndDeviceMustMatch) {
  const std::string entry = "silences:\n  - {node: n1, kind: thermal, device: 2, reason: fan ordered}\n";
  EXPECT_TRUE(mutes(entry, "n1", "thermal", kNoon, kNoon + kHourNs, 2));
  EXPECT_FALSE(mutes(entry, "n2", "thermal", kNoon, kNoon + kHourNs, 2));
  EXPECT_FALSE(mutes(entry, "n1", "slow_gpu", kNoon, kNoon + kHourNs, 2));
  EXPECT_FALSE(mutes(entry, "n1", "thermal", kNoon, kNoon + kHourNs, 3));
}
TEST(Silences, PrefixesMatch) {
  EXPECT_TRUE(mutes("silences:\n  - {node: rack1-*, reason: r}\n", "rack1-07", "thermal", kNoon, kNoon));
  EXPECT_FALSE(mutes("silences:\n  - {node: rack1-*, reason: r}\n", "rack2-07", "thermal", kNoon, kNoon));
  EXPECT_FALSE(mutes("silences:\n  - {job: train-*, reason: r}\n", "n", "thermal", kNoon, kNoon, -1, "serve"));
}
TEST(Silences, SilenceEnds) {
  const std::string entry = "silences:\n  - {until: 2026-01-01T12:00, reason: r}\n";
  EXPECT_TRUE(mutes(entry, "n", "thermal", kNoon - 2 * kHourNs, kNoon - kHourNs));
  EXPECT_FALSE(mutes(entry, "n", "thermal", kNoon - 2 * kHourNs, kNoon + kHourNs));
}
TEST(Silences, MaintenanceMutesWhatIsInside) {
  const std::string entry = "maintenance:\n  - {node: n, since: 2026-01-01T12:00, until: 2026-01-01T14:00, reason: firmware}\n";
  EXPECT_TRUE(mutes(entry, "n", "missing_rows", kNoon, kNoon + 2 * kHourNs));
  EXPECT_TRUE(mutes(entry, "n", "missing_rows", kNoon - kHourNs / 2, kNoon + 2 * kHourNs));
  EXPECT_FALSE(mutes(entry, "n", "missing_rows", kNoon - 2 * kHourNs, kNoon + 2 * kHourNs));
  EXPECT_FALSE(mutes(entry, "n", "missing_rows", kNoon, kNoon + 4 * kHourNs));
}
TEST(Silences, EmptyFileHasNone) { EXPECT_TRUE(parse_silences("", "s.yaml")->empty()); }
TEST(Silences, InvalidFilesAreRefused) {
  EXPECT_NE(refused("silences: []\n"), "");
  EXPECT_NE(refused("schema_version: 2\n"), "");
  EXPECT_NE(refused("schema_version: 1\nsilence: []\n").find("silence"), std::string::npos);
  EXPECT_NE(refused("schema_version: 1\nsilences: 3\n").find("list"), std::string::npos);
  EXPECT_NE(refused("schema_version: 1\nsilences:\n  - {node: n}\n").find("reason"), std::string::npos);
  EXPECT_NE(refused("schema_version: 1\nsilences:\n  - {reason: ''}\n").find("s.yaml:3"), std::string::npos);
  EXPECT_NE(refused("schema_version: 1\nsilences:\n  - {until: soon, reason: r}\n").find("until"), std::string::npos);
  EXPECT_NE(refused("schema_version: 1\nsilences:\n  - {device: -1, reason: r}\n").find("device"), std::string::npos);
  EXPECT_NE(refused("schema_version: 1\nmaintenance:\n  - {node: n, reason: r}\n").find("since and until"), std::string::npos);
  EXPECT_NE(refused("schema_version: 1\nmaintenance:\n  - {since: 2026-01-02, until: 2026-01-01, reason: r}\n").find("after"),
            std::string::npos);
}

}  // namespace
}  // namespace aaco::governance
