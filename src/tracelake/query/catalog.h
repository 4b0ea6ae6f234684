#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "tracelake/bundle.h"
#include "tracelake/duckdb/appender.h"
#include "tracelake/duckdb/database.h"
#include "tracelake/query/views.h"

namespace aaco::tracelake::query {

// Keeps the tables and views that statements name in step with the folder: sessions come and go while a lake is open.
class Catalog {
 public:
  using ListSessions = std::function<core::Result<std::vector<SessionEntry>>()>;
  Catalog(duckdb::Connection& connection, std::string root, ListSessions list)
      : connection_(connection), root_(std::move(root)), list_(std::move(list)) {}

  // Makes or renews what the statement may name.
  core::Status prepare_for(const std::string& sql);

 private:
  core::Status refresh_view(const ViewTable& table);
  core::Status refresh_sessions();
  core::Status refresh_metrics();
  core::Status refresh_totals();
  core::Status refresh_environment();
  // Makes or renews a table to which each whole session adds rows once, as bundles do not change.
  core::Status refresh_rows(const std::string& table, std::string_view columns, std::set<std::string>& done,
                            const std::function<core::Status(duckdb::Appender& rows, const SessionEntry& entry)>& add);

  duckdb::Connection& connection_;
  std::string root_;
  ListSessions list_;
  std::set<std::string> shown_;                            // views over files that are there
  std::set<std::string> metrics_, totals_, environments_;  // sessions whose rows are in the table
};

}  // namespace aaco::tracelake::query
