#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tracelake/engine.h"

namespace aaco::tracelake::remote {

struct RemoteColumn {
  std::string name;
  std::string type;  // ClickHouse's
};
std::string remote_type(const std::string& lake_type);

// Names of the stored tables behind a table of the lake: rows on each server, and all rows of the cluster.
std::string stored_name(const std::string& table);
std::string whole_name(const RemoteTarget& target, const std::string& table);
// MergeTree, or its kind with replicas: "AggregatingMergeTree". Replicas take their place from the macros shard and replica of
// each server's configuration.
std::string engine_of(const RemoteTarget& target, std::string_view kind, const std::string& table);
// Where they are missing: with a cluster the Distributed table over the stored ones, by `key`, and the view under the table's
// name.
core::Status show_whole(const RemoteServer& server, const std::string& table, std::string_view key);
std::string backticked(std::string_view name);
std::string text_literal(std::string_view text);

// The tables of the lake that exist on the engine, with their columns; creates and extends them.
class RemoteSchema {
 public:
  explicit RemoteSchema(const RemoteServer& server) : server_(server) {}
  core::Status read();
  // Creates the table with its view, or adds the columns that an older version did not have.
  core::Status ensure(const std::string& table, const std::vector<RemoteColumn>& columns);
  // Makes the views of an older version anew.
  core::Status renew_views();

 private:
  core::Status create(const std::string& table, const std::vector<RemoteColumn>& columns);
  core::Status extend(const std::string& table, const std::vector<RemoteColumn>& missing,
                      const std::vector<RemoteColumn>& columns);
  core::Status make_view(const std::string& table, const std::vector<RemoteColumn>& columns);
  const RemoteServer& server_;
  std::map<std::string, std::set<std::string>> there_;  // stored table -> columns
};

}  // namespace aaco::tracelake::remote
