#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "formats/sqlite.h"
#include "trace/sink.h"

namespace aaco::importers {

// A table of texts by number, as profilers keep their names. Only texts that are asked for are read, each once; a table without
// row numbers is read whole, up to a bound, when it is first asked.
class TextTable {
 public:
  TextTable(const formats::sqlite::Database& database, std::string table, std::string id_column, std::string text_column)
      : database_(database), table_(std::move(table)), id_(std::move(id_column)), text_(std::move(text_column)) {}
  // The text, clean UTF-8; empty where there is none. Valid until the next call.
  const std::string& text(std::optional<std::int64_t> id);
  // The same as a name of the sink.
  trace::NameId name(std::optional<std::int64_t> id, trace::Sink& sink);

 private:
  void open();
  static constexpr std::size_t kMaxRemembered = std::size_t{1} << 20;

  const formats::sqlite::Database& database_;
  std::string table_, id_, text_;
  bool opened_ = false;
  std::optional<formats::sqlite::Rows> lookup_;
  std::unordered_map<std::int64_t, std::string> whole_;
  std::unordered_map<std::int64_t, trace::NameId> names_;
  std::string last_;
};

}  // namespace aaco::importers
