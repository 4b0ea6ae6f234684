#include "tests/estimates/measured_rows.h"

#include <cstdlib>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "formats/csv.h"
#include "importers/file_source.h"
#include "tests/support/source_dir.h"

namespace aaco::estimation {
namespace {

std::string whole_text(const std::string& path) {
  std::string text;
  auto source = importers::open_file_source(path);
  if (!source) return text;
  std::vector<char> buffer(1 << 20);
  while (true) {
    const auto count = (*source)->read(buffer);
    if (!count || *count == 0) return text;
    text.append(buffer.data(), *count);
  }
}

}  // namespace

std::string data_file(const std::string& name) {
  const char* root = std::getenv("AACO_REAL_DATA");
  return core::join_path(root != nullptr ? root : AACO_SOURCE_DIR "/../shared/data", "estimation/" + name);
}

std::vector<Row> rows_of(const std::string& path, std::size_t step) {
  const std::string text = whole_text(path);
  formats::csv::Decoder decoder;
  const char* at = text.data();
  const char* end = at + text.size();
  std::vector<std::string> header;
  std::vector<Row> rows;
  for (std::size_t index = 0; decoder.next(at, end, true) == formats::csv::Step::record; ++index) {
    const auto& fields = decoder.fields();
    if (header.empty()) {
      header.assign(fields.begin(), fields.end());
      continue;
    }
    if (index % step != 0 || fields.size() != header.size()) continue;
    Row row;
    for (std::size_t i = 0; i < fields.size(); ++i) row[header[i]] = fields[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

std::int64_t integer(const Row& row, const char* name) { return core::parse_i64(row.at(name)).value_or(1); }

Kernel gemm_of(const Row& row) {
  return {GemmShape{integer(row, "batch"), integer(row, "m"), integer(row, "n"), integer(row, "k")},
          canonical_type(row.at("dtype"))};
}

Kernel convolution_of(const Row& row) {
  const auto pair = [&row](const char* name, std::size_t which) {
    return core::parse_i64(core::split(row.at(name), 'x').at(which)).value_or(1);
  };
  ConvolutionShape shape{integer(row, "n"), integer(row, "c"), integer(row, "h"), integer(row, "w"),
                         integer(row, "k"), integer(row, "r"), integer(row, "s")};
  shape.pad_h = pair("pad", 0);
  shape.pad_w = pair("pad", 1);
  shape.stride_h = pair("stride", 0);
  shape.stride_w = pair("stride", 1);
  shape.dilation_h = pair("dilation", 0);
  shape.dilation_w = pair("dilation", 1);
  shape.groups = integer(row, "groups");
  return {shape, canonical_type(row.at("dtype"))};
}

}  // namespace aaco::estimation
