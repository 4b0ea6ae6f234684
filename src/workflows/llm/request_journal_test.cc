#include "workflows/llm/request_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "workflows/session/llm_journal.h"

namespace aaco::workflows {
namespace {

using testing::HasSubstr;

serving::RequestRecord record(std::int64_t request, serving::Outcome outcome) {
  serving::RequestRecord record{
      .request = request, .conversation = 3, .scheduled_ns = 100 + request, .dispatched_ns = 101 + request};
  record.sent_ns = 110 + request;
  record.first_token_ns = 120 + request;
  record.end_ns = 150 + request;
  record.outcome = outcome;
  record.detail = outcome == serving::Outcome::ok ? "" : "no \"response\"\nwithin 1 s";
  record.usage.output_tokens = 7;
  record.content_chunks = 5;
  return record;
}

class RequestJournalTest : public testing::Test {
 protected:
  std::string path() const { return core::join_path(folder_.path(), kLlmJournal); }
  void write(std::string_view text) { ASSERT_TRUE(core::write_file_atomic(path(), text)); }
  core::Result<std::vector<trace::LlmRequestRow>> read() { return read_request_journal(folder_.path(), names_); }
  core::TemporaryDirectory folder_ = core::TemporaryDirectory::make(testing::TempDir()).value();
  trace::NameTable names_;
};

TEST_F(RequestJournalTest, RowsComeBack) {
  {
    const auto journal = RequestJournal::open(folder_.path()).value();
    journal->begin_level("warmup", "warmup", 0);
    journal->add(record(0, serving::Outcome::ok));
    journal->begin_level("measure", "concurrency 2", 1);
    journal->add(record(1, serving::Outcome::timeout));
    journal->add(record(0, serving::Outcome::ok));
  }
  const auto rows = read();
  ASSERT_TRUE(rows) << rows.error().text();
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ(names_.text(rows->at(0).phase), "warmup");
  const trace::LlmRequestRow& failed = rows->at(1);
  EXPECT_EQ(failed.request, 2);
  EXPECT_EQ(names_.text(failed.load), "concurrency 2");
  EXPECT_EQ(names_.text(failed.outcome), "timeout");
  EXPECT_EQ(names_.text(failed.detail), "no \"response\"\nwithin 1 s");
  const trace::LlmRequestRow& complete = rows->at(2);
  EXPECT_EQ(complete.request, 1);
  EXPECT_EQ(complete.conversation, 3);
  EXPECT_EQ(complete.sent_ns, 110);
  EXPECT_FALSE(complete.headers_ns);
  EXPECT_EQ(complete.end_ns, 150);
  EXPECT_EQ(complete.output_tokens, 7);
  EXPECT_EQ(names_.text(complete.token_source), "usage");
}
TEST_F(RequestJournalTest, DiscardRemovesIt) {
  RequestJournal::open(folder_.path()).value()->discard();
  EXPECT_FALSE(core::exists(path()));
}
TEST_F(RequestJournalTest, TornLastLineIsLeftOut) {
  write("{\"scheduled_ns\":1,\"end_ns\":2,\"outcome\":\"ok\"}\n{\"scheduled_ns\":1,\"end");
  EXPECT_EQ(read()->size(), 1U);
}
TEST_F(RequestJournalTest, RefusesAnInvalidLine) {
  write("{\"scheduled_ns\":1}\n{\"scheduled_ns\":1,\"end_ns\":2,\"outcome\":\"ok\"}\n");
  EXPECT_THAT(read().error().message, HasSubstr("line 1 is not a request"));
  write("torn\n{\"scheduled_ns\":1,\"end_ns\":2,\"outcome\":\"ok\"}\n");
  EXPECT_THAT(read().error().message, HasSubstr("line 1"));
}
TEST_F(RequestJournalTest, RefusesAFolderWithoutOne) { EXPECT_EQ(read().error().code, core::ErrorCode::not_found); }
TEST_F(RequestJournalTest, RefusesAMissingFolder) { EXPECT_FALSE(RequestJournal::open("/nonexistent")); }

}  // namespace
}  // namespace aaco::workflows
