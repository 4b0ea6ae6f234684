#pragma once

#include <string>

#include "core/result.h"

// For tests: modules that read databases link aaco_formats_sqlite_testing into their test programs only.
namespace aaco::formats::sqlite {

// Makes (or changes) the database at `path` by running `sql`.
core::Status make_database(const std::string& path, const std::string& sql);

}  // namespace aaco::formats::sqlite
