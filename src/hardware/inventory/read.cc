#include "hardware/inventory/read.h"

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::hardware::inventory {
namespace {

constexpr std::int64_t kFileLimit = std::int64_t{16} << 20;  // /proc/cpuinfo of a thousand CPUs

}  // namespace

std::string MachineFiles::full(std::string_view path) const {
  if (path.starts_with('/')) path.remove_prefix(1);
  return core::join_path(root_, path);
}

std::optional<std::string> MachineFiles::text(std::string_view path) const {
  auto text = core::read_file(full(path), kFileLimit);
  if (!text) return std::nullopt;
  return std::string(core::trim(*text));
}

std::optional<std::int64_t> MachineFiles::integer(std::string_view path) const {
  const auto value = text(path);
  return value ? core::parse_i64(*value) : std::nullopt;
}

std::vector<std::string> MachineFiles::names(std::string_view folder) const {
  return core::list_directory(full(folder)).value_or(std::vector<std::string>{});
}

bool MachineFiles::exists(std::string_view path) const { return core::exists(full(path)); }

std::optional<std::int64_t> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  return digits.find_first_not_of("0123456789") == std::string_view::npos ? core::parse_i64(digits) : std::nullopt;
}

}  // namespace aaco::hardware::inventory
