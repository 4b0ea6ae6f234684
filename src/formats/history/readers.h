#pragma once

#include <map>
#include <string>

#include "core/json.h"
#include "formats/history.h"

namespace aaco::formats::history {

// Series by name, in the order they first occur.
class SeriesBook {
 public:
  explicit SeriesBook(Document& document) : document_(document) {}
  Series& at(const std::string& name) {
    const auto [found, added] = index_.try_emplace(name, document_.series.size());
    if (added) document_.series.push_back({name, {}, {}, {}});
    return document_.series[found->second];
  }

 private:
  Document& document_;
  std::map<std::string, std::size_t> index_;
};

// Benchmarks that keep statistics (pytest-benchmark) or the times of every run (hyperfine); each where its is_ function says so.
bool is_pytest_benchmark(const core::Json& root);
Document read_pytest_benchmark(const core::Json& root);
bool is_hyperfine(const core::Json& root);
Document read_hyperfine(const core::Json& root);

core::Result<Document> read_json(const core::Json& root, const std::string& name);
core::Result<Document> read_table(std::string_view text, const std::string& name, const Filter& filter);

// Adds a point if the value is a finite number, else counts why not.
void add_value(std::optional<double> value, Point point, Series& series, Document& document);

}  // namespace aaco::formats::history
