#include "tracelake/remote/archives.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/files.h"
#include "core/handles.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "tracelake/remote.h"

namespace aaco::tracelake {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
constexpr std::int64_t kChunksPerRead = 8;

std::string archive_condition(const std::string& session_id) {
  return fmt::format("table_name = '{}' AND session_id = {}", remote::kArchiveTable, remote::text_literal(session_id));
}

// Fills the buffer up to its size; shorter only at the end.
core::Status read_chunk(const core::FileDescriptor& file, std::string& chunk, const std::string& path) {
  chunk.resize(kChunkBytes);
  std::size_t at = 0;
  while (at < chunk.size()) {
    const ssize_t count = ::read(file.get(), chunk.data() + at, chunk.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return core::fail_errno(errno, path);
    if (count == 0) break;
    at += static_cast<std::size_t>(count);
  }
  chunk.resize(at);
  return {};
}

struct ArchivePart {
  std::string id;
  std::int64_t chunks = 0;
};

core::Error missing_archive(const RemoteServer& server, const std::string& session_id) {
  const auto missing = server.missing_shards();
  if (!missing.empty())
    return {core::ErrorCode::io,
            fmt::format("the bundle of session {} cannot be read: {} cannot be reached", session_id, missing.front()),
            "try again when all servers of the fleet are up",
            {}};
  return {core::ErrorCode::not_found,
          "the fleet has no bundle of session " + session_id,
          "push the session again with 'aaco push'; an unmodified bundle is added",
          {}};
}

// The archive of the first push that sent one. Archives of one session are equal.
core::Result<ArchivePart> find_archive(const RemoteServer& server, const std::string& session_id) {
  AACO_ASSIGN(const auto found,
              server.query(fmt::format("SELECT part_id, row_count FROM {} WHERE {} ORDER BY push_id, part_id LIMIT 1",
                                       remote::whole_name(server.target(), "pushes"), archive_condition(session_id))));
  if (found.rows.empty()) return tl::unexpected<core::Error>(missing_archive(server, session_id));
  const auto& row = found.rows.front();
  return ArchivePart{row[0].value_or(""), core::parse_i64(row[1].value_or("")).value_or(0)};
}

}  // namespace

core::Result<bool> remote::has_archive(const RemoteServer& server, const std::string& session_id) {
  AACO_ASSIGN(const std::string reply,
              server.run(fmt::format("SELECT count() FROM {} WHERE {}", whole_name(server.target(), "pushes"),
                                     archive_condition(session_id))));
  return core::parse_i64(core::trim(reply)).value_or(0) > 0;
}

core::Result<std::int64_t> remote::send_archive(const RemoteServer& server, RemoteSchema& schema, const std::string& session_id,
                                                const std::string& part, const std::string& path) {
  const std::string table(kArchiveTable);
  AACO_TRY(schema.ensure(
      table, {{"session_id", remote_type("VARCHAR")}, {"chunk", remote_type("BIGINT")}, {"bytes", remote_type("VARCHAR")}}));
  const core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return core::fail_errno(errno, path);
  const std::string statement = fmt::format("INSERT INTO {} (aaco_session, aaco_part, session_id, chunk, bytes)",
                                            backticked(whole_name(server.target(), table)));
  std::string chunk;
  for (std::int64_t number = 0;; ++number) {
    AACO_TRY(read_chunk(file, chunk, path));
    if (chunk.empty()) return number;
    std::string row;
    row.reserve(chunk.size() + chunk.size() / 16);
    for (const std::string& cell : {session_id, part, session_id, std::to_string(number)}) {
      append_cell(row, cell);
      row += '\t';
    }
    append_cell(row, chunk);
    row += '\n';
    AACO_TRY(server.insert(statement, std::move(row)));
  }
}

core::Status fetch_archive(const RemoteServer& server, const std::string& session_id, const std::string& path) {
  AACO_ASSIGN(const ArchivePart part, find_archive(server, session_id));
  const core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid()) return core::fail_errno(errno, path);
  const std::string table = remote::backticked(remote::whole_name(server.target(), std::string(remote::kArchiveTable)));
  for (std::int64_t first = 0; first < part.chunks; first += kChunksPerRead) {
    const std::int64_t end = std::min(first + kChunksPerRead, part.chunks);
    AACO_ASSIGN(const auto chunks,
                server.query(fmt::format("SELECT bytes FROM {} WHERE aaco_session = {} AND aaco_part = {} AND chunk >= {} AND "
                                         "chunk < {} ORDER BY chunk",
                                         table, remote::text_literal(session_id), remote::text_literal(part.id), first, end)));
    if (static_cast<std::int64_t>(chunks.rows.size()) != end - first)
      return tl::unexpected<core::Error>(missing_archive(server, session_id));
    for (const auto& row : chunks.rows) AACO_TRY(core::write_all(file.get(), row[0].value_or(""), path));
  }
  return {};
}

}  // namespace aaco::tracelake
