#include "tracelake/lake.h"

#include <filesystem>

#include "core/strings.h"
#include "trace/metric.h"
#include "tracelake/testing/session_testing.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;
using ::testing::HasSubstr;

class LakeTest : public SessionTest {
 protected:
  // Three sessions on two days, with 10, 20 and 30 iterations.
  void make_three() const {
    (void)make(manifest("a", "base", kCreatedNs - 86'400'000'000'000), 10);
    (void)make(manifest("b"), 20);
    (void)make(manifest("c"), 30);
  }
  QueryResult ask(const std::string& sql) {
    if (!lake) lake = std::move(*Lake::open(root));
    auto result = lake->query(sql);
    EXPECT_TRUE(result) << sql << "\n" << result.error().text();
    return result.value_or(QueryResult{});
  }
  core::Error refusal(const std::string& sql) {
    if (!lake) lake = std::move(*Lake::open(root));
    auto result = lake->query(sql);
    EXPECT_FALSE(result) << sql;
    return result ? core::Error{} : result.error();
  }
  // The only cell of an answer.
  std::string cell(const std::string& sql) {
    const QueryResult result = ask(sql);
    if (result.rows.size() != 1 || result.rows[0].size() != 1) return "not one cell";
    return result.rows[0][0].value_or("NULL");
  }
  std::unique_ptr<Lake> lake;
};

TEST_F(LakeTest, UnitesTablesOfAllSessions) {
  make_three();
  EXPECT_EQ(cell("SELECT count(*) FROM inference_iters"), "60");
  EXPECT_EQ(cell("SELECT sum(duration_ns) FROM inference_iters WHERE session_id = 'a' AND phase = 'measure'"), "9045");
  EXPECT_EQ(cell("FROM inference_iters SELECT count(*) WHERE date = '2026-11-21'"), "50");
  EXPECT_EQ(cell("SELECT string_agg(DISTINCT session_id, ' ' ORDER BY session_id) FROM inference_iters"), "a b c");
}

TEST_F(LakeTest, TotalsOfProfilersAreATable) {
  make_three();
  EXPECT_EQ(cell("SELECT count(*) FROM kernel_totals"), "0");
  const std::string folder = join_path(root, "2026-11-21/b/profiler");
  ASSERT_TRUE(core::make_directories(folder));
  ASSERT_TRUE(core::write_file_atomic(join_path(folder, "kernel_summary.json"), R"({"schema_version":1,"kernels":[
    {"name":"gemm","family":"gemm","library":"rocBLAS","count":6,"sum_ns":9007199254740993,"min_ns":1,"max_ns":9}],
    "calls":[{"name":"hipMalloc","domain":"hip","count":2,"sum_ns":30}]})"));
  lake.reset();
  EXPECT_EQ(cell("SELECT sum_ns FROM kernel_totals WHERE domain = 'kernel' AND family = 'gemm'"), "9007199254740993");
  EXPECT_EQ(cell("SELECT session_id || ' ' || name || ' ' || (family IS NULL) || ' ' || (min_ns IS NULL) FROM kernel_totals "
                 "WHERE domain = 'hip'"),
            "b hipMalloc true true");
  EXPECT_EQ(cell("SELECT count(*) FROM kernel_totals"), "2");  // once, however often it is asked
  EXPECT_THAT(cell("SELECT string_agg(name, ' ') FROM (SHOW TABLES)"), HasSubstr("kernel_totals"));
}

