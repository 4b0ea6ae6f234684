// The small things of core: hash, ids, clock, environment, random numbers, results, handles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <set>

#include "core/check.h"
#include "core/clock.h"
#include "core/environment.h"
#include "core/files.h"
#include "core/handles.h"
#include "core/hash.h"
#include "core/id.h"
#include "core/random.h"
#include "core/result.h"
#include "core/units.h"

namespace aaco::core {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

// The vectors of FIPS 180-4's examples.
TEST(Sha256, Nothing) { EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"); }
TEST(Sha256, Abc) { EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); }
TEST(Sha256, TwoBlocks) {
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}
TEST(Sha256, InParts) {
  Sha256 hash;
  for (const char* part : {"a", "", "bc"}) hash.add(part);
  EXPECT_EQ(hash.finish_hex(), sha256_hex("abc"));
}
TEST(Sha256, File) {
  const auto folder = *TemporaryDirectory::make(testing::TempDir());
  const std::string path = join_path(folder.path(), "a");
  ASSERT_TRUE(write_file_atomic(path, std::string(2'500'000, 'a')));
  EXPECT_EQ(*sha256_file(path), sha256_hex(std::string(2'500'000, 'a')));
}
TEST(Sha256, RefusesMissingFile) { EXPECT_EQ(sha256_file("/nowhere/a").error().code, ErrorCode::not_found); }
TEST(Sha256, RefusesFolder) { EXPECT_FALSE(sha256_file("/")); }

TEST(SessionIds, Form) { EXPECT_EQ(make_session_id(1'795'248'930'000'000'000, 0x123ABCDEF).text, "20261121T081530Z-abcdef"); }
TEST(SessionIds, ShortEntropyIsPadded) { EXPECT_THAT(make_session_id(0, 1).text, HasSubstr("-000001")); }
TEST(SessionIds, SortByTime) { EXPECT_LT(make_session_id(1'000'000'000, 9), make_session_id(2'000'000'000, 1)); }
TEST(Ids, InvalidUntilSet) { EXPECT_FALSE(Id<struct AnyTag>().valid()); }

TEST(Clocks, Iso8601) { EXPECT_EQ(iso8601_utc(1'795'248'930'999'999'999), "2026-11-21T08:15:30Z"); }
TEST(Clocks, NamesRoundTrip) {
  for (ClockId id : {ClockId::monotonic, ClockId::monotonic_raw, ClockId::boottime, ClockId::realtime, ClockId::tsc, ClockId::gpu,
                     ClockId::trace})
    EXPECT_EQ(clock_from_string(to_string(id)), id);
}
TEST(Clocks, RefusesUnknownName) { EXPECT_EQ(clock_from_string("wall"), std::nullopt); }
TEST(Clocks, NeverGoesBack) {
  const std::int64_t before = monotonic_ns();
  EXPECT_LE(before, SystemClock().now_ns(ClockId::monotonic));
}
TEST(Clocks, SleepReachesItsDeadline) {
  const std::int64_t deadline = monotonic_ns() + 2'000'000;
  SystemClock().sleep_until(deadline);
  EXPECT_GE(monotonic_ns(), deadline);
}

Paths paths(std::map<std::string, std::string> variables) {
  return Paths::find(Environment(std::move(variables)), "/opt/x/bin/aaco");
}
TEST(FindPaths, ShareIsNextToTheProgram) { EXPECT_EQ(paths({}).share, "/opt/x/share/aaco"); }
TEST(FindPaths, ShareByVariable) { EXPECT_EQ(paths({{"AACO_SHARE", "/s"}}).share, "/s"); }
TEST(FindPaths, CacheBelowHome) { EXPECT_EQ(paths({{"HOME", "/h"}}).cache, "/h/.cache/aaco"); }
TEST(FindPaths, CacheByXdg) { EXPECT_EQ(paths({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}}).cache, "/c/aaco"); }
TEST(FindPaths, RegistryByVariable) { EXPECT_EQ(paths({{"AACO_REGISTRY", "/r"}}).registry, "/r"); }
TEST(FindPaths, RegistryByDefault) { EXPECT_EQ(paths({{"HOME", "/h"}}).registry, "/h/.local/share/aaco"); }
TEST(FindPaths, SessionsAreAbsolute) { EXPECT_EQ(paths({}).sessions.front(), '/'); }
TEST(FindPaths, EmptyVariableCountsAsUnset) {
  EXPECT_EQ(paths({{"HOME", "/h"}, {"AACO_REGISTRY", ""}}).registry, "/h/.local/share/aaco");
}
TEST(FindPaths, WithoutHomeAvoidsWorldWritableFolder) { EXPECT_EQ(paths({}).cache, "/nonexistent/.cache/aaco"); }
TEST(Executable, IsThisTest) { EXPECT_EQ(base_name(executable_path()), "aaco_core_test"); }

