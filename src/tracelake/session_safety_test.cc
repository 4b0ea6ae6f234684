#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "core/random.h"
#include "tracelake/lake.h"
#include "tracelake/testing/session_testing.h"

// What happens when the machine does not play along.
namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

class SessionSafetyTest : public SessionTest {
 protected:
  // Adds rows that stream (many) until the sink refuses or `limit` is reached.
  static core::Status fill(BundleWriter& writer, int limit) {
    core::Random random(1);
    for (int i = 0; i < limit; ++i) {
      trace::KernelRow row;
      row.name = writer.sink().name("kernel " + std::to_string(i % 1000));
      row.start_ns = i;
      row.end_ns = static_cast<std::int64_t>(random.next() >> 1);  // does not compress
      row.correlation_id = random.next();
      writer.sink().add(row);
      if (i % 4096 == 0) AACO_TRY(writer.sink().status());
    }
    return {};
  }

  void expect_only_whole_or_incomplete() {
    const auto entries = list_sessions(root);
    ASSERT_TRUE(entries);
    for (const SessionEntry& entry : *entries) {
      if (entry.manifest.state != "complete") {
        EXPECT_EQ(entry.manifest.state, "incomplete") << entry.path;
        ASSERT_TRUE(entry.writer);
        EXPECT_FALSE(entry.writer->alive);
        continue;
      }
      const auto findings = verify_session(entry.path);
      ASSERT_TRUE(findings) << findings.error().text();
      EXPECT_TRUE(findings->empty());
      trace::NameTable names;
      EXPECT_EQ(read_table<trace::IterationRow>(entry.path, names)->size(), 10u);
    }
  }
};

// The child makes one session after another and is killed at moments that the number of sessions it reports decides.
TEST_F(SessionSafetyTest, KilledWriterLeavesWholeSessionsAndMarkedOnes) {
  for (int round = 0; round < 6; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0;; ++i) {
        if (::write(ends[1], "x", 1) != 1) ::_exit(1);
        (void)make(manifest("r" + std::to_string(round) + "-" + std::to_string(i)));
      }
    }
    ::close(ends[1]);
    char byte = 0;
    for (int seen = 0; seen <= round; ++seen) ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    if (round % 2 == 1) std::this_thread::yield();
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    ::close(ends[0]);
    expect_only_whole_or_incomplete();
  }
}

TEST_F(SessionSafetyTest, WriterKilledWhileItStreamsLeavesAMarkedSessionThatCanBeRemoved) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto writer = create(manifest());
    (void)fill(*writer, 300'000);
    if (::write(ends[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::close(ends[0]);
  auto entries = *list_sessions(root);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_TRUE(entries[0].writer->alive);
  EXPECT_EQ(entries[0].writer->process_id, child);
  EXPECT_EQ(remove_session(entries[0].path).error().code, ErrorCode::conflict);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(list_sessions(root)->front().writer->alive);
  EXPECT_TRUE(remove_session(entries[0].path));
  EXPECT_TRUE(list_sessions(root)->empty());
}

TEST_F(SessionSafetyTest, FileTooLargeIsAnErrorAndTheSessionStaysMarked) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  auto writer = create(manifest());
  const rlimit small{1 << 20, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  (void)fill(*writer, 400'000);
  const auto closed = writer->close(manifest());
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, ErrorCode::exhausted) << closed.error().text();
  EXPECT_FALSE(closed.error().remedy.empty());
  writer.reset();
  EXPECT_EQ(list_sessions(root)->front().manifest.state, "incomplete");
}

TEST_F(SessionSafetyTest, FullDiskIsAnErrorAndFinishedSessionsStay) {
  const std::string disk = join_path(folder(), "disk");
  ASSERT_TRUE(core::make_directories(disk));
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "skipped, no permission to mount a small disk";
  root = disk;
  const std::string whole = make(manifest("whole"));
  auto writer = create(manifest("large"));
  (void)fill(*writer, 600'000);
  const auto closed = writer->close(manifest("large"));
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, ErrorCode::exhausted) << closed.error().text();
  writer.reset();
  EXPECT_TRUE(verify_session(whole) && verify_session(whole)->empty());
  EXPECT_EQ(find_session(root, "latest").value_or(""), whole);
  EXPECT_EQ(list_sessions(root)->size(), 2u);
  ::umount2(disk.c_str(), MNT_DETACH);
}

TEST_F(SessionSafetyTest, UnwritableFolderIsAnErrorWithRemedy) {
  ASSERT_TRUE(core::write_file_atomic(join_path(folder(), "file"), "x"));
  const auto in_file = BundleWriter::create(join_path(folder(), "file/sessions"), manifest());
  ASSERT_FALSE(in_file);
  EXPECT_FALSE(in_file.error().remedy.empty());
  if (::geteuid() == 0) {
    EXPECT_FALSE(BundleWriter::create("/proc/aaco", manifest()));
    return;
  }
  EXPECT_EQ(BundleWriter::create("/root/aaco", manifest()).error().code, ErrorCode::permission);
}

TEST_F(SessionSafetyTest, ManyWritersInOneRoot) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this, i] {
      for (int k = 0; k < 4; ++k) (void)make(manifest("w" + std::to_string(i) + "-" + std::to_string(k)));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(list_sessions(root)->size(), 32u);
  expect_only_whole_or_incomplete();
  EXPECT_TRUE(find_session(root, "latest"));
}

}  // namespace
}  // namespace aaco::tracelake
