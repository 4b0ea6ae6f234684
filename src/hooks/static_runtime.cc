#include "hooks/static_runtime.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "core/files.h"
#include "core/handles.h"

namespace aaco::hooks {
namespace {

constexpr std::array<std::string_view, 3> kLaunches = {"cudaLaunchKernel", "hipLaunchKernel", "hipModuleLaunchKernel"};

template <class T>
std::optional<T> at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(std::string_view file, const Elf64_Shdr& strings, std::uint64_t offset) {
  if (strings.sh_offset > file.size() || strings.sh_size > file.size() - strings.sh_offset || offset >= strings.sh_size)
    return {};
  const std::string_view section = file.substr(strings.sh_offset + offset, strings.sh_size - offset);
  return section.substr(0, std::min(section.find('\0'), section.size()));
}

bool defines_launch(std::string_view file, const Elf64_Shdr& symbols, const Elf64_Shdr& strings) {
  if (symbols.sh_offset > file.size()) return false;
  const std::uint64_t count = std::min<std::uint64_t>(symbols.sh_size, file.size() - symbols.sh_offset) / sizeof(Elf64_Sym);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto symbol = at<Elf64_Sym>(file, symbols.sh_offset + i * sizeof(Elf64_Sym));
    if (!symbol || symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) continue;
    const std::string_view name = text_at(file, strings, symbol->st_name);
    if (std::find(kLaunches.begin(), kLaunches.end(), name) != kLaunches.end()) return true;
  }
  return false;
}

}  // namespace

bool has_static_runtime_bytes(std::string_view file) {
  const auto head = at<Elf64_Ehdr>(file, 0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
      head->e_shentsize != sizeof(Elf64_Shdr))
    return false;
  const auto section = [&](std::uint64_t index) {
    return index < head->e_shnum && head->e_shoff <= file.size()
               ? at<Elf64_Shdr>(file, head->e_shoff + index * sizeof(Elf64_Shdr))
               : std::nullopt;
  };
  for (std::uint64_t i = 0; i < head->e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || (symbols->sh_type != SHT_SYMTAB && symbols->sh_type != SHT_DYNSYM)) continue;
    const auto strings = section(symbols->sh_link);
    if (strings && defines_launch(file, *symbols, *strings)) return true;
  }
  return false;
}

// Mapped: of a large program only the pages with its symbols are read.
bool has_static_runtime(const std::string& path) {
  const core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!file.valid() || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0) return false;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  void* const address = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return false;
  const bool found = has_static_runtime_bytes({static_cast<const char*>(address), bytes});
  munmap(address, bytes);
  return found;
}

std::string program_name(const std::string& link) {
  std::array<char, 4096> target{};
  const ssize_t size = readlink(link.c_str(), target.data(), target.size());
  return size > 0 ? core::base_name(std::string(target.data(), static_cast<std::size_t>(size))) : link;
}

}  // namespace aaco::hooks
