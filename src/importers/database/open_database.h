#pragma once

#include <optional>

#include "core/files.h"
#include "formats/sqlite.h"
#include "trace/source.h"

namespace aaco::importers {

// A database, and the folder of our own that its copy lies in, where there is one.
struct OpenDatabase {
  std::optional<core::TemporaryDirectory> folder;
  formats::sqlite::Database database;  // closed before the folder goes
};

// A plain file is read where it lies, and nothing is written beside it. What is compressed or a pipe is written to the folder for
// temporary files first (as far as a reserve of free space stays), and so is a database with a journal or a write-ahead log
// beside it, which SQLite then brings in.
core::Result<OpenDatabase> open_database(trace::ByteSource& source);

// What Importer::sniff would see of a database whose first page told all: its magic number, and its tables with their columns in
// quotes. Tables may be described anywhere in a file.
std::string describe(const formats::sqlite::Database& database);
// The same of a plain file; empty where it is no database, or cannot be opened.
std::string describe_database(const std::string& path);

}  // namespace aaco::importers
