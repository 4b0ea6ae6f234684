#include "tracelake/perfetto/chrome_writer.h"

#include <unordered_map>
#include <vector>

#include "core/json.h"
#include "tracelake/perfetto/output_file.h"

namespace aaco::tracelake::perfetto {
namespace {

// Numbers for rows that are no processes or threads of the system lie above all real ones (Linux allows 4,194,304).
constexpr std::int64_t kFirstFreeId = 10'000'000;

// Microseconds with the nanoseconds as decimals.
std::string microseconds(std::int64_t ns) {
  const std::string digits = std::to_string(ns % 1000);
  return std::to_string(ns / 1000) + "." + std::string(3 - digits.size(), '0') + digits;
}

std::string quoted(std::string_view text) { return core::Json(text).dump(-1); }

class ChromeWriter final : public TimelineWriter {
 public:
  explicit ChromeWriter(OutputFile file) : file_(std::move(file)) { file_.write(R"({"displayTimeUnit":"ns","traceEvents":[)"); }

  TrackId add_track(const TrackInfo& info) override;
  void begin(TrackId track, const Slice& slice) override;
  void end(TrackId, std::int64_t) override {}  // the beginning says how long it lasts
  void counter(TrackId track, std::int64_t time_ns, double value) override;
  core::Status finish() override {
    file_.write("\n]}\n");
    return file_.finish();
  }

 private:
  struct Place {
    std::int64_t process = 0;
    std::int64_t thread = 0;
    std::string name;  // of a counter, quoted
  };
  void write_event(char phase, const Place& place, const std::string& rest);
  void name_place(std::string_view what, const Place& place, const std::string& name);

  OutputFile file_;
  bool first_ = true;
  std::int64_t next_id_ = kFirstFreeId;
  std::vector<Place> places_{Place{}};  // by track
};

void ChromeWriter::write_event(char phase, const Place& place, const std::string& rest) {
  file_.write((first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"") + std::string(1, phase) +
              "\",\"pid\":" + std::to_string(place.process) + ",\"tid\":" + std::to_string(place.thread) + rest + "}");
  first_ = false;
}

void ChromeWriter::name_place(std::string_view what, const Place& place, const std::string& name) {
  write_event('M', place, ",\"name\":\"" + std::string(what) + "\",\"args\":{\"name\":" + quoted(name) + "}");
}

TrackId ChromeWriter::add_track(const TrackInfo& info) {
  Place place;
  switch (info.kind) {
    case TrackInfo::Kind::process: place.process = info.process_id; break;
    case TrackInfo::Kind::thread: place = {info.process_id, info.thread_id, {}}; break;
    case TrackInfo::Kind::group: place.process = next_id_++; break;
    default: place = {places_[info.parent].process, next_id_++, quoted(info.name)};
  }
  if (info.kind == TrackInfo::Kind::process || info.kind == TrackInfo::Kind::group)
    name_place("process_name", place, info.name);
  else if (info.kind != TrackInfo::Kind::counter)
    name_place("thread_name", place, info.name);
  places_.push_back(std::move(place));
  return places_.size() - 1;
}

std::string value_text(const Argument& argument) {
  if (const auto* integer = std::get_if<std::int64_t>(&argument.value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&argument.value)) return core::Json(*real).dump(-1);
  return quoted(std::get<std::string_view>(argument.value));
}

void ChromeWriter::begin(TrackId track, const Slice& slice) {
  const Place& place = places_[track];
  std::string rest = ",\"name\":" + quoted(slice.name) + ",\"cat\":" + quoted(slice.category) +
                     ",\"ts\":" + microseconds(slice.start_ns) + ",\"dur\":" + microseconds(slice.end_ns - slice.start_ns);
  for (std::size_t i = 0; i < slice.arguments.size(); ++i)
    rest += (i == 0 ? ",\"args\":{" : ",") + quoted(slice.arguments[i].name) + ":" + value_text(slice.arguments[i]);
  if (!slice.arguments.empty()) rest += "}";
  write_event('X', place, rest);
  if (slice.flow == 0) return;
  const std::string flow = ",\"name\":\"launch\",\"cat\":\"flow\",\"id\":\"" + std::to_string(slice.flow) +
                           "\",\"ts\":" + microseconds(slice.start_ns);
  if (slice.flow_target)
    write_event('f', place, flow + ",\"bp\":\"e\"");
  else
    write_event('s', place, flow);
}

void ChromeWriter::counter(TrackId track, std::int64_t time_ns, double value) {
  const Place& place = places_[track];
  write_event('C', place,
              ",\"name\":" + place.name + ",\"ts\":" + microseconds(time_ns) +
                  ",\"args\":{\"value\":" + core::Json(value).dump(-1) + "}");
}

}  // namespace

core::Result<std::unique_ptr<TimelineWriter>> make_chrome_writer(const std::string& file) {
  AACO_ASSIGN(auto output, OutputFile::create(file));
  return std::make_unique<ChromeWriter>(std::move(output));
}

}  // namespace aaco::tracelake::perfetto
