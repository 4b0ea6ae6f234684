#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/files.h"
#include "formats/sqlite_testing.h"
#include "importers/builtin.h"
#include "importers/database/table_scan.h"
#include "importers/file_source.h"

// For tests of importers that read databases.
namespace aaco::importers {

struct Imported {
  trace::MemorySink sink;
  core::Result<ImportResult> result;
};

class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = core::TemporaryDirectory::make(testing::TempDir());
    ASSERT_TRUE(made.has_value());
    folder_.emplace(std::move(*made));
  }
  std::string make(const std::string& sql, const std::string& name = "trace.db") {
    const std::string path = core::join_path(folder_->path(), name);
    EXPECT_TRUE(core::remove_tree(path).has_value());
    const auto made = formats::sqlite::make_database(path, sql);
    EXPECT_TRUE(made.has_value()) << made.error().text();
    return path;
  }
  static Imported import(const Importer& importer, const std::string& path) {
    Imported imported;
    auto source = open_file_source(path);
    if (!source)
      imported.result = tl::unexpected<core::Error>(source.error());
    else
      imported.result = importer.import(**source, imported.sink);
    if (imported.result) {
      const auto& account = imported.result->account;
      EXPECT_EQ(account.read, account.kept + account.dropped_total());
    }
    return imported;
  }
  // Imports the file cut at every `step` bytes: an error or fewer rows, and the account says so; never a crash.
  static void cut_everywhere(const Importer& importer, const std::string& path, std::int64_t whole_kept, std::size_t step) {
    const auto whole = core::read_file(path);
    ASSERT_TRUE(whole.has_value());
    const std::string cut = path + ".cut";
    for (std::size_t size = 0; size < whole->size(); size += step) {
      ASSERT_TRUE(core::write_file_atomic(cut, whole->substr(0, size)).has_value());
      const Imported part = import(importer, cut);
      if (!part.result) continue;
      EXPECT_LE(part.result->account.kept, whole_kept) << size;
      const bool partial = part.result->account.state == trace::Account::State::partial;
      EXPECT_TRUE(partial || part.result->account.kept == whole_kept) << size;
    }
  }
  std::optional<core::TemporaryDirectory> folder_;
};

// A file below the folder of real traces (AACO_REAL_DATA, or beside the project's root), or empty.
inline std::string real_trace(const std::string& path, const std::string& source_folder) {
  const char* set = std::getenv("AACO_REAL_DATA");
  const std::string whole =
      core::join_path(set != nullptr ? std::string(set) : source_folder + "/../shared/data", "traces/" + path);
  return core::exists(whole) ? whole : std::string();
}

}  // namespace aaco::importers
