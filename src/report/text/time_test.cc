#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "report/render.h"

namespace aaco::report {
namespace {

struct Drawn {
  std::string stack;
  std::map<std::string, std::string> key;  // of each part's row
};

// In ASCII, where a sign is one byte.
Drawn drawn(const std::vector<double>& shares) {
  ReportModel model;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    TimeShare part;
    part.name = "part " + std::to_string(i);
    part.share_ratio = shares[i];
    part.total_ns = 1e9 * shares[i];
    model.parts.push_back(part);
  }
  TextOptions options;
  options.width = 102;
  options.unicode = false;
  std::istringstream lines(render_text(model, options));
  Drawn out;
  std::string before;
  for (std::string line; std::getline(lines, line); before = line) {
    if (before.starts_with("----") && out.stack.empty() && line.starts_with("  ")) out.stack = line.substr(2);
    if (line.find(" part ") == 3) out.key[line.substr(4, line.find(' ', 9) - 4)] = line.substr(2, 1);
  }
  return out;
}

TEST(TimeBar, EachLargePartHasASeparateSign) {
  const Drawn bar = drawn({0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.03, 0.02});
  std::set<std::string> signs;
  for (const auto& [name, sign] : bar.key) signs.insert(sign);
  ASSERT_EQ(bar.key.size(), 8U);
  EXPECT_EQ(signs.size(), 8U);
  EXPECT_EQ(std::count(bar.stack.begin(), bar.stack.end(), bar.key.at("part 0")[0]), 30);
}

TEST(TimeBar, OtherPartsShareOne) {
  const Drawn bar = drawn({0.004, 0.3, 0.25, 0.15, 0.1, 0.06, 0.05, 0.04, 0.03, 0.012, 0.004});
  ASSERT_EQ(bar.key.size(), 11U);
  std::map<std::string, int> uses;
  for (const auto& [name, sign] : bar.key) ++uses[sign];
  EXPECT_EQ(uses.size(), 8U);
  const std::string other = bar.key.at("part 0");
  EXPECT_EQ(uses.at(other), 4);
  EXPECT_EQ(bar.key.at("part 9"), other);
  EXPECT_EQ(bar.key.at("part 8"), other);
  EXPECT_EQ(std::count(bar.stack.begin(), bar.stack.end(), other[0]), 5);
  EXPECT_EQ(bar.stack.size(), 100U);
}

TEST(TimeBar, PartsTooSmallForAColumnShareOne) {
  const Drawn bar = drawn({0.99, 0.002, 0.001, 0.001});
  EXPECT_EQ(bar.key.at("part 1"), bar.key.at("part 3"));
  EXPECT_NE(bar.key.at("part 0"), bar.key.at("part 1"));
  EXPECT_EQ(std::count(bar.stack.begin(), bar.stack.end(), bar.key.at("part 1")[0]), 1);
}

}  // namespace
}  // namespace aaco::report