TEST(RandomNumbers, SameSeedSameNumbers) {
  Random a(7), b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}
TEST(RandomNumbers, OtherSeedOtherNumbers) { EXPECT_NE(Random(7).next(), Random(8).next()); }
TEST(RandomNumbers, ForksAreIndependent) { EXPECT_NE(Random(7).fork(0).next(), Random(7).fork(1).next()); }
TEST(RandomNumbers, ForkDoesNotDependOnUse) {
  Random used(7);
  (void)used.next();
  EXPECT_EQ(used.fork(3).next(), Random(7).fork(3).next());
}
TEST(RandomNumbers, BelowStaysBelow) {
  Random random(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(5));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4}));
}
TEST(RandomNumbers, BelowOne) { EXPECT_EQ(Random(1).below(1), 0u); }
TEST(RandomNumbers, NormalHasItsMoments) {
  Random random(1);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}
TEST(RandomNumbers, EntropyDiffers) { EXPECT_NE(system_entropy(), system_entropy()); }
TEST(RandomNumbersDeathTest, BelowZero) { EXPECT_DEATH((void)Random(1).below(0), "internal error"); }

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorCode::invalid_argument, "odd", "give an even one");
  return value / 2;
}
Result<int> quarter(int value) {
  AACO_ASSIGN(const int first, half(value));
  AACO_ASSIGN(const int second, half(first));
  return second;
}
Status is_even(int value) {
  AACO_TRY(half(value));
  return {};
}
TEST(Results, ValuePassesThrough) { EXPECT_EQ(quarter(12).value(), 3); }
TEST(Results, ErrorPassesThrough) { EXPECT_EQ(quarter(6).error().message, "odd"); }
TEST(Results, TryPassesThrough) { EXPECT_TRUE(is_even(2) && !is_even(3)); }
TEST(Results, TextOrdersContextFromTheOutside) {
  const Error error = Error{ErrorCode::io, "broken", "mend it", {}}.with("reading a").with("opening b");
  EXPECT_EQ(error.text(), "opening b: reading a: broken\n  hint: mend it");
}
TEST(Results, ErrnoKinds) {
  EXPECT_EQ(fail_errno(EACCES, "x").value().code, ErrorCode::permission);
  EXPECT_EQ(fail_errno(EROFS, "x").value().code, ErrorCode::permission);
  EXPECT_EQ(fail_errno(ENOSPC, "x").value().code, ErrorCode::exhausted);
  EXPECT_EQ(fail_errno(ENOENT, "x").value().code, ErrorCode::not_found);
  EXPECT_EQ(fail_errno(EIO, "x").value().code, ErrorCode::io);
}
TEST(Results, FullDiskHasARemedy) { EXPECT_THAT(fail_errno(ENOSPC, "x").value().remedy, HasSubstr("free some disk space")); }

TEST(Handles, LibraryFunction) {
  const auto library = SharedLibrary::open("libm.so.6");
  ASSERT_TRUE(library);
  EXPECT_EQ(library->function<double (*)(double)>("floor")(2.5), 2);
}
TEST(Handles, MissingSymbolIsNull) { EXPECT_EQ(SharedLibrary::open("libm.so.6")->symbol("aaco_nothing"), nullptr); }
TEST(Handles, MissingLibraryIsUnsupported) {
  const auto library = SharedLibrary::open("libaaco_nothing.so");
  EXPECT_EQ(library.error().code, ErrorCode::unsupported);
  EXPECT_THAT(library.error().message, HasSubstr("libaaco_nothing.so"));
}
TEST(Handles, RejectsFileThatIsNotALibrary) {
  EXPECT_EQ(SharedLibrary::open("/etc/passwd").error().code, ErrorCode::unsupported);
}
TEST(Handles, DescriptorMoves) {
  FileDescriptor first(::dup(2));
  FileDescriptor second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_TRUE(second.valid());
}

TEST(Units, Seconds) { EXPECT_DOUBLE_EQ(to_seconds(Nanoseconds(1'500'000'000)), 1.5); }
TEST(CheckDeathTest, ReportsInternalError) { EXPECT_DEATH(AACO_CHECK(1 == 2), "check '1 == 2' failed"); }

}  // namespace
}  // namespace aaco::core
