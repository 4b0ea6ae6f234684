#include "importers/database/open_database.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

namespace aaco::importers {
namespace {

namespace fs = std::filesystem;
using formats::sqlite::Database;

constexpr std::int64_t kReserveBytes = std::int64_t{256} << 20;  // stays free on the disk of the temporary files
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

core::Result<core::TemporaryDirectory> temporary_folder() {
  std::error_code none;
  const fs::path parent = fs::temp_directory_path(none);
  return core::TemporaryDirectory::make(none ? "/tmp" : parent.string(), "aaco-database");
}

core::Status check_room(const std::string& folder, std::int64_t wanted_bytes) {
  AACO_ASSIGN(const std::int64_t room, core::free_space(folder));
  if (room >= wanted_bytes + kReserveBytes) return {};
  return core::fail(core::ErrorCode::exhausted, folder + " has too little free space to decompress the database",
                    "decompress the database and import the plain file, or set TMPDIR to a larger disk");
}

core::Status write_whole(trace::ByteSource& source, const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (!file) return core::fail_errno(errno, path);
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    AACO_ASSIGN(const std::size_t count, source.read(piece));
    if (count == 0) break;
    AACO_TRY(check_room(core::parent_path(path), static_cast<std::int64_t>(count)));
    if (std::fwrite(piece.data(), 1, count, file.get()) != count) return core::fail_errno(errno, path);
  }
  if (std::fflush(file.get()) != 0) return core::fail_errno(errno, path);
  return {};
}

// Non-empty files that belong to a database which was not closed.
std::vector<std::string> companions(const std::string& path) {
  std::vector<std::string> found;
  for (const char* suffix : {"-wal", "-journal"})
    if (const auto size = core::file_size(path + suffix); size && *size > 0) found.emplace_back(suffix);
  return found;
}

core::Status copy_file(const std::string& from, const std::string& to) {
  AACO_ASSIGN(const std::int64_t size, core::file_size(from));
  AACO_TRY(check_room(core::parent_path(to), size));
  std::error_code problem;
  fs::copy_file(from, to, problem);
  if (problem) return core::fail_errno(problem.value(), "copying " + from);
  return {};
}

}  // namespace

core::Result<OpenDatabase> open_database(trace::ByteSource& source) {
  const std::string path = source.path();
  std::error_code none;
  const bool plain = !path.empty() && fs::is_regular_file(path, none);
  const auto beside = plain ? companions(path) : std::vector<std::string>();
  if (plain && beside.empty()) {
    AACO_ASSIGN(auto database, Database::open(path));
    return OpenDatabase{std::nullopt, std::move(database)};
  }
  AACO_ASSIGN(auto folder, temporary_folder());
  const std::string copy = core::join_path(folder.path(), "copy.db");
  if (plain) {
    AACO_TRY(copy_file(path, copy));
    for (const std::string& suffix : beside) AACO_TRY(copy_file(path + suffix, copy + suffix));
  } else {
    AACO_TRY(write_whole(source, copy));
  }
  auto database = Database::open(copy, plain ? Database::Mode::own_copy : Database::Mode::immutable);
  if (!database) {
    core::Error error = std::move(database.error());  // it names the copy, which goes
    if (const auto at = error.message.find(copy); at != std::string::npos) error.message.replace(at, copy.size(), source.name());
    return tl::unexpected<core::Error>(std::move(error));
  }
  return OpenDatabase{std::move(folder), std::move(*database)};
}

std::string describe(const Database& database) {
  std::string text("SQLite format 3\0", 16);
  for (const auto& table : database.tables()) {
    text.append(" \"").append(table.name).append("\"(");
    for (const std::string& column : table.columns) text.append("\"").append(column).append("\" ");
    text += ')';
  }
  return text;
}

std::string describe_database(const std::string& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return {};
  const auto database = Database::open(path);
  return database ? describe(*database) : std::string();
}

}  // namespace aaco::importers
