#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "core/clock.h"
#include "core/files.h"
#include "core/id.h"
#include "core/json.h"
#include "core/numbers.h"
#include "core/random.h"
#include "core/strings.h"
#include "tracelake/engine/schema.h"
#include "tracelake/remote.h"
#include "tracelake/remote/archives.h"

namespace aaco::tracelake {
namespace {

using remote::RemoteColumn;

constexpr std::size_t kBatchBytes = std::size_t{8} << 20;

// Which tables of one push were sent.
class PushState {
 public:
  static PushState load(const std::string& file, const std::string& place) {
    PushState state;
    state.file_ = file;
    state.document_ =
        core::Json::object({{"schema_version", 1}, {"place", place}, {"push_id", fresh_id()}, {"parts", core::Json::object()}});
    if (!core::exists(file)) return state;
    const auto document = core::read_json_file(file);
    const bool usable = document && (*document)["place"].text() == place && !(*document)["push_id"].text().empty() &&
                        (*document)["parts"].is_object();
    if (usable) state.document_ = *document;
    return state;
  }
  // Sorts by time, and differs between processes that start at once.
  static std::string fresh_id() {
    return core::make_session_id(core::SystemClock().now_ns(core::ClockId::realtime), core::system_entropy()).text +
           fmt::format("-{:08x}", core::system_entropy() & 0xffffffffU);
  }

  [[nodiscard]] std::string push_id() const { return std::string(document_["push_id"].text()); }
  [[nodiscard]] const core::Json& part(const std::string& table) const { return document_["parts"][table]; }
  [[nodiscard]] const core::Json::Object& parts() const { return document_["parts"].members(); }
  core::Status add(const std::string& table, const std::string& part_id, std::int64_t rows) {
    core::Json parts = document_["parts"];
    parts.set(table, core::Json::object({{"part_id", part_id}, {"rows", rows}}));
    document_.set("parts", std::move(parts));
    AACO_TRY(core::make_directories(core::parent_path(file_)));
    return core::write_file_atomic(file_, document_.dump() + "\n");
  }

 private:
  std::string file_;
  core::Json document_;
};

// Sends the rows of one table in batches.
class TableSender final : public QueryVisitor {
 public:
  TableSender(const RemoteServer& server, remote::RemoteSchema& schema, std::string table, std::string session, std::string part)
      : server_(server), schema_(schema), table_(std::move(table)), session_(std::move(session)), part_(std::move(part)) {}

  core::Status begin(const std::vector<std::string>& columns, const std::vector<std::string>& types) override {
    std::vector<RemoteColumn> wanted;
    std::string names;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      wanted.push_back({columns[i], remote::remote_type(types[i])});
      is_boolean_.push_back(types[i] == "BOOLEAN");
      names += ", " + remote::backticked(columns[i]);
    }
    statement_ = fmt::format("INSERT INTO {} (aaco_session, aaco_part{})",
                             remote::backticked(remote::whole_name(server_.target(), table_)), names);
    return schema_.ensure(table_, wanted);
  }
  core::Status row(std::span<const std::optional<std::string>> cells) override {
    append_cell(batch_, session_);
    batch_ += '\t';
    append_cell(batch_, part_);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      batch_ += '\t';
      if (is_boolean_[i] && cells[i])
        batch_ += *cells[i] == "true" ? '1' : '0';
      else
        append_cell(batch_, cells[i]);
    }
    batch_ += '\n';
    ++rows_;
    return batch_.size() < kBatchBytes ? core::Status() : flush();
  }
  core::Status flush() { return batch_.empty() ? core::Status() : server_.insert(statement_, std::exchange(batch_, {})); }
  [[nodiscard]] std::int64_t rows() const { return rows_; }

 private:
  const RemoteServer& server_;
  remote::RemoteSchema& schema_;
  std::string table_, session_, part_, statement_, batch_;
  std::vector<bool> is_boolean_;
  std::int64_t rows_ = 0;
};

core::Result<bool> is_complete(const RemoteServer& server, const std::string& session_id) {
  AACO_ASSIGN(const std::string reply,
              server.run(fmt::format("SELECT count() FROM {} WHERE session_id = {}",
                                     remote::whole_name(server.target(), "pushes"), remote::text_literal(session_id))));
  return core::parse_i64(core::trim(reply)).value_or(0) > 0;
}

