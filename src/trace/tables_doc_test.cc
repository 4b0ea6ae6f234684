// docs/formats/tables/ has a page for each table, written from the descriptions in trace/tables.h: this test holds them to it,
// and scripts/rebaseline.sh (AACO_REBASELINE=1) writes them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <type_traits>

#include "core/files.h"
#include "tests/support/source_dir.h"
#include "trace/tables.h"

namespace aaco::trace {
namespace {

const std::string kFolder = AACO_SOURCE_DIR "/docs/formats/tables";

template <class Value>
struct TypeName;
template <>
struct TypeName<std::int32_t> {
  static constexpr std::string_view value = "INTEGER";
};
template <>
struct TypeName<std::int64_t> {
  static constexpr std::string_view value = "BIGINT";
};
template <>
struct TypeName<std::uint64_t> {
  static constexpr std::string_view value = "UBIGINT";
};
template <>
struct TypeName<double> {
  static constexpr std::string_view value = "DOUBLE";
};
template <>
struct TypeName<NameId> {
  static constexpr std::string_view value = "text";
};
template <class Value>
struct TypeName<std::optional<Value>> {
  static inline const std::string value = std::string(TypeName<Value>::value) + ", optional";
};

template <class Row>
std::string page() {
  using Table = TableOf<Row>;
  std::string text = "# " + std::string(Table::kName) + "\n\n" + std::string(Table::kMeaning) +
                     ".\n\nFile: " + std::string(Table::kPath) +
                     (Table::kTime.empty() ? "" : ", sorted by " + std::string(Table::kTime)) +
                     ". Conventions: [tables.md](../tables.md).\n\n| column | type | meaning |\n|---|---|---|\n";
  std::apply(
      [&](auto... columns) {
        ((text += "| " + std::string(columns.name) + " | " +
                  std::string(TypeName<typename decltype(columns)::value_type>::value) + " | " + std::string(columns.meaning) +
                  " |\n"),
         ...);
      },
      Table::columns());
  return text;
}

std::string path_of(std::string_view table) { return core::join_path(kFolder, std::string(table) + ".md"); }

TEST(TablesDocument, EveryTableHasAnUpToDatePage) {
  for_each_table([&]<class Row>() {
    const std::string path = path_of(TableOf<Row>::kName);
    if (std::getenv("AACO_REBASELINE") != nullptr) {
      ASSERT_TRUE(core::write_file_atomic(path, page<Row>()));
    }
    const auto published = core::read_file(path);
    ASSERT_TRUE(published) << published.error().text();
    EXPECT_EQ(*published, page<Row>()) << "run scripts/rebaseline.sh trace and read the difference";
  });
}

TEST(TablesDocument, EveryPageHasATable) {
  std::set<std::string> names;
  for_each_table([&]<class Row>() { names.insert(std::string(TableOf<Row>::kName) + ".md"); });
  const auto files = core::list_directory(kFolder);
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_EQ(std::set<std::string>(files->begin(), files->end()), names);
}

}  // namespace
}  // namespace aaco::trace
