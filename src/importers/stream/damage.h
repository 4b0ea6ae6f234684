#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "importers/importer.h"

namespace aaco::importers {

// A file that lacks its end (or its beginning): what was read is kept, the account is partial, and a warning says that totals are
// lower bounds. `kept` tells what and how much ("12 whole events before the cut").
void report_cut(ImportResult& result, std::string_view file, std::string_view how, std::string_view kept,
                std::string_view remedy);
// Bytes behind the end of a document, where there are any: the account is partial, and a warning says so.
void report_trailing(ImportResult& result, std::string_view file, std::int64_t bytes);
// Whether a reason of Account::dropped says that something the profiled program did is missing: a record that could not be used,
// not one that is kept elsewhere or says nothing of time. A new reason of that kind belongs into its list.
bool is_loss(std::string_view reason);
// Where the account has such records: a warning that counts them, so that they stand at the head of the report.
void report_losses(ImportResult& result, std::string_view file);
// ", after 12 bytes", for `how`.
std::string after_bytes(std::int64_t bytes);

}  // namespace aaco::importers
