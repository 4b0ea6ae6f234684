#include "importers/discovery.h"

#include <algorithm>
#include <filesystem>

#include "core/files.h"
#include "formats/sqlite.h"
#include "importers/database/open_database.h"
#include "importers/file_source.h"
#include "importers/foreign_format.h"
#include "importers/stream/byte_order_mark.h"

namespace aaco::importers {
namespace {

namespace fs = std::filesystem;
constexpr int kLargestDepth = 8;
constexpr std::size_t kMaxFiles = 20000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Compares runs of digits by their value, everything else byte by byte.
bool natural_less(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const auto digits = [](std::string_view& text) {
        const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
        std::string_view run = text.substr(0, end);
        text.remove_prefix(end);
        while (run.size() > 1 && run[0] == '0') run.remove_prefix(1);
        return run;
      };
      const std::string_view x = digits(a);
      const std::string_view y = digits(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a[0] != b[0]) return a[0] < b[0];
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

core::Result<std::vector<std::string>> regular_files(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;  // what vanishes meanwhile is no regular file
    if (it.depth() >= kLargestDepth) it.disable_recursion_pending();
    if (!it->is_regular_file(ignored)) continue;
    if (paths.size() == kMaxFiles)
      return core::fail(core::ErrorCode::exhausted, folder + " contains more than " + std::to_string(kMaxFiles) + " files",
                        "pass the folder of a single trace");
    paths.push_back(it->path().string());
  }
  if (error) return core::fail_errno(error.value(), folder);
  std::sort(paths.begin(), paths.end(), natural_less);
  return paths;
}

core::Result<const Importer*> sniff_file(const std::string& path, const std::vector<std::unique_ptr<Importer>>& importers) {
  AACO_ASSIGN(std::string head, read_head(path));
  if (const auto size = core::file_size(path); head.empty() && size && *size > 0)
    return core::fail(core::ErrorCode::invalid_input,
                      path + ": none of its " + std::to_string(*size) + " compressed bytes can be decompressed",
                      "it is truncated or damaged: copy it again from its source");
  if (head.empty())
    return core::fail(core::ErrorCode::invalid_input, path + ": the file is empty",
                      "the profiler may have exited before writing, or the disk was full: profile again");
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF"))
    return core::fail(core::ErrorCode::invalid_input,
                      path + ": the text is UTF-16, as written by some shells when output is redirected",
                      "convert it to UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW");
  if (head.starts_with(kByteOrderMark)) head.erase(0, kByteOrderMark.size());  // a byte order mark says nothing of the format
  if (formats::sqlite::is_database(head))
    if (std::string tables = describe_database(path); !tables.empty()) head = std::move(tables);
  if (const Importer* importer = find_importer(importers, head, core::base_name(path))) return importer;
  if (auto known = foreign_format(head, path)) return tl::unexpected<core::Error>(std::move(*known));
  return core::fail(core::ErrorCode::invalid_input, path + ": unknown trace format",
                    "'aaco import --help' lists the supported formats; docs/how_to/add_an_importer.md shows how to add one");
}

}  // namespace

core::Result<Discovery> discover(const std::string& path, const std::vector<std::unique_ptr<Importer>>& importers) {
  Discovery found;
  found.is_folder = core::is_directory(path);
  if (!found.is_folder) {
    std::error_code unknown;  // what is not there fails below, with its reason
    if (const auto kind = fs::status(path, unknown).type();
        kind == fs::file_type::fifo || kind == fs::file_type::socket || kind == fs::file_type::character)
      return core::fail(core::ErrorCode::invalid_input, path + " is a pipe or a device, but a trace must be read more than once",
                        "write it to a file first (COMMAND > trace.json) and import the file");
    AACO_ASSIGN(const Importer* importer, sniff_file(path, importers));
    found.files.push_back({path, importer});
    return found;
  }
  AACO_ASSIGN(const auto paths, regular_files(path));
  if (paths.empty()) return core::fail(core::ErrorCode::invalid_input, path + ": the folder contains no files");
  for (const std::string& file : paths) {
    if (const auto importer = sniff_file(file, importers))
      found.files.push_back({file, *importer});
    else
      found.passed.push_back({file, importer.error().message});
  }
  if (found.files.empty() && core::exists(core::join_path(path, "session.json")))
    return core::fail(core::ErrorCode::invalid_input, path + ": a session of aaco, not a trace", "aaco report " + path);
  if (found.files.empty())
    return core::fail(core::ErrorCode::invalid_input,
                      "no supported trace among the " + std::to_string(found.passed.size()) + " files of " + path +
                          ", first: " + found.passed.front().reason,
                      "'aaco import --help' lists the supported formats");
  return found;
}

}  // namespace aaco::importers