TEST_F(LakeTest, EnvironmentsAreATable) {
  make_three();
  const std::string record = R"({"os":{"host":"n'1","kernel":null},"cpu":{"cores":2,"flags":["avx","fma"]},"ratio":0.5})";
  ASSERT_TRUE(core::write_file_atomic(join_path(root, "2026-11-21/b/env.json"), record));
  lake.reset();
  EXPECT_EQ(cell("SELECT string_agg(name || '=' || value, ' ' ORDER BY name) FROM environment WHERE session_id = 'b'"),
            "cpu.cores=2 cpu.flags[0]=avx cpu.flags[1]=fma os.host=n'1 ratio=0.5");
  ASSERT_TRUE(
      core::write_file_atomic(join_path(root, "2026-11-21/b/env.json"), std::string(40'000, '[') + std::string(40'000, ']')));
  lake.reset();
  EXPECT_FALSE(refusal("SELECT count(*) FROM environment").message.empty());
}

TEST_F(LakeTest, ConditionsOnSessionAndDateOpenOnlyTheirFiles) {
  make_three();
  const auto plan = [this](const std::string& where) {
    return *ask("EXPLAIN ANALYZE SELECT sum(duration_ns) FROM inference_iters WHERE " + where).rows[0][1];
  };
  EXPECT_THAT(plan("session_id = 'b'"), HasSubstr("Total Files Read: 1 "));
  EXPECT_THAT(plan("date = '2026-11-21'"), HasSubstr("Total Files Read: 2 "));
  EXPECT_THAT(plan("session_id IN ('a', 'c') AND date < '2026-11-21'"), HasSubstr("Total Files Read: 1 "));
  EXPECT_THAT(plan("duration_ns > 0"), HasSubstr("Total Files Read: 3 "));
  // A damaged file elsewhere is not even looked at.
  ASSERT_TRUE(core::write_file_atomic(join_path(root, "2026-11-21/c/metrics/inference_iters.parquet"), "no table"));
  EXPECT_EQ(cell("SELECT count(*) FROM inference_iters WHERE session_id = 'b' AND duration_ns > 0"), "20");
  EXPECT_THAT(refusal("SELECT sum(duration_ns) FROM inference_iters").message,
              HasSubstr("2026-11-21/c/metrics/inference_iters.parquet"));
}

TEST_F(LakeTest, MissingTablesAreEmptyWithColumns) {
  make_three();
  EXPECT_EQ(cell("SELECT count(*) FROM rocprof_kernels"), "0");
  const QueryResult columns = ask("DESCRIBE graph_nodes");
  std::string all;
  for (const auto& row : columns.rows) all += *row[0] + " " + *row[1] + ", ";
  EXPECT_EQ(
      all,
      "node_index BIGINT, node_name VARCHAR, op_type VARCHAR, domain VARCHAR, provider VARCHAR, flops DOUBLE, bytes_read BIGINT, "
      "bytes_written BIGINT, parameter_count BIGINT, session_id VARCHAR, date DATE, ");
  EXPECT_EQ(ask("DESCRIBE inference_iters").rows.size(), 15u);
}

TEST_F(LakeTest, FollowsAddedAndRemovedSessions) {
  EXPECT_EQ(cell("SELECT count(*) FROM inference_iters"), "0");
  EXPECT_EQ(cell("SELECT count(*) FROM sessions"), "0");
  const std::string path = make(manifest("a"), 5);
  EXPECT_EQ(cell("SELECT count(*) FROM inference_iters"), "5");
  (void)make(manifest("b"), 5);
  EXPECT_EQ(cell("SELECT count(*) FROM inference_iters"), "10");
  auto open = create(manifest("open"));
  open->sink().add(iteration(1));
  ASSERT_TRUE(open->flush());
  EXPECT_EQ(cell("SELECT count(*) FROM inference_iters"), "10") << "an open session is no evidence yet";
  EXPECT_EQ(cell("SELECT string_agg(session_id || ' ' || state, ', ' ORDER BY 1) FROM sessions"),
            "a complete, b complete, open incomplete");
  ASSERT_TRUE(remove_session(path));
  ASSERT_TRUE(remove_session(join_path(root, "2026-11-21/b")));
  EXPECT_EQ(cell("SELECT count(*) FROM inference_iters"), "0");
}

TEST_F(LakeTest, SessionsCarryTheirManifest) {
  auto writer = create(manifest("a", "base"));
  auto end = manifest("a", "base");
  end.outcome = trace::outcome_from_json(core::Json::object({{"model", "resnet50"}, {"batch", 4}}));
  end.command = {"aaco", "run", "it's"};
  (void)close(*writer, end);
  EXPECT_EQ(cell("SELECT outcome->>'model' || ' ' || tag || ' ' || created FROM sessions"), "resnet50 base 2026-11-21 08:15:30");
  EXPECT_EQ(cell("SELECT command->>2 FROM sessions"), "it's");
  EXPECT_EQ(ask("SELECT outcome FROM sessions").types[0], "JSON");
}

TEST_F(LakeTest, SessionsOfOneSecondKeepTheirOrder) {
  for (const char* id : {"b", "a"}) {
    auto head = manifest(id);
    head.created_realtime_ns += id[0] == 'b' ? 42'000 : 900'001'999;
    auto writer = create(head);
    (void)close(*writer, head);
  }
  EXPECT_EQ(cell("SELECT string_agg(session_id || ' ' || created, ', ' ORDER BY created) FROM sessions"),
            "b 2026-11-21 08:15:30.000042, a 2026-11-21 08:15:30.900001");
}

TEST_F(LakeTest, MetricsAreRows) {
  for (const char* id : {"a", "b"}) {
    auto writer = create(manifest(id));
    const trace::Metrics metrics{{"latency.p50_ns", 5000, "ns", trace::Interval{4000, 6000}, std::nullopt},
                                 {"gpu.power_watts", 300, "W", std::nullopt, 0},
                                 {"gpu.power_watts", 310, "W", std::nullopt, 1}};
    ASSERT_TRUE(writer->write_json("metrics/inference_summary.json",
                                   core::Json::object({{"schema_version", 1}, {"metrics", to_json(metrics)}})));
    (void)close(*writer, manifest(id));
    EXPECT_EQ(cell("SELECT count(*) FROM metrics"), id == std::string("a") ? "3" : "6");
  }
  EXPECT_EQ(cell("SELECT sum(value) FROM metrics WHERE metric = 'gpu.power_watts' AND device = 1"), "620");
  EXPECT_EQ(cell("SELECT ci95_high - ci95_low FROM metrics WHERE metric = 'latency.p50_ns' AND session_id = 'b'"), "2000");
  ASSERT_TRUE(remove_session(join_path(root, "2026-11-21/a")));
  EXPECT_EQ(cell("SELECT count(*) FROM metrics"), "3");
}

TEST_F(LakeTest, BridgesSchemaVersions) {
  const std::string path = make(manifest("a"), 5);
  (void)make(manifest("b"), 5);
  // A file of an older schema without `block`, with a narrower type, and of a newer one with a column more.
  lake = std::move(*Lake::open(root));
  const std::string file = join_path(path, "metrics/inference_iters.parquet");
  ASSERT_TRUE(lake->query_to_parquet(
      "SELECT rank, CAST(iteration AS INTEGER) AS iteration, phase, start_ns, duration_ns, disturbance, 1 AS later "
      "FROM inference_iters WHERE session_id = 'a'",
      file));
  EXPECT_EQ(cell("SELECT count(block) || ' ' || count(*) || ' ' || sum(iteration) FROM inference_iters"), "5 10 20");
}

TEST_F(LakeTest, CellsOfEveryType) {
  const QueryResult result = ask(
      "SELECT true, -1::TINYINT, 18446744073709551615::UBIGINT, (-170141183460469231731687303715884105727)::HUGEINT, 0.1, "
      "1e300::DOUBLE, "
      "0.1::FLOAT, 'a\"b', NULL, DATE '2026-11-21', TIMESTAMP '2026-11-21 08:15:30', INTERVAL 90 SECOND, [1, NULL, 3], {'a': 1, "
      "'b': 'x'}, "
      "MAP {'k': 2}, 'x'::BLOB, '{\"a\": 1}'::JSON, 340282366920938463463374607431768211455::UHUGEINT, 1 AS twice, 2 AS twice");
  std::vector<std::string> cells;
  for (const auto& text : result.rows.at(0)) cells.push_back(text.value_or("NULL"));
  EXPECT_EQ(cells, (std::vector<std::string>{"true",
                                             "-1",
                                             "18446744073709551615",
                                             "-170141183460469231731687303715884105727",
                                             "0.1",
                                             "1e+300",
                                             "0.1",
                                             "a\"b",
                                             "NULL",
                                             "2026-11-21",
                                             "2026-11-21 08:15:30",
                                             "00:01:30",
                                             "[1,null,3]",
                                             R"({"a":1,"b":"x"})",
                                             R"({"k":2})",
                                             "x",
                                             R"({"a": 1})",
                                             "340282366920938463463374607431768211455",
                                             "1",
                                             "2"}));
  EXPECT_EQ(result.columns.back(), "twice");
  EXPECT_EQ(result.types[4], "DECIMAL(2,1)");
  EXPECT_EQ(cell_kind(result.types[4]), CellKind::number);
  EXPECT_EQ(cell_kind(result.types[12]), CellKind::json);
  EXPECT_EQ(cell_kind("DECIMAL(2,1)[]"), CellKind::json);
  EXPECT_EQ(cell_kind("BOOLEAN"), CellKind::boolean);
  EXPECT_EQ(cell_kind("DATE"), CellKind::text);
}

TEST_F(LakeTest, OrderSurvivesTheCastToText) {
  const QueryResult result =
      ask("SELECT DATE '2026-01-01' + CAST(i AS INTEGER), i FROM range(5000) t(i) ORDER BY i DESC -- a comment;");
  ASSERT_EQ(result.rows.size(), 5000u);
  EXPECT_EQ(result.rows[0][1], "4999");
  EXPECT_EQ(result.rows[4999][1], "0");
}

TEST_F(LakeTest, LargeResultsStreamAndCanBeStopped) {
  struct Counter final : QueryVisitor {
    core::Status begin(const std::vector<std::string>&, const std::vector<std::string>&) override { return {}; }
    core::Status row(std::span<const std::optional<std::string>>) override {
      return ++rows == 100'000 ? core::Status(core::fail(ErrorCode::cancelled, "enough")) : core::Status();
    }
    int rows = 0;
  } counter;
  lake = std::move(*Lake::open(root));
  EXPECT_EQ(lake->stream("SELECT i FROM range(1000000000000) t(i)", counter).error().code, ErrorCode::cancelled);
  EXPECT_EQ(cell("SELECT 1"), "1");
}

TEST_F(LakeTest, ParquetResultsAppearAtomically) {
  make_three();
  lake = std::move(*Lake::open(root));
  const std::string file = join_path(folder(), "answer.parquet");
  ASSERT_TRUE(lake->query_to_parquet("SELECT session_id, count(*) AS n FROM inference_iters GROUP BY ALL; ", file));
  EXPECT_EQ(core::read_file(file)->substr(0, 4), "PAR1");
  EXPECT_FALSE(lake->query_to_parquet("SELECT nothing FROM inference_iters", join_path(folder(), "none.parquet")));
  EXPECT_FALSE(core::exists(join_path(folder(), "none.parquet")));
  EXPECT_EQ(lake->query_to_parquet("SELECT 1", "/nowhere/x.parquet").error().code, ErrorCode::not_found);
  EXPECT_EQ(lake->query_to_parquet("EXPLAIN SELECT 1", file).error().code, ErrorCode::invalid_argument);
}

TEST_F(LakeTest, AllowsReadOnlyStatementsOnly) {
  make_three();
  const std::string target = join_path(root, "stolen.csv");
  for (const std::string& sql : std::vector<std::string>{"COPY (SELECT 1) TO 'T'",
                                                         "EXPLAIN ANALYZE COPY (SELECT 1) TO 'T'",
                                                         "explain /* */ analyze copy (SELECT 1) TO 'T'",
                                                         "EXPLAIN (FORMAT json) COPY (SELECT 1) TO 'T'",
                                                         "CREATE TABLE t (a INTEGER)",
                                                         "DROP VIEW inference_iters",
                                                         "DELETE FROM sessions",
                                                         "INSERT INTO sessions (tag) VALUES ('x')",
                                                         "ATTACH 'T'",
                                                         "ATTACH 'T' AS x; SELECT 1",
                                                         "INSTALL httpfs",
                                                         "LOAD httpfs",
                                                         "SET threads = 64",
                                                         "SET enable_external_access = true",
                                                         "PRAGMA enable_profiling",
                                                         "CALL pragma_version()",
                                                         "EXPORT DATABASE 'T'",
                                                         "SELECT 1; SELECT 2",
                                                         "SELECT 1; COPY (SELECT 1) TO 'T'",
                                                         "BEGIN",
                                                         "VACUUM",
                                                         "PREPARE p AS COPY (SELECT 1) TO 'T'",
                                                         "EXECUTE p",
                                                         "CHECKPOINT",
                                                         "RESET ALL",
                                                         "RESET memory_limit",
                                                         "PRAGMA export_database"}) {
    const ErrorCode code = refusal(core::replace_all(sql, "T'", target + "'")).code;
    EXPECT_THAT(code, ::testing::AnyOf(ErrorCode::permission, ErrorCode::invalid_argument, ErrorCode::invalid_input)) << sql;
    ASSERT_FALSE(core::exists(target)) << sql;
  }
  EXPECT_EQ(cell("SELECT count(*) FROM sessions"), "3");
}

TEST_F(LakeTest, FilesOutsideTheRootCannotBeRead) {
  make_three();
  ASSERT_TRUE(core::write_file_atomic(join_path(folder(), "secret.csv"), "a,b\n1,2\n"));
  for (const std::string& sql : std::vector<std::string>{"SELECT * FROM '" + join_path(folder(), "secret.csv") + "'",
                                                         "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM glob('/etc/*')",
                                                         "SELECT * FROM read_csv('" + join_path(root, "../secret.csv") + "')"})
    EXPECT_EQ(refusal(sql).code, ErrorCode::permission) << sql;
}

TEST_F(LakeTest, ReportsSqlErrors) {
  EXPECT_THAT(refusal("SELEC 1").message, HasSubstr("syntax error"));
  EXPECT_THAT(refusal("SELECT * FROM nothing").message, HasSubstr("nothing"));
  EXPECT_THAT(refusal("SELECT durations FROM inference_iters").message, HasSubstr("duration_ns"));
  EXPECT_EQ(refusal("").code, ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(" ; ").code, ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("-- only a comment").code, ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("SELECT 'a' + INTERVAL").code, ErrorCode::invalid_argument);
  EXPECT_EQ(cell("/* a */ -- b\n SELECT 1 -- c"), "1");
  EXPECT_EQ(ask("SHOW TABLES").rows.size(), 26u);  // the tables, sessions, metrics, kernel_totals and environment
  EXPECT_EQ(refusal("SELECT CAST('x' AS INTEGER)").code, ErrorCode::invalid_input);
}

TEST_F(LakeTest, TakesGlobCharactersInRootLiterally) {
  root = join_path(folder(), "a [b]* 'c'?");
  make_three();
  EXPECT_EQ(cell("SELECT count(*) FROM inference_iters"), "60");
}

}  // namespace
}  // namespace aaco::tracelake
