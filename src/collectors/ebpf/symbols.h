#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectors/collector.h"

namespace aaco::collectors::ebpf {

struct Symbol {
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // 0: not known, up to the next
  std::string name;
};

// The symbol of an address among symbols in order; empty where none has it.
std::string_view symbol_of(const std::vector<Symbol>& symbols, std::uint64_t address);
// Functions of /proc/kallsyms, in order. Empty where the kernel hides its addresses.
std::vector<Symbol> parse_kernel_symbols(std::string_view text);

// Names of functions, as far as the kernel and the files have symbols.
class Symbols {
 public:
  explicit Symbols(SysRoot root) : root_(std::move(root)) {}
  // "futex_wait"; empty: not known.
  std::string kernel_function(std::uint64_t address);
  // "at::native::add"; where the file has no symbol for it, the file: "[libc.so.6]".
  std::string user_function(const std::string& file, std::uint64_t file_offset);

 private:
  struct File {
    struct Segment {
      std::uint64_t file_offset = 0, size = 0, address = 0;
    };
    std::vector<Segment> segments;
    std::vector<Symbol> symbols;
  };
  static File read_file(const std::string& path);

  SysRoot root_;
  bool kernel_read_ = false;
  std::vector<Symbol> kernel_;
  std::map<std::string, File> files_;
};

}  // namespace aaco::collectors::ebpf
