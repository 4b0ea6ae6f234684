#include "importers/foreign_format.h"

#include <algorithm>
#include <array>

#include "core/files.h"
#include "core/strings.h"
#include "importers/nsys_stats.h"
#include "importers/rocm_tables.h"

namespace aaco::importers {
namespace {

struct Foreign {
  std::string_view start;      // of the bytes; empty: any
  std::string_view extension;  // of the name, in lower case; empty: any
  const char* what;
  const char* remedy;
};

constexpr const char* kUnpack = "unpack it and import the contents; only gzip and zstd are decompressed on the fly";
constexpr const char* kNsightSystems = "nsys export --type sqlite FILE, then import the .sqlite file";
constexpr const char* kRocprofv3 = "profile with rocprofv3 --output-format rocpd (or json, or csv)";

constexpr std::array<Foreign, 20> kForeign = {{
    {"PK\x03\x04", "", "a zip archive", kUnpack},
    {"\xFD"
     "7zXZ",
     "", "an xz file", kUnpack},
    {"BZh", "", "a bzip2 file", kUnpack},
    {"7z\xBC\xAF", "", "a 7z archive", kUnpack},
    {"\x04\x22\x4D\x18", "", "an lz4 file", kUnpack},
    {"", ".tar", "a tar archive", "unpack it (tar xf FILE) and import the folder"},
    {"", ".nsys-rep", "a native Nsight Systems report", kNsightSystems},
    {"", ".qdrep", "a native Nsight Systems report", kNsightSystems},
    {"", ".qdstrm", "an unprocessed Nsight Systems capture",
     "convert it to a report (QdstrmImporter), then nsys export --type sqlite"},
    {"", ".ncu-rep", "an Nsight Compute report",
     "it has kernel counters but no timeline: profile with nsys and export to SQLite"},
    {"", ".pftrace", "a Perfetto trace without track events that can be read", kRocprofv3},
    {"", ".perfetto-trace", "a Perfetto trace without track events that can be read", kRocprofv3},
    {"", ".otf2", "an OTF2 trace", kRocprofv3},
    {"", ".xplane.pb", "an XLA profile without a known plane, or a damaged one",
     "profile with jax.profiler.start_trace(), or import the trace.json.gz from the same folder"},
    {"SQLite format 3", "", "a SQLite database without the tables of a known profiler",
     "supported: rocprofv3 (rocpd), rocmProfileData, rocprof and Nsight Systems exports"},
    {"version https://git-lfs", "", "a Git LFS pointer, not the file itself", "run git lfs pull, then import it again"},
    {"<!DOCTYPE", "", "a web page", "possibly downloaded without signing in: download the raw file"},
    {"<!doctype", "", "a web page", "possibly downloaded without signing in: download the raw file"},
    {"<html", "", "a web page", "possibly downloaded without signing in: download the raw file"},
    {"\x7F"
     "ELF",
     "", "an executable", "profile it and import the resulting trace"},
}};

bool is_tar(std::string_view head) {
  constexpr std::size_t kMagicAt = 257;
  return head.size() > kMagicAt + 5 && head.substr(kMagicAt, 5) == "ustar";
}

bool is_table(const std::string& head) {
  return rocm_table_of(head).has_value() ||
         nsys_stats::report_of(head).value_or(nsys_stats::Report::unusable) != nsys_stats::Report::unusable;
}

// A table that a spreadsheet has saved in a language with decimal commas, or with tabs, or with the line ends of old.
const char* table_otherwise(std::string_view head) {
  for (const auto& [separator, what] :
       {std::pair(';', "semicolons as column separators"), std::pair('\t', "tabs as column separators"),
        std::pair('\r', "carriage returns as line endings")}) {
    if (head.find(separator) == std::string_view::npos) continue;
    std::string with_commas(head);
    std::replace(with_commas.begin(), with_commas.end(), separator, separator == '\r' ? '\n' : ',');
    if (is_table(with_commas)) return what;
  }
  return nullptr;
}

core::Error error_of(const std::string& path, const std::string& what, const std::string& remedy) {
  return {core::ErrorCode::invalid_input, path + ": " + what, remedy, {}};
}

}  // namespace

std::optional<core::Error> foreign_format(std::string_view head, const std::string& path) {
  const std::string name = core::to_lower(core::base_name(path));
  for (const Foreign& each : kForeign)
    if (head.starts_with(each.start) && name.ends_with(each.extension)) return error_of(path, each.what, each.remedy);
  if (is_tar(head)) return error_of(path, "a tar archive", "unpack it (tar xf FILE) and import the folder");
  if (head.find("<nvidia_smi_log>") != std::string_view::npos)
    return error_of(path, "an nvidia-smi XML log",
                    "write the log as text or CSV: nvidia-smi -q -l 1, or nvidia-smi --query-gpu=... --format=csv -l 1");
  if (head.find("\"schema\"") != std::string_view::npos && head.find("\"nodes\"") != std::string_view::npos &&
      (head.find("\"rf_id\"") != std::string_view::npos || head.find("\"ctrl_deps\"") != std::string_view::npos))
    return error_of(path, "a PyTorch execution trace: operators and their inputs, without GPU times",
                    "import the profiler's trace of the same run (torch.profiler, export_chrome_trace)");
  if (const char* how = table_otherwise(head))
    return error_of(path, std::string("a profiler table with ") + how,
                    "import the original profiler file: the spreadsheet that saved this table may also have rounded its times");
  return std::nullopt;
}

}  // namespace aaco::importers
