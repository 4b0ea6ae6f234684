// The published form of the tables: names, units and meanings hold what docs/formats promises, and sinks and names behave.
#include "trace/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace/session.h"
#include "trace/sink.h"

namespace aaco::trace {
namespace {

template <class T>
struct Plain {
  using type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Plain<std::optional<T>> {
  using type = T;
  static constexpr bool optional = true;
};

template <class F>
void for_each_column(F&& f) {
  for_each_table([&]<class Row>() {
    std::apply([&](auto... columns) { (f.template operator()<Row>(columns), ...); }, TableOf<Row>::columns());
  });
}
std::string place(std::string_view table, std::string_view column) { return std::string(table) + "." + std::string(column); }

TEST(Tables, NamesAreUnique) {
  std::set<std::string_view> names, paths;
  for_each_table([&]<class Row>() {
    EXPECT_TRUE(names.insert(TableOf<Row>::kName).second) << TableOf<Row>::kName;
    EXPECT_TRUE(paths.insert(TableOf<Row>::kPath).second) << TableOf<Row>::kPath;
    EXPECT_TRUE(TableOf<Row>::kPath.ends_with(".parquet")) << TableOf<Row>::kPath;
    EXPECT_FALSE(TableOf<Row>::kMeaning.empty());
  });
  EXPECT_EQ(names.size(), 22u);
}
TEST(Tables, FileIsNamedAfterTheTable) {
  for_each_table(
      []<class Row>() { EXPECT_TRUE(TableOf<Row>::kPath.ends_with("/" + std::string(TableOf<Row>::kName) + ".parquet")); });
}
TEST(Tables, ColumnNamesAreUniqueWithinATable) {
  std::set<std::string> seen;
  for_each_column(
      [&]<class Row>(auto column) { EXPECT_TRUE(seen.insert(place(TableOf<Row>::kName, column.name)).second) << column.name; });
}
TEST(Tables, ColumnVersionsAreValid) {
  for_each_column([]<class Row>(auto column) {
    EXPECT_GE(column.since, 1) << column.name;
    EXPECT_LE(column.since, kSessionSchemaVersion) << column.name;
  });
}
TEST(Tables, ColumnNamesAreSnakeCase) {
  for_each_column([]<class Row>(auto column) {
    EXPECT_EQ(column.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos) << column.name;
  });
}
TEST(Tables, EveryColumnHasADescription) {
  for_each_column(
      []<class Row>(auto column) { EXPECT_GE(column.meaning.size(), 4u) << place(TableOf<Row>::kName, column.name); });
}
TEST(Tables, TimesAndBytesAre64BitIntegers) {
  for_each_column([]<class Row>(auto column) {
    using Value = typename Plain<typename decltype(column)::value_type>::type;
    if (column.name.ends_with("_ns") || column.name.ends_with("_bytes") || column.name == "bytes") {
      EXPECT_TRUE((std::is_same_v<Value, std::int64_t>)) << place(TableOf<Row>::kName, column.name);
    }
  });
}
TEST(Tables, RatiosAreReal) {
  for_each_column([]<class Row>(auto column) {
    using Value = typename Plain<typename decltype(column)::value_type>::type;
    if (column.name.ends_with("_ratio")) {
      EXPECT_TRUE((std::is_same_v<Value, double>)) << place(TableOf<Row>::kName, column.name);
    }
  });
}
TEST(Tables, NoPercentAndNoUnitBesideThePublishedOnes) {
  for_each_column([]<class Row>(auto column) {
    for (std::string_view suffix : {"_pct", "_percent", "_ms", "_us", "_s", "_seconds", "_kb", "_mb", "_mhz"})
      EXPECT_FALSE(column.name.ends_with(suffix)) << place(TableOf<Row>::kName, column.name);
  });
}
TEST(Tables, TimesNameTheirClock) {
  for_each_column([]<class Row>(auto column) {
    if (column.name == "start_ns" || column.name == "time_ns") {
      EXPECT_NE(column.meaning.find("home clock"), std::string_view::npos) << place(TableOf<Row>::kName, column.name);
    }
  });
}
TEST(Tables, SortedByOwnColumn) {
  for_each_table([]<class Row>() {
    if (TableOf<Row>::kTime.empty()) return;
    bool found = false;
    std::apply([&](auto... columns) { ((found = found || columns.name == TableOf<Row>::kTime), ...); }, TableOf<Row>::columns());
    EXPECT_TRUE(found) << TableOf<Row>::kName;
  });
}
TEST(Tables, RankComesFirstInEveryTableOfEvents) {
  for_each_table([]<class Row>() {
    if (TableOf<Row>::kPath.starts_with("model/")) return;
    EXPECT_EQ(std::get<0>(TableOf<Row>::columns()).name, "rank") << TableOf<Row>::kName;
  });
}
// A member without a column would never be stored, two columns of one member would store it twice: the columns must cover the row
// but for padding.
TEST(Tables, EveryMemberHasOneColumn) {
  for_each_table([]<class Row>() {
    const Row row{};
    std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> covered;  // begin and end within the row
    std::apply(
        [&](auto... columns) {
          const auto* base = reinterpret_cast<const char*>(&row);
          (covered.emplace_back(reinterpret_cast<const char*>(&(row.*columns.member)) - base,
                                reinterpret_cast<const char*>(&(row.*columns.member) + 1) - base),
           ...);
        },
        TableOf<Row>::columns());
    std::sort(covered.begin(), covered.end());
    covered.emplace_back(sizeof(Row), sizeof(Row));
    std::ptrdiff_t end = 0;
    for (const auto& [from, to] : covered) {
      EXPECT_GE(from, end) << TableOf<Row>::kName << " has two columns of one member";
      EXPECT_LT(from - end, 8) << TableOf<Row>::kName << " has a member without a column";
      end = to;
    }
  });
}

TEST(NameTables, EmptyTextIsZero) { EXPECT_EQ(NameTable().intern("").value, 0u); }
TEST(NameTables, SameTextSameId) {
  NameTable names;
  EXPECT_EQ(names.intern("gemm"), names.intern(std::string("ge") + "mm"));
}
TEST(NameTables, TextsStayWhileTheTableGrows) {
  NameTable names;
  const std::string_view first = names.text(names.intern("a"));
  for (int i = 0; i < 10'000; ++i) (void)names.intern("kernel_with_a_long_name_number_" + std::to_string(i));
  EXPECT_EQ(first, "a");
  EXPECT_EQ(names.intern("kernel_with_a_long_name_number_9999").value, 10'001u);
}
TEST(NameTables, MoveKeepsIds) {
  NameTable names;
  const NameId id = names.intern("x");
  NameTable moved = std::move(names);
  EXPECT_EQ(moved.intern("x"), id);
  EXPECT_EQ(moved.text(id), "x");
}
TEST(NameTables, TextsWithNulBytes) {
  using namespace std::string_view_literals;
  NameTable names;
  EXPECT_NE(names.intern("a\0b"sv), names.intern("a\0c"sv));
}
static_assert(!std::is_copy_constructible_v<NameTable>, "a copy's index would point into the original");

TEST(MemorySinks, KeepsRowsByKind) {
  MemorySink sink;
  sink.add(IterationRow{.iteration = 3});
  sink.add(KernelRow{.name = sink.name("gemm")});
  EXPECT_EQ(sink.rows<IterationRow>().size(), 1u);
  EXPECT_EQ(sink.text(sink.rows<KernelRow>()[0].name), "gemm");
  EXPECT_TRUE(sink.rows<CopyRow>().empty());
  EXPECT_TRUE(sink.status());
}

}  // namespace
}  // namespace aaco::trace
