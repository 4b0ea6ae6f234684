#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/http.h"
#include "core/json.h"
#include "core/strings.h"
#include "tracelake/engine.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;

constexpr std::int64_t kMaxReplyBytes = std::int64_t{512} << 20;
constexpr std::int64_t kProbeNs = 3'000'000'000;  // a server that says nothing for that long is hung

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// "Code: 60, e.displayText() = DB::Exception: Table x does not exist., e.what() = DB::Exception" -> its middle.
std::string server_words(std::string_view body) {
  constexpr std::string_view kBefore = "DB::Exception: ";
  const auto begin = body.find(kBefore);
  if (begin != std::string_view::npos) body.remove_prefix(begin + kBefore.size());
  if (const auto end = body.find(", e.what()"); end != std::string_view::npos) body = body.substr(0, end);
  std::string text(core::trim(body.substr(0, 600)));
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

ErrorCode code_of_reply(int status, std::string_view body) {
  if (status == 401 || status == 403 || body.find("Code: 193") != std::string_view::npos ||
      body.find("Code: 192") != std::string_view::npos)
    return ErrorCode::permission;
  if (body.find("Code: 279") != std::string_view::npos || body.find("Code: 209,") != std::string_view::npos) return ErrorCode::io;
  if (status >= 500 && body.find("Code: ") == std::string_view::npos) return ErrorCode::io;
  return ErrorCode::invalid_argument;
}

// ClickHouse's types under the names that the other engine has for them.
std::string sql_type(std::string type) {
  constexpr std::string_view kNullable = "Nullable(";
  if (type.starts_with(kNullable)) type = type.substr(kNullable.size(), type.size() - kNullable.size() - 1);
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"Int8", "TINYINT"},     {"Int16", "SMALLINT"},  {"Int32", "INTEGER"},     {"Int64", "BIGINT"},  {"UInt8", "UTINYINT"},
      {"UInt16", "USMALLINT"}, {"UInt32", "UINTEGER"}, {"UInt64", "UBIGINT"},    {"Float32", "FLOAT"}, {"Float64", "DOUBLE"},
      {"String", "VARCHAR"},   {"Date", "DATE"},       {"DateTime", "TIMESTAMP"}};
  for (const auto& [theirs, ours] : kTypes)
    if (type == theirs) return std::string(ours);
  return type;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  for (auto& cell : split_cells(line)) out.push_back(cell.value_or(""));
  return out;
}

}  // namespace

bool RemoteTarget::has_replicas() const {
  return std::any_of(shards.begin(), shards.end(), [](const auto& replicas) { return replicas.size() > 1; });
}

void append_cell(std::string& out, const std::optional<std::string>& cell) {
  if (!cell) {
    out += "\\N";
    return;
  }
  for (const char c : *cell) switch (c) {
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\\': out += "\\\\"; break;
      case '\0': out += "\\0"; break;
      default: out += c;
    }
}

std::vector<std::optional<std::string>> split_cells(std::string_view line) {
  std::vector<std::optional<std::string>> out;
  for (const std::string_view field : core::split(line, '\t')) {
    if (field == "\\N") {
      out.emplace_back();
      continue;
    }
    std::string& cell = out.emplace_back(std::string()).value();
    for (std::size_t i = 0; i < field.size(); ++i) {
      if (field[i] != '\\' || i + 1 == field.size()) {
        cell += field[i];
        continue;
      }
      const char c = field[++i];
      cell += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == '0' ? '\0' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
    }
  }
  return out;
}

core::Result<std::string> RemoteServer::post(const std::string& base, std::string body, const std::string& statement,
                                             const std::map<std::string, std::string>& settings) const {
  core::HttpRequest request;
  request.method = "POST";
  request.url =
      base + "/?database=" + escaped(statement.empty() && body.starts_with("CREATE DATABASE") ? "default" : target_.database);
  if (!statement.empty()) request.url += "&query=" + escaped(statement);
  for (const auto& [name, value] : settings) request.url += "&" + name + "=" + escaped(value);
  request.body = std::move(body);
  request.content_type = "text/plain";
  request.timeout_ns = target_.timeout_ns;
  request.reply_limit_bytes = kMaxReplyBytes;
  if (!target_.user.empty()) request.headers.emplace_back("X-ClickHouse-User", target_.user);
  if (!target_.password.empty()) request.headers.emplace_back("X-ClickHouse-Key", target_.password);
  if (!target_.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + target_.token);
  auto reply = core::http_send(request);
  if (!reply) {
    core::Error error = std::move(reply).error();
    if (error.code == ErrorCode::io || error.code == ErrorCode::timed_out)
      return core::fail(error.code,
                        fmt::format("cannot reach ClickHouse at {}: {}", base,
                                    error.code == ErrorCode::timed_out ? "timed out" : "no connection"),
                        "check the address and that the server is running");
    return tl::unexpected<core::Error>(std::move(error));
  }
  if (reply->status == 200) return std::move(reply->body);
  const ErrorCode code = code_of_reply(reply->status, reply->body);
  return core::fail(code, fmt::format("ClickHouse at {} refused: {}", base, server_words(reply->body)),
                    code == ErrorCode::permission
                        ? "set AACO_CLICKHOUSE_USER and AACO_CLICKHOUSE_PASSWORD, or user and password_file in fleet.yaml"
                        : "");
}

