#include "collectors/ebpf/stack_book.h"

#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::collectors::ebpf {
namespace {

constexpr const char* kMaps =
    "00400000-00401000 r--p 00000000 08:01 5 /usr/bin/tool\n"
    "00401000-00410000 r-xp 00001000 08:01 5 /usr/bin/tool\n"
    "7f0000000000-7f0000001000 r-xp 00000000 00:00 0 \n"
    "7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]\n";

TEST(MemoryMap, KeepsWhatIsExecuted) {
  const auto maps = parse_maps(kMaps);
  ASSERT_EQ(maps.size(), 3U);
  EXPECT_EQ(maps[0], (Mapping{0x401000, 0x410000, 0x1000, "/usr/bin/tool"}));
  EXPECT_EQ(maps[1].file, "");
  EXPECT_EQ(maps[2].file, "[vdso]");
}
TEST(MemoryMap, FileNamesMayHaveSpaces) {
  EXPECT_EQ(parse_maps("1000-2000 r-xp 0 08:01 5 /opt/my tool (deleted)\n").at(0).file, "/opt/my tool (deleted)");
}
TEST(MemoryMap, InvalidLinesAreLeftOut) {
  EXPECT_TRUE(parse_maps("").empty());
  EXPECT_TRUE(
      parse_maps("nonsense\n1000 r-xp 0 0 0 x\n2000-1000 r-xp 0 0 0 x\nzz-ff r-xp 0 0 0 x\n1-2 r-xp - 0 0 x\n1-2 r\n").empty());
}
TEST(MemoryMap, AnAddressIsInItsMappingOnly) {
  const auto maps = parse_maps(kMaps);
  EXPECT_EQ(mapping_of(maps, 0x401000)->file, "/usr/bin/tool");
  EXPECT_EQ(mapping_of(maps, 0x410000), nullptr);
  EXPECT_EQ(mapping_of(maps, 0x400fff), nullptr);
  EXPECT_EQ(mapping_of({}, 1), nullptr);
}

TEST(KernelSymbols, FunctionsInOrder) {
  const auto symbols = parse_kernel_symbols("ffff2000 T second\nffff1000 t first\nffff1800 D data\nffff3000 t third\t[module]\n");
  EXPECT_EQ(symbol_of(symbols, 0xffff1fff), "first");
  EXPECT_EQ(symbol_of(symbols, 0xffff2000), "second");
  EXPECT_EQ(symbol_of(symbols, 0xffff9000), "third");
  EXPECT_EQ(symbol_of(symbols, 0xffff0fff), "");
}
TEST(KernelSymbols, HiddenAddressesYieldNoSymbols) {
  EXPECT_TRUE(parse_kernel_symbols("0000000000000000 T hidden\n0000000000000000 t too\n").empty());
  EXPECT_TRUE(parse_kernel_symbols("\nT\nffff T\nxyz T name\n").empty());
}
TEST(SymbolOf, PastItsEndYieldsNoName) {
  EXPECT_EQ(symbol_of({{0x100, 0x10, "short"}}, 0x10f), "short");
  EXPECT_EQ(symbol_of({{0x100, 0x10, "short"}}, 0x110), "");
}

TEST(Symbols, AFileWithoutSymbolsIsNamed) {
  Symbols symbols({"/nowhere"});
  EXPECT_EQ(symbols.user_function("/nowhere/libx.so.6", 0x10), "[libx.so.6]");
  EXPECT_EQ(symbols.user_function("/etc/passwd", 0x10), "[passwd]");  // no program
  EXPECT_EQ(symbols.user_function("/dev/null", 0x10), "[null]");
  EXPECT_EQ(symbols.user_function("[vdso]", 0x10), "[vdso]");
  EXPECT_EQ(symbols.user_function("", 0x10), "[anonymous]");
  EXPECT_EQ(symbols.kernel_function(0xffff1000), "");
}
TEST(Symbols, FindsAFunctionOfThisProgram) {
  const auto text = core::read_file("/proc/self/maps");
  ASSERT_TRUE(text);
  const auto address = reinterpret_cast<std::uint64_t>(&parse_maps);
  const auto maps = parse_maps(*text);
  const Mapping* mapping = mapping_of(maps, address);
  ASSERT_NE(mapping, nullptr);
  const std::string name = Symbols({"/"}).user_function(mapping->file, address - mapping->begin + mapping->file_offset);
  if (name.front() == '[') GTEST_SKIP() << "the test program is stripped";
  EXPECT_EQ(name.substr(0, name.find('(')), "aaco::collectors::ebpf::parse_maps");
}

// A machine with two stacks, below a folder of its own.
class FakeStacks final : public EventSource {
 public:
  void set_enabled(bool) override {}
  void skip_this_thread() override {}
  void adopt(std::uint32_t, bool) override {}
  void forget(std::uint32_t) override {}
  void read(std::vector<WireEvent>&) override {}
  [[nodiscard]] std::vector<std::uint64_t> stack(std::int32_t key) const override {
    if (key == 1) return {0x401010, 0x401020, 0x99999999};  // walked astray at its outer end
    if (key == 2) return {0xffff1010, 0xffff2010, 0xffff3010};
    return {};
  }
  [[nodiscard]] SourceCounts counts() const override { return {}; }
  [[nodiscard]] const std::vector<Attachment>& attachments() const override { return attachments_; }

