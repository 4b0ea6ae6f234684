// docs/formats/tables.md is written from the descriptions in trace/tables.h: this test holds it to them, and
// scripts/rebaseline.sh (AACO_REBASELINE=1) writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>

#include "core/files.h"
#include "tests/support/source_dir.h"
#include "trace/tables.h"

namespace aaco::trace {
namespace {

constexpr const char* kPath = AACO_SOURCE_DIR "/docs/formats/tables.md";
constexpr std::string_view kHead =
    "# Tables of a session\n\n"
    "Written by `src/trace/tables_doc_test.cc` from `src/trace/tables.h`; change that, then run `scripts/rebaseline.sh "
    "trace`.\n\n"
    "Times are integer nanoseconds on the session's home clock, sizes integer bytes, ratios 0..1. Optional columns are NULL "
    "where\n"
    "nothing was measured; texts are dictionary-encoded, and empty where there is none. A table without rows has no file. In SQL "
    "every\n"
    "table also has `session_id` and `date`.\n";

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

std::string document() {
  std::string text(kHead);
  for_each_table([&]<class Row>() {
    using Table = TableOf<Row>;
    text += "\n## " + std::string(Table::kName) + "\n\n" + std::string(Table::kMeaning) + ". File: " + std::string(Table::kPath) +
            (Table::kTime.empty() ? "" : ", sorted by " + std::string(Table::kTime)) +
            ".\n\n| column | type | meaning |\n|---|---|---|\n";
    std::apply(
        [&](auto... columns) {
          ((text += "| " + std::string(columns.name) + " | " +
                    std::string(TypeName<typename decltype(columns)::value_type>::value) + " | " + std::string(columns.meaning) +
                    " |\n"),
           ...);
        },
        Table::columns());
  });
  return text;
}

TEST(TablesDocument, TypesMatchDocumentation) {
  if (std::getenv("AACO_REBASELINE") != nullptr) {
    ASSERT_TRUE(core::write_file_atomic(kPath, document()));
  }
  const auto published = core::read_file(kPath);
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_EQ(*published, document()) << "run scripts/rebaseline.sh trace, and read the difference";
}

}  // namespace
}  // namespace aaco::trace
