#include "trace/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::trace {
namespace {

using core::Json;
using testing::HasSubstr;

SessionManifest full() {
  SessionManifest manifest;
  manifest.id.text = "20261121T081530Z-3f9a1c";
  manifest.kind = "run";
  manifest.tag = "nightly";
  manifest.tool_version = "0.1.0";
  manifest.created_realtime_ns = 1'763'712'930'123'456'789;
  manifest.command = {"aaco", "run", "--model", "a b"};
  manifest.request = Json::object({{"batch", 4}});
  manifest.outcome = outcome_from_json(Json::object({{"provider", "cpu"}}));
  manifest.phases = {{"warmup", 10, 20}, {"measure", 20, 90}};
  manifest.clocks.add({{core::ClockId::realtime, 5}, {core::ClockId::monotonic, 1}, 30});
  Account account{.source = "proc", .state = Account::State::partial, .reason = "no permission for /proc/1/io"};
  account.keep(5);
  account.drop("late", 2);
  account.notes = {"cut at byte 7"};
  manifest.accounts = {account};
  manifest.warnings = {{"telemetry.gpu_missing", "There is no GPU", "aaco doctor"}, {"x", "y", ""}};
  manifest.fingerprint = "abc";
  manifest.hashes = {{"env.json", "00ff"}};
  manifest.state = "interrupted";
  return manifest;
}
// The manifest's document with one member replaced, or taken out where the value is empty.
Json with(std::string_view key, std::optional<Json> value) {
  Json out = Json::object();
  const Json document = to_json(full());
  for (const auto& [name, member] : document.members())
    if (name != key) out.set(name, member);
  if (value) out.set(key, *std::move(value));
  return out;
}
std::string refusal(const Json& document) {
  const auto result = session_from_json(document);
  return result ? "accepted" : result.error().text();
}

TEST(SessionJson, RoundTripThroughText) {
  const std::string text = to_json(full()).dump();
  const auto read = session_from_json(*Json::parse(text));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(to_json(*read).dump(), text);
}
TEST(SessionJson, RoundTripKeepsValues) {
  const auto read = *session_from_json(to_json(full()));
  EXPECT_EQ(read.phases, full().phases);
  EXPECT_EQ(read.accounts, full().accounts);
  EXPECT_EQ(read.warnings, full().warnings);
  EXPECT_EQ(read.clocks.pairs(), full().clocks.pairs());
  EXPECT_EQ(read.created_realtime_ns, full().created_realtime_ns);
  EXPECT_EQ(read.command, full().command);
  EXPECT_EQ(read.hashes, full().hashes);
}
TEST(SessionJson, MinimalDocument) {
  EXPECT_EQ(
      session_from_json(*Json::parse(R"({"schema_version":1,"session_id":"a","kind":"run","home_clock":"trace"})"))->home_clock,
      core::ClockId::trace);
}
TEST(SessionJson, WithoutStateItIsIncomplete) { EXPECT_EQ(session_from_json(with("state", std::nullopt))->state, "incomplete"); }
TEST(SessionJson, UnknownMembersAreIgnored) { EXPECT_TRUE(session_from_json(with("added_later", 1))); }
TEST(SessionJson, CreatedIsReadable) { EXPECT_EQ(to_json(full())["created"].text(), "2025-11-21T08:15:30Z"); }

TEST(SessionRefuses, NewerVersion) {
  const auto result = session_from_json(with("schema_version", kSessionSchemaVersion + 1));
  EXPECT_EQ(result.error().code, core::ErrorCode::unsupported);
  EXPECT_THAT(result.error().text(), HasSubstr("schema version " + std::to_string(kSessionSchemaVersion + 1)));
  EXPECT_THAT(result.error().remedy, HasSubstr("newer"));
}
TEST(SessionRefuses, HugeVersion) { EXPECT_THAT(refusal(with("schema_version", INT64_MAX)), HasSubstr("9223372036854775807")); }
TEST(SessionRefuses, NoVersion) {
  EXPECT_THAT(refusal(with("schema_version", std::nullopt)), HasSubstr("schema_version is missing"));
}
TEST(SessionRefuses, VersionZero) { EXPECT_NE(refusal(with("schema_version", 0)), "accepted"); }
TEST(SessionRefuses, VersionAsText) { EXPECT_NE(refusal(with("schema_version", "1")), "accepted"); }
TEST(SessionRefuses, NoId) { EXPECT_THAT(refusal(with("session_id", std::nullopt)), HasSubstr("session_id or kind")); }
TEST(SessionRefuses, NoKind) { EXPECT_THAT(refusal(with("kind", "")), HasSubstr("session_id or kind")); }
TEST(SessionRefuses, UnknownClock) { EXPECT_THAT(refusal(with("home_clock", "sundial")), HasSubstr("'sundial' is unknown")); }
TEST(SessionRefuses, PhaseWithoutEnd) {
  EXPECT_THAT(refusal(with("phases", *Json::parse(R"([{"name":"measure","start_ns":1}])"))), HasSubstr("the phase 'measure'"));
}
TEST(SessionRefuses, AccountOfUnknownState) {
  EXPECT_THAT(refusal(with("accounts", *Json::parse(R"([{"source":"proc","state":"great"}])"))),
              HasSubstr("unknown state 'great'"));
}
TEST(SessionRefuses, RejectsAccountThatIsNotAnObject) { EXPECT_NE(refusal(with("accounts", *Json::parse("[1]"))), "accepted"); }
TEST(SessionRefuses, DamagedClocks) { EXPECT_NE(refusal(with("clocks", *Json::parse("[{}]"))), "accepted"); }
TEST(SessionRefuses, NoObject) { EXPECT_NE(refusal(Json::array()), "accepted"); }

TEST(Accounts, ReadIsKeptPlusDropped) {
  Account account;
  account.keep(3);
  account.drop("late");
  account.drop("late");
  account.drop("damaged", 4);
  EXPECT_EQ(account.read, account.kept + account.dropped_total());
  EXPECT_EQ(account.dropped.at("late"), 2);
}
TEST(Accounts, ReasonIsOptional) { EXPECT_FALSE(to_json(Account{}).contains("reason")); }
TEST(Accounts, StatesRoundTrip) {
  for (auto state : {Account::State::ok, Account::State::partial, Account::State::unsupported, Account::State::failed})
    EXPECT_EQ(account_from_json(to_json(Account{.source = "s", .state = state}))->state, state);
}

TEST(WarningsJson, RemedyIsOptional) {
  const Json document = to_json(full().warnings);
  EXPECT_TRUE(document.items()[0].contains("remedy"));
  EXPECT_FALSE(document.items()[1].contains("remedy"));
}

}  // namespace
}  // namespace aaco::trace
