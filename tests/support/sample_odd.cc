#include <limits>
#include <string>

#include "core/random.h"
#include "support/sample_reports.h"

namespace aaco::sample {

report::ReportModel empty() { return {}; }

report::ReportModel sweep() {
  report::ReportModel model;
  model.session.id.text = "20261121T101500Z-5feeb1";
  model.session.kind = "sweep";
  model.title = "resnet50";
  model.verdict = "resnet50 over 5 points: the highest throughput with batch 8, 2 threads: 402 items/s.";
  model.verdict_confidence = "high: no other point's interval reaches it";
  report::Scaling scaling;
  double items = 96.25;
  for (const char* label : {"batch 1, 1 thread", "batch 8, 1 thread", "batch 1, 2 threads", "batch 8, 2 threads"}) {
    auto& point = scaling.points.emplace_back();
    point.label = label;
    point.items_per_second = {items, trace::Interval{items * 0.98, items * 1.02}};
    point.median_ns = {1e9 / items, trace::Interval{0.98e9 / items, 1.02e9 / items}};
    point.relative_ratio = items / 96.25;
    items *= 1.61;
  }
  auto& failed = scaling.points.emplace_back();
  failed.label = "batch 4096, 2 threads";
  failed.error = "the model of 3.1 TiB does not fit in memory";
  model.sections.scaling = std::move(scaling);
  return model;
}

report::ReportModel hostile() {
  report::ReportModel model;
  const std::string nul("nul\0inside", 10);
  const std::vector<std::string> names = {"</script><script>document.title='broken'</script>",
                                          "<img src=x onerror=\"document.title='broken'\">",
                                          "quote\" and 'apostrophe' & ampersand",
                                          nul,
                                          "invalid \xff\xfe utf-8 \xc3",
                                          "\x1b[31mred\x1b[0m \x1b]0;title\x07",
                                          "right-to-left \u202Eevil\u202C end",
                                          "line\nbreak\r\nand,comma\ttab",
                                          "=HYPERLINK(\"x\")",
                                          "__AACO_REPORT_DATA__ __AACO_REPORT_TEXT__ $& $1",
                                          "| pipe ` tick * star _ under [link](x) <!-- -->",
                                          "\xE2\x80\xA8separator\xE2\x80\xA9",
                                          "__proto__",
                                          std::string(5108, 'k')};
  model.title = names[0];
  model.verdict = names[1] + " " + names[4];
  model.verdict_confidence = names[2];
  model.session.id.text = names[0];
  model.session.kind = "run";
  model.session.command = names;
  model.environment = core::Json::object();
  double ns = 1e6;
  for (const std::string& name : names) {
    report::TimeShare share;
    share.name = share.group = share.provider = name;
    share.total_ns = ns *= 0.9;
    share.share_ratio = share.total_ns / 1e7;
    share.count = 1;
    share.detail = core::Json::object({{name, name}});
    model.parts.push_back(share);
    model.operators.push_back(share);
    model.nodes.push_back(share);
    model.kernels.push_back(share);
    model.why.push_back({name, name, name, 0.5, {}, {name}});
    model.advice.push_back({name, name, name, {}, 0.1, {name}});
    model.session.warnings.push_back({name, name, name});
    model.session.accounts.push_back({name, trace::Account::State::failed, name, 1, 0, {{name, 1}}, {name}});
    model.metrics.push_back({name, 1.5, name, {}, {}});
    model.definitions.push_back({name, name, name, name, name, name});
    model.timeline.push_back({name, name, name, 0, 1000});
    model.telemetry.push_back(
        {name, name, name, {0, 1, 2}, {1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}});
    model.environment.set(name, name);
  }
  model.headline_metrics = {names[0], names[2], "does.not.exist"};
  model.iterations = {{names[0], 0, 0, 1000, true, names[1]}, {names[0], 1, 1000, 1000, false, ""}};
  model.histogram = {{1000, 1000, 2}};
  model.sections.attribution.emplace();
  for (const std::string& name : names) model.sections.attribution->operators.push_back({name, 1, 1'000});
  return model;
}

report::ReportModel large(std::int64_t nodes, std::int64_t iterations) {
  report::ReportModel model;
  model.title = "A large model";
  model.verdict = "Large on purpose.";
  core::Random random(17);
  report::TimeShare part;
  part.name = "Operators", part.share_ratio = 1, part.total_ns = static_cast<double>(nodes) * 1e4;
  model.parts = {part};
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < nodes; ++i) {
    report::TimeShare node;
    node.name = "/model/layers." + std::to_string(i / 40) + "/block/part/node_" + std::to_string(i);
    node.group = "Op" + std::to_string(i % 23);
    node.total_ns = 1e4 * (0.1 + random.uniform());
    node.share_ratio = node.total_ns / part.total_ns;
    node.count = 1;
    model.nodes.push_back(node);
    for (int repeat = 0; repeat < 5; ++repeat) {
      model.timeline.push_back({"nodes", node.name, node.group, at, static_cast<std::int64_t>(node.total_ns)});
      at += 12'000;
    }
  }
  for (int op = 0; op < 23; ++op) {
    report::TimeShare share;
    share.name = "Op" + std::to_string(op);
    for (const auto& node : model.nodes)
      if (node.group == share.name) share.total_ns += node.total_ns, share.share_ratio += node.share_ratio, ++share.count;
    model.operators.push_back(share);
  }
  at = 0;
  for (std::int64_t i = 0; i < iterations; ++i) {
    const auto ns = static_cast<std::int64_t>(1e6 * (1 + 0.02 * random.normal() + (random.uniform() < 0.001 ? 1 : 0)));
    model.iterations.push_back({"measure", i, at, ns, ns > 1'500'000, ""});
    at += ns;
  }
  return model;
}

}  // namespace aaco::sample