 private:
  std::vector<Attachment> attachments_;
};

struct StackBookTest : ::testing::Test {
  core::Result<core::TemporaryDirectory> folder = core::TemporaryDirectory::make("/tmp", "aaco-stacks");
  FakeStacks source;
  void SetUp() override {
    ASSERT_TRUE(folder);
    ASSERT_TRUE(core::make_directories(folder->path() + "/proc/7"));
    ASSERT_TRUE(core::write_file_atomic(folder->path() + "/proc/7/maps", kMaps));
    ASSERT_TRUE(core::write_file_atomic(folder->path() + "/proc/kallsyms",
                                        "ffff1000 t __schedule\nffff2000 t futex_wait\nffff3000 t do_syscall\n"));
  }
  static WireEvent leaving(std::uint32_t process, std::int32_t user, std::int32_t kernel) {
    WireEvent event{};
    event.kind = wire_switch;
    event.process = process;
    event.user_stack = user;
    event.kernel_stack = kernel;
    return event;
  }
};

TEST_F(StackBookTest, UserFramesThenKernelFramesOutermostFirst) {
  StackBook book({folder->path()});
  book.note(leaving(7, 1, 2), source, 1);
  book.add({"main", 7, 1, 2, "futex"}, 30);
  book.add({"main", 7, 1, 2, "futex"}, 12);
  const auto stacks = book.stacks();
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0], (OffCpuStack{"main", {"[tool]", "do_syscall_[k]", "futex_wait_[k]"}, 42, 2}));
}
TEST_F(StackBookTest, WithoutAStackTheSystemCallIsTheFrame) {
  StackBook book({folder->path()});
  book.add({"main", 7, wire_no_stack, wire_no_stack, "read"}, 5);
  EXPECT_EQ(book.stacks().at(0).frames, std::vector<std::string>{"[read]"});
}
TEST_F(StackBookTest, AProcessThatHasEndedHasKernelFramesOnly) {
  StackBook book({folder->path()});
  book.note(leaving(8, 1, 2), source, 1);
  book.add({"gone", 8, 1, 2, ""}, 5);
  EXPECT_EQ(book.stacks().at(0).frames, (std::vector<std::string>{"do_syscall_[k]", "futex_wait_[k]"}));
}
TEST_F(StackBookTest, MostTimeFirst) {
  StackBook book({folder->path()});
  book.add({"short", 7, wire_no_stack, 2, ""}, 5);
  book.add({"long", 7, wire_no_stack, 2, ""}, 50);
  EXPECT_EQ(book.stacks().at(0).thread, "long");
  EXPECT_TRUE(StackBook({folder->path()}).stacks().empty());
}

}  // namespace
}  // namespace aaco::collectors::ebpf
