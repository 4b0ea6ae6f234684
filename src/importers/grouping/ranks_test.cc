#include "importers/grouping/ranks.h"

#include <gtest/gtest.h>

namespace aaco::importers::grouping {
namespace {

TEST(AssignRanks, TextsThenNamesThenOrder) {
  using Ranks = std::vector<std::int32_t>;
  EXPECT_EQ(assign_ranks({{4, 1}, {2, 1}}), (Ranks{4, 2}));
  EXPECT_EQ(assign_ranks({{0, 7}, {0, 3}}), (Ranks{7, 3}));
  EXPECT_EQ(assign_ranks({{0, {}}, {0, 3}}), (Ranks{0, 1}));
  EXPECT_EQ(assign_ranks({{1, {}}, {{}, {}}}), (Ranks{1, 0}));  // what says its rank keeps it
  EXPECT_EQ(assign_ranks({{{}, {}}, {{}, 2}, {0, {}}, {0, {}}}), (Ranks{1, 2, 0, 3}));
  EXPECT_EQ(assign_ranks({{-1, {}}, {INT64_MAX, {}}}), (Ranks{0, 1}));
  EXPECT_EQ(assign_ranks({}), Ranks());
}

TEST(AssignFileRanks, ByProcesses) {
  const auto one = [](std::optional<std::int64_t> text, std::optional<std::int64_t> name = {}) {
    return FileProcesses{1, {text, name}};
  };
  using Ranks = std::vector<FileRanks>;
  EXPECT_EQ(assign_file_ranks({one({}, 3)}), (Ranks{{std::nullopt, 0}}));  // a lone file's name says nothing of other ranks
  EXPECT_EQ(assign_file_ranks({one(5)}), (Ranks{{5, 0}}));
  EXPECT_EQ(assign_file_ranks({one(-5)}), (Ranks{{std::nullopt, 0}}));
  EXPECT_EQ(assign_file_ranks({{4, {}}}), (Ranks{{std::nullopt, 0}}));
  EXPECT_EQ(assign_file_ranks({one(1), one(0)}), (Ranks{{1, 0}, {0, 0}}));
  EXPECT_EQ(assign_file_ranks({one(0, 2), one(0, 1)}), (Ranks{{2, 0}, {1, 0}}));
  EXPECT_EQ(assign_file_ranks({{2, {}}, one(9), {2, {}}}), (Ranks{{std::nullopt, 0}, {2, 0}, {std::nullopt, 3}}));
  EXPECT_EQ(assign_file_ranks({}), Ranks());
}

}  // namespace
}  // namespace aaco::importers::grouping