// Whether all rows of a part that an earlier push sent are still there.
core::Result<bool> is_sent(const RemoteServer& server, const std::string& table, const core::Json& part) {
  if (part.is_null()) return false;
  const auto reply = server.run(fmt::format("SELECT count() FROM {} WHERE aaco_part = {}",
                                            remote::backticked(remote::whole_name(server.target(), table)),
                                            remote::text_literal(part["part_id"].text())));
  if (!reply && reply.error().code == core::ErrorCode::invalid_argument) return false;  // the table is gone
  if (!reply) return tl::unexpected<core::Error>(reply.error());
  return core::parse_i64(core::trim(*reply)) == part["rows"].as_i64();
}

// A new part per try: rows of an interrupted one are never seen.
std::string fresh_part(const PushState& state, std::string_view table) {
  return fmt::format("{}.{}.{:08x}", state.push_id(), table, core::system_entropy() & 0xffffffffU);
}

// The packed bundle, as one more part of the push.
core::Status add_archive(const RemoteServer& server, remote::RemoteSchema& schema, const std::string& session_id,
                         const PackBundle& pack, const std::string& state_file, PushState& state, PushOutcome& outcome) {
  const std::string table(remote::kArchiveTable);
  AACO_ASSIGN(const bool there, is_sent(server, table, state.part(table)));
  if (there) return {};
  // Of this process alone: another one may push the same session.
  AACO_TRY(core::make_directories(core::parent_path(state_file)));
  AACO_ASSIGN(const auto folder, core::TemporaryDirectory::make(core::parent_path(state_file), "archive"));
  const std::string file = core::join_path(folder.path(), "bundle.tar.zst");
  if (const auto packed = pack(file); !packed) {
    if (packed.error().code != core::ErrorCode::invalid_input) return packed;
    outcome.no_archive = packed.error().message;
    return {};
  }
  const std::string part = fresh_part(state, table);
  AACO_ASSIGN(const std::int64_t chunks, remote::send_archive(server, schema, session_id, part, file));
  return state.add(table, part, chunks);
}

// One block on one server: all parts become visible at once.
core::Status commit(const RemoteServer& server, const std::string& session_id, const PushState& state) {
  std::string rows;
  for (const auto& [table, part] : state.parts()) {
    for (const std::string& cell : {session_id, state.push_id(), table, std::string(part["part_id"].text())}) {
      append_cell(rows, cell);
      rows += '\t';
    }
    rows += fmt::format("{}\t\n", part["rows"].as_i64().value_or(0));
  }
  return server.insert("INSERT INTO " + remote::whole_name(server.target(), "pushes") +
                           " (session_id, push_id, table_name, part_id, row_count, tool_version)",
                       rows);
}

}  // namespace

core::Result<PushOutcome> push_session(const RemoteServer& server, Lake& lake, const std::string& session_id,
                                       const PackBundle& pack, const std::string& state_file) {
  PushOutcome outcome;
  outcome.session_id = session_id;
  AACO_ASSIGN(outcome.already_there, is_complete(server, session_id));
  if (outcome.already_there) {
    AACO_TRY(core::remove_tree(state_file));
    AACO_ASSIGN(const bool has_archive, remote::has_archive(server, session_id));
    if (has_archive) return outcome;
  }
  PushState state = PushState::load(state_file, server.target().url + "/" + server.target().database);
  remote::RemoteSchema schema(server);
  AACO_TRY(schema.read());
  if (outcome.already_there) {
    AACO_TRY(add_archive(server, schema, session_id, pack, state_file, state, outcome));
    if (outcome.no_archive.empty()) AACO_TRY(commit(server, session_id, state));
    AACO_TRY(core::remove_tree(state_file));
    return outcome;
  }
  AACO_ASSIGN(const QueryResult tables, lake.query("SHOW TABLES"));
  for (const auto& row : tables.rows) {
    const std::string& table = *row.front();
    AACO_ASSIGN(const bool there, is_sent(server, table, state.part(table)));
    if (there) {
      ++outcome.tables;
      ++outcome.resumed_tables;
      outcome.rows += state.part(table)["rows"].as_i64().value_or(0);
      continue;
    }
    const std::string part = fresh_part(state, table);
    TableSender sender(server, schema, table, session_id, part);
    AACO_TRY(
        lake.stream("SELECT * FROM " + table + " WHERE session_id = '" + core::replace_all(session_id, "'", "''") + "'", sender));
    AACO_TRY(sender.flush());
    if (sender.rows() == 0) continue;
    AACO_TRY(state.add(table, part, sender.rows()));
    ++outcome.tables;
    outcome.rows += sender.rows();
  }
  AACO_TRY(add_archive(server, schema, session_id, pack, state_file, state, outcome));
  AACO_TRY(commit(server, session_id, state));
  AACO_TRY(core::remove_tree(state_file));
  return outcome;
}

}  // namespace aaco::tracelake
