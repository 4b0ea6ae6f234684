#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::graph::onnx {

// The bytes of a model with random access, the first thing that went wrong with them, and what decoding them may still take in
// memory. Decoding goes on with empty values after an error; the caller asks for it once, at the end.
class Input {
 public:
  static core::Result<Input> open(const std::string& path);
  // Over bytes that outlive the input; `name` stands in messages and as the file of data locations.
  static Input of_memory(std::string_view bytes, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  // At least one and at most `length` bytes at `offset`, valid until the next call; empty at the end of the file and after an
  // error.
  std::string_view view(std::int64_t offset, std::int64_t length);
  // Exactly `length` bytes; empty and an error where the file has fewer.
  std::string copy(std::int64_t offset, std::int64_t length);

  void fail(core::ErrorCode code, std::string message, std::string remedy = {});
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] core::Status status() const;
  // Accounts for memory that a decoded part takes; fails with exhausted beyond the budget (a hostile file may be all structure).
  void charge(std::int64_t bytes);

 private:
  Input(std::string name, std::int64_t size) : name_(std::move(name)), size_(size) {}
  std::string name_;
  std::int64_t size_ = 0;
  core::FileDescriptor file_;
  std::string_view memory_;
  std::vector<char> window_;
  std::int64_t window_start_ = 0;
  std::optional<core::Error> error_;
  std::int64_t budget_ = std::int64_t{1} << 30;
};

}  // namespace aaco::graph::onnx
