#include "collectors/ebpf/symbols.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/files.h"
#include "core/handles.h"
#include "core/strings.h"

namespace aaco::collectors::ebpf {
namespace {

constexpr std::size_t kMaxKernelSymbols = std::size_t{64} << 20;  // bytes of text
constexpr std::size_t kMaxFrameName = 160;

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct FreeText {
  void operator()(char* text) const { std::free(text); }
};

void put_in_order(std::vector<Symbol>& symbols) {
  std::stable_sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

// As source code has it, in one line, without what folded stacks use to separate frames.
std::string readable(std::string_view symbol) {
  std::string name(symbol);
  int failed = 0;
  if (const std::unique_ptr<char, FreeText> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed)); plain)
    name = plain.get();
  for (char& c : name)
    if (c == ';' || static_cast<unsigned char>(c) < 0x20) c = ':';
  if (name.size() > kMaxFrameName) name = name.substr(0, kMaxFrameName - 3) + "...";
  return name;
}

void add_symbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::vector<Symbol>& symbols) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const auto count = static_cast<int>(std::min<std::uint64_t>(header.sh_size / header.sh_entsize, INT32_MAX));
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) break;
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && *name != 0) symbols.push_back({symbol.st_value, symbol.st_size, name});
  }
}

}  // namespace

std::string_view symbol_of(const std::vector<Symbol>& symbols, std::uint64_t address) {
  const auto next = std::upper_bound(symbols.begin(), symbols.end(), address,
                                     [](std::uint64_t value, const Symbol& one) { return value < one.address; });
  if (next == symbols.begin()) return {};
  const Symbol& found = *std::prev(next);
  return found.size == 0 || address - found.address < found.size ? std::string_view(found.name) : std::string_view();
}

std::vector<Symbol> parse_kernel_symbols(std::string_view text) {
  std::vector<Symbol> symbols;
  for (const std::string_view line : core::split_lines(text)) {
    char* end = nullptr;
    const std::string address(line.substr(0, line.find(' ')));
    const std::uint64_t value = std::strtoull(address.c_str(), &end, 16);
    if (value == 0 || *end != 0 || line.size() < address.size() + 4) continue;
    const char type = line[address.size() + 1];
    if (type != 't' && type != 'T' && type != 'w' && type != 'W') continue;
    const std::string_view name = line.substr(address.size() + 3);
    symbols.push_back({value, 0, std::string(name.substr(0, name.find('\t')))});
  }
  put_in_order(symbols);
  return symbols;
}

std::string Symbols::kernel_function(std::uint64_t address) {
  if (!kernel_read_) {
    kernel_read_ = true;
    if (const auto text = core::read_file(root_.at("/proc/kallsyms"), kMaxKernelSymbols)) kernel_ = parse_kernel_symbols(*text);
  }
  return std::string(symbol_of(kernel_, address));
}

Symbols::File Symbols::read_file(const std::string& path) {
  File file;
  elf_version(EV_CURRENT);
  const core::FileDescriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (opened.get() < 0) return file;
  const std::unique_ptr<Elf, EndElf> elf(elf_begin(opened.get(), ELF_C_READ_MMAP, nullptr));
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return file;
  std::size_t segments = 0;
  if (elf_getphdrnum(elf.get(), &segments) != 0) return file;
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &header) != nullptr && header.p_type == PT_LOAD)
      file.segments.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
  }
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr; section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
      add_symbols(elf.get(), section, header, file.symbols);
  }
  put_in_order(file.symbols);
  return file;
}

std::string Symbols::user_function(const std::string& file, std::uint64_t file_offset) {
  if (file.empty()) return "[anonymous]";
  const std::string fallback = file.front() == '[' ? file : "[" + core::base_name(file) + "]";
  if (file.front() != '/') return fallback;
  const auto [place, fresh] = files_.try_emplace(file);
  if (fresh) place->second = read_file(file);
  for (const File::Segment& segment : place->second.segments) {
    if (file_offset < segment.file_offset || file_offset - segment.file_offset >= segment.size) continue;
    const std::string_view name = symbol_of(place->second.symbols, file_offset - segment.file_offset + segment.address);
    return name.empty() ? fallback : readable(name);
  }
  return fallback;
}

}  // namespace aaco::collectors::ebpf
