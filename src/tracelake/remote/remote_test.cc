#include "tracelake/remote.h"

#include <gtest/gtest.h>

#include <map>

#include "core/files.h"
#include "tracelake/engine/schema.h"
#include "tracelake/remote/sip_hash.h"

namespace aaco::tracelake {
namespace {

std::string problem_of(const std::string& name) {
  const auto target = find_remote(name, {}, {});
  return target ? "" : target.error().text();
}

TEST(RemoteTarget, UrlHasHostPortAndDatabase) {
  const auto target = find_remote("clickhouse://db:9123/prod", {}, {});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->url, "http://db:9123");
  EXPECT_EQ(target->database, "prod");
}
TEST(RemoteTarget, PortAndDatabaseHaveDefaults) {
  const auto target = find_remote("clickhouse://db", {}, {});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->url + "/" + target->database, "http://db:8123/aaco");
}
TEST(RemoteTarget, CredentialsInTheUrlAreRefused) {
  EXPECT_NE(problem_of("clickhouse://me:secret@db/x").find("AACO_CLICKHOUSE_PASSWORD"), std::string::npos);
}
TEST(RemoteTarget, OtherSchemeIsRefused) { EXPECT_NE(problem_of("mysql://db/x").find("not a valid fleet"), std::string::npos); }
TEST(RemoteTarget, EmptyHostIsRefused) { EXPECT_NE(problem_of("clickhouse:///x").find("not a valid fleet"), std::string::npos); }
TEST(RemoteTarget, OddDatabaseIsRefused) {
  EXPECT_NE(problem_of("clickhouse://db/a;DROP").find("not a valid fleet"), std::string::npos);
}
TEST(RemoteTarget, UnknownNameIsRefused) { EXPECT_NE(problem_of("prod").find("fleet.yaml"), std::string::npos); }

TEST(RemoteTarget, PasswordComesFromFileOrEnvironment) {
  const auto folder = core::TemporaryDirectory::make("/tmp");
  const std::string file = folder->path() + "/fleet.yaml";
  ASSERT_TRUE(core::write_file_atomic(folder->path() + "/word", "secret\n"));
  ASSERT_TRUE(core::write_file_atomic(file,
                                      "fleets:\n  prod:\n    url: clickhouse://db\n    cluster: c\n    shards: ['db:8123', "
                                      "['db2:8123', 'db3:8123']]\n    user: me\n    password_file: " +
                                          folder->path() + "/word\n"));
  const auto target = find_remote("prod", {folder->path() + "/absent.yaml", file}, {});
  ASSERT_TRUE(target) << target.error().text();
  EXPECT_EQ(target->user + ":" + target->password, "me:secret");
  EXPECT_EQ(target->shards, (std::vector<std::vector<std::string>>{{"http://db:8123"}, {"http://db2:8123", "http://db3:8123"}}));
  EXPECT_TRUE(target->has_replicas());
  const auto other =
      find_remote("prod", {file}, core::Environment(std::map<std::string, std::string>{{"AACO_CLICKHOUSE_PASSWORD", "other"}}));
  EXPECT_EQ(other->password, "other");
  EXPECT_FALSE(find_remote("test", {file}, {}));
}

TEST(RemoteTarget, ClusterWithoutShardsIsRefused) {
  const auto folder = core::TemporaryDirectory::make("/tmp");
  const std::string file = folder->path() + "/fleet.yaml";
  ASSERT_TRUE(core::write_file_atomic(file, "fleets:\n  prod:\n    url: clickhouse://db\n    cluster: c\n"));
  const auto target = find_remote("prod", {file}, {});
  ASSERT_FALSE(target);
  EXPECT_NE(target.error().text().find("fleet.yaml:"), std::string::npos);
}

TEST(RemoteCells, TextSurvivesTabSeparatedRows) {
  const std::vector<std::optional<std::string>> cells = {"a\tb\\c\nd", std::nullopt, "", "\\N", std::string("x\0y", 3)};
  std::string line;
  for (const auto& cell : cells) {
    if (!line.empty()) line += '\t';
    append_cell(line, cell);
  }
  EXPECT_EQ(split_cells(line), cells);
}

TEST(RemoteTypes, IntegersStayIntegersAndOthersText) {
  EXPECT_EQ(remote::remote_type("BIGINT"), "Nullable(Int64)");
  EXPECT_EQ(remote::remote_type("DOUBLE"), "Nullable(Float64)");
  EXPECT_EQ(remote::remote_type("JSON"), "Nullable(String)");
  EXPECT_EQ(remote::remote_type("HUGEINT"), "Nullable(String)");
}
TEST(RemoteTypes, NamesAreQuoted) { EXPECT_EQ(remote::backticked("a`b"), "`a\\`b`"); }
TEST(RemoteTypes, LiteralsAreQuoted) { EXPECT_EQ(remote::text_literal("it's"), "'it\\'s'"); }

// Of ClickHouse 18.16: SELECT sipHash64(...).
TEST(SipHash, IsThatOfTheEngine) {
  EXPECT_EQ(remote::sip_hash64(""), 2202906307356721367ULL);
  EXPECT_EQ(remote::sip_hash64("node00001"), 10875553970337108475ULL);
  EXPECT_EQ(remote::sip_hash64("abcdefgh12345"), 26633440342026432ULL);
}

TEST(RemoteServer, NoServerIsAnErrorWithTheAddress) {
  RemoteTarget target;
  target.url = "http://127.0.0.1:1";
  const auto reply = RemoteServer(target).run("SELECT 1");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, core::ErrorCode::io);
  EXPECT_NE(reply.error().message.find("127.0.0.1:1"), std::string::npos);
}

}  // namespace
}  // namespace aaco::tracelake
