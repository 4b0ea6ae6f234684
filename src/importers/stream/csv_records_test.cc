#include "importers/stream/csv_records.h"

#include <gtest/gtest.h>

#include "importers/stream/source_testing.h"

namespace aaco::importers {
namespace {

using Records = std::vector<std::vector<std::string>>;

struct Read {
  Records records;
  core::Result<CsvEnd> end;
};

Read read(const std::string& text, std::size_t window_bytes, std::size_t value_bytes = 1 << 20) {
  Records records;
  TextSource source(text);
  auto end = read_csv(source,
                      [&](const CsvFields& fields, bool) -> core::Status {
                        records.emplace_back(fields.begin(), fields.end());
                        return {};
                      },
                      {window_bytes, value_bytes});
  return {std::move(records), std::move(end)};
}

const std::string kText = "a,b\n\"x \"\"y\"\"\",1\n\n\"a \"\"longer one\"\" that is on the heap\",2\nlast,3";
const Records kRecords = {{"a", "b"}, {"x \"y\"", "1"}, {"a \"longer one\" that is on the heap", "2"}, {"last", "3"}};

TEST(CsvRecords, ResultIndependentOfWindowSize) {
  for (std::size_t window = 1; window < kText.size() + 2; ++window) {
    const Read all = read(kText, window);
    ASSERT_TRUE(all.end) << window;
    EXPECT_EQ(all.records, kRecords) << window;
    EXPECT_EQ(all.end->records, 4) << window;
    EXPECT_FALSE(all.end->terminated) << window;
    EXPECT_EQ(all.end->bytes, static_cast<std::int64_t>(kText.size())) << window;
  }
}

TEST(CsvRecords, SkipsByteOrderMarkOnce) {
  for (std::size_t window = 1; window < 12; ++window)
    EXPECT_EQ(read("\xEF\xBB\xBF" + kText, window < 3 ? 3 : window).records, kRecords) << window;
  EXPECT_EQ(read("\xEF\xBB\xBF\xEF\xBB\xBFz\n", 64).records, (Records{{"\xEF\xBB\xBFz"}}));
}

TEST(CsvRecords, StopsAtOversizedRecord) {
  const Read cut = read("a,b\n1,2\n\"" + std::string(1000, 'x'), 16, 64);
  ASSERT_TRUE(cut.end);
  EXPECT_NE(cut.end->trouble.find("larger than 64 bytes"), std::string::npos) << cut.end->trouble;
  EXPECT_EQ(cut.records, (Records{{"a", "b"}, {"1", "2"}}));
}

TEST(CsvRecords, VisitorCanStop) {
  TextSource source(kText);
  int seen = 0;
  const auto end = read_csv(source,
                            [&](const CsvFields&, bool) -> core::Status {
                              if (++seen == 2) return core::fail(core::ErrorCode::cancelled, "enough");
                              return {};
                            },
                            {8, 1 << 20});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "enough");
  EXPECT_EQ(seen, 2);
}

TEST(CsvRecords, AnEmptyFileIsRefused) {
  const Read nothing = read("", 64);
  ASSERT_FALSE(nothing.end);
  EXPECT_NE(nothing.end.error().message.find("empty"), std::string::npos);
}

}  // namespace
}  // namespace aaco::importers