core::Result<std::string> RemoteServer::run(const std::string& sql, const std::map<std::string, std::string>& settings) const {
  return post(target_.url, sql, "", settings);
}

core::Status RemoteServer::run_everywhere(const std::string& sql) const {
  if (target_.shards.empty()) {
    AACO_TRY(run(sql));
    return {};
  }
  for (const auto& replicas : target_.shards) {
    std::optional<core::Error> away;
    std::size_t reached = 0;
    for (const std::string& server : replicas) {
      const auto reply = post(server, sql, "", {});
      if (reply)
        ++reached;
      else if (is_away(reply.error()))
        away = reply.error();
      else
        return tl::unexpected<core::Error>(reply.error());
    }
    if (reached == 0 && away) return tl::unexpected<core::Error>(std::move(*away));
  }
  return {};
}

core::Result<std::vector<RemoteServer>> RemoteServer::one_per_shard() const {
  std::vector<RemoteServer> out;
  if (target_.shards.empty()) out.push_back(*this);
  for (const auto& replicas : target_.shards) {
    RemoteTarget target = target_;
    target.cluster.clear();
    target.shards.clear();
    std::optional<core::Error> away;
    for (const std::string& server : replicas) {
      target.url = server;
      if (const auto reply = post(server, "SELECT 1", "", {}); !reply) {
        away = reply.error();
        continue;
      }
      away.reset();
      break;
    }
    if (away) return tl::unexpected<core::Error>(std::move(*away));
    out.emplace_back(std::move(target));
  }
  return out;
}

core::Status RemoteServer::run_once_per_shard(const std::string& sql) const {
  AACO_ASSIGN(const auto servers, one_per_shard());
  for (const RemoteServer& server : servers) AACO_TRY(server.run(sql));
  return {};
}

core::Status RemoteServer::insert(const std::string& statement, std::string rows) const {
  const std::string format = statement.find(" FORMAT ") == std::string::npos ? " FORMAT TabSeparated" : "";
  AACO_TRY(post(target_.url, std::move(rows), statement + format, {{"insert_distributed_sync", "1"}}));
  return {};
}

core::Result<QueryResult> RemoteServer::query(const std::string& sql) const {
  // Read-only for the user's text, with formats that keep NULL, '' and 64-bit integers apart.
  AACO_ASSIGN(
      const std::string reply,
      run(sql, {{"default_format", "TabSeparatedWithNamesAndTypes"}, {"skip_unavailable_shards", "1"}, {"readonly", "2"}}));
  QueryResult out;
  std::vector<std::string_view> lines = core::split(reply, '\n');
  lines.pop_back();  // what follows the last line end
  if (lines.size() < 2) return out;
  out.columns = words_of(lines[0]);
  for (std::string& type : words_of(lines[1])) out.types.push_back(sql_type(std::move(type)));
  for (std::size_t i = 2; i < lines.size(); ++i) out.rows.push_back(split_cells(lines[i]));
  for (const auto& row : out.rows)
    if (row.size() != out.columns.size())
      return core::fail(ErrorCode::invalid_input, "ClickHouse answered in another format", "leave out FORMAT");
  return out;
}

RemoteServer::Absent RemoteServer::absent_shards() const {
  RemoteTarget hurried = target_;
  hurried.timeout_ns = std::min(target_.timeout_ns, kProbeNs);
  const RemoteServer probe(std::move(hurried));
  Absent out;
  if (target_.shards.empty()) {
    if (const auto reply = probe.post(target_.url, "SELECT 1", "", {}); !reply && reply.error().code == ErrorCode::timed_out)
      out.hung.push_back(target_.url);
    return out;
  }
  for (const auto& replicas : target_.shards) {
    std::vector<std::string> gone;
    for (const std::string& server : replicas)
      if (const auto reply = probe.post(server, "SELECT 1", "", {}); !reply)
        (reply.error().code == ErrorCode::timed_out ? out.hung : gone).push_back(server);
    if (gone.size() == replicas.size()) out.gone.insert(out.gone.end(), gone.begin(), gone.end());
  }
  return out;
}

std::vector<std::string> RemoteServer::missing_shards() const {
  Absent absent = absent_shards();
  absent.gone.insert(absent.gone.end(), absent.hung.begin(), absent.hung.end());
  return absent.gone;
}

core::Status RemoteServer::refuse_hung() const {
  const std::vector<std::string> hung = absent_shards().hung;
  if (hung.empty()) return {};
  return core::fail(ErrorCode::timed_out,
                    fmt::format("ClickHouse at {} accepts connections but does not answer", fmt::join(hung, ", ")),
                    "stop or restart that server: the engine itself waits minutes for a hung one; while it is stopped, answers "
                    "come from the others");
}

}  // namespace aaco::tracelake
