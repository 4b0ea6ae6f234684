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

constexpr const char* kUnpack =
    "unpack it and import what was in it; gzip and zstd are the compressed forms that are seen through";
constexpr const char* kNsightSystems = "nsys export --type sqlite FILE, then import the .sqlite file";
constexpr const char* kRocprofv3 = "profile with rocprofv3 --output-format rocpd (or json, or csv)";

constexpr std::array<Foreign, 19> kForeign = {{
    {"PK\x03\x04", "", "a zip archive", kUnpack},
    {"\xFD"
     "7zXZ",
     "", "an xz file", kUnpack},
    {"BZh", "", "a bzip2 file", kUnpack},
    {"7z\xBC\xAF", "", "a 7z archive", kUnpack},
    {"\x04\x22\x4D\x18", "", "an lz4 file", kUnpack},
    {"", ".tar", "a tar archive", "unpack it (tar xf FILE) and import the folder"},
    {"", ".nsys-rep", "a report of Nsight Systems in its own form", kNsightSystems},
    {"", ".qdrep", "a report of Nsight Systems in its own form", kNsightSystems},
    {"", ".qdstrm", "an unfinished capture of Nsight Systems",
     "make a report of it (QdstrmImporter), then nsys export --type sqlite"},
    {"", ".ncu-rep", "a report of Nsight Compute",
     "it has counters of kernels and no times: profile with nsys, and export to SQLite"},
    {"", ".pftrace", "a Perfetto trace", kRocprofv3},
    {"", ".perfetto-trace", "a Perfetto trace", kRocprofv3},
    {"", ".otf2", "an OTF2 trace", kRocprofv3},
    {"", ".xplane.pb", "a trace of the XLA profiler", "import the trace.json.gz beside it"},
    {"version https://git-lfs", "", "the pointer of a file in Git LFS, not the file", "git lfs pull, then import it again"},
    {"<!DOCTYPE", "", "a web page", "was it downloaded without signing in? Get the raw file"},
    {"<!doctype", "", "a web page", "was it downloaded without signing in? Get the raw file"},
    {"<html", "", "a web page", "was it downloaded without signing in? Get the raw file"},
    {"\x7F"
     "ELF",
     "", "a program", "import what a profiler wrote of it"},
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
       {std::pair(';', "semicolons between its columns"), std::pair('\t', "tabs between its columns"),
        std::pair('\r', "carriage returns alone as line ends")}) {
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
    return error_of(path, "the XML of nvidia-smi",
                    "write the log as text or CSV: nvidia-smi -q -l 1, or nvidia-smi --query-gpu=... --format=csv -l 1");
  if (head.find("\"schema\"") != std::string_view::npos && head.find("\"nodes\"") != std::string_view::npos &&
      (head.find("\"rf_id\"") != std::string_view::npos || head.find("\"ctrl_deps\"") != std::string_view::npos))
    return error_of(path, "an execution trace of PyTorch: operators and their inputs, without times of the GPU",
                    "import the profiler's trace of the same run (torch.profiler, export_chrome_trace)");
  if (const char* how = table_otherwise(head))
    return error_of(path, std::string("a profiler's table with ") + how,
                    "import the profiler's own file: a spreadsheet that writes such a table may have rounded its times too");
  return std::nullopt;
}

}  // namespace aaco::importers
