#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::hardware::inventory {

// Small files of /proc and /sys below a root that is a parameter. What cannot be read is empty.
class MachineFiles {
 public:
  explicit MachineFiles(std::string root) : root_(std::move(root)) {}
  // `path` is absolute ("/proc/meminfo"); the answer is trimmed of white space and NUL bytes.
  [[nodiscard]] std::optional<std::string> text(std::string_view path) const;
  [[nodiscard]] std::string text_or_empty(std::string_view path) const { return text(path).value_or(""); }
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> names(std::string_view folder) const;  // sorted
  [[nodiscard]] bool exists(std::string_view path) const;
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  [[nodiscard]] std::string full(std::string_view path) const;
  std::string root_;
};

// "prefix12" -> 12; empty where something else follows the prefix.
std::optional<std::int64_t> number_after(std::string_view name, std::string_view prefix);

}  // namespace aaco::hardware::inventory
