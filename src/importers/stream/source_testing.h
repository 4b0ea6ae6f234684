#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "importers/importer.h"
#include "trace/sink.h"
#include "trace/source.h"

namespace aaco::importers {

// A text as a source, handed out at most `step` bytes at a time.
class TextSource final : public trace::ByteSource {
 public:
  explicit TextSource(std::string text, std::size_t step = SIZE_MAX) : text_(std::move(text)), step_(step) {}
  core::Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = text_.copy(into.data(), std::min(into.size(), step_), at_);
    at_ += count;
    return count;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::string path() const override { return {}; }

 private:
  std::string name_ = "text";
  std::string text_;
  std::size_t step_;
  std::size_t at_ = 0;
};

// An import of a text, and the rows it gave.
struct TextImport {
  core::Result<ImportResult> result;
  trace::MemorySink sink;
};

// `run` is called as run(source, sink), or is an importer.
template <class Run>
TextImport import_text(const Run& run, const std::string& text, std::size_t step = SIZE_MAX) {
  TextImport imported;
  TextSource source(text, step);
  imported.result = run(source, imported.sink);
  return imported;
}
inline TextImport import_text(const std::unique_ptr<Importer>& importer, const std::string& text, std::size_t step = SIZE_MAX) {
  return import_text([&](trace::ByteSource& source, trace::Sink& sink) { return importer->import(source, sink); }, text, step);
}

// What holds of every importer whatever the bytes: reading in small pieces changes nothing, what is read is kept or dropped by
// reason, and no kernel ends before it starts. Aborts where it does not. Empty where the text was refused.
template <class Run>
std::optional<TextImport> import_either_way(const Run& run, const std::string& text) {
  TextImport whole = import_text(run, text);
  const TextImport pieces = import_text(run, text, 7);
  if (whole.result.has_value() != pieces.result.has_value()) std::abort();
  if (!whole.result) return std::nullopt;
  const trace::Account& account = whole.result->account;
  if (account != pieces.result->account || whole.result->facts != pieces.result->facts) std::abort();
  if (account.read != account.kept + account.dropped_total()) std::abort();
  for (const auto& row : whole.sink.rows<trace::KernelRow>())
    if (row.end_ns < row.start_ns) std::abort();
  for (const auto& row : whole.sink.rows<trace::ApiCallRow>())
    if (row.end_ns < row.start_ns) std::abort();
  return whole;
}

}  // namespace aaco::importers
