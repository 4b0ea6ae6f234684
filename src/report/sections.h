#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "report/attainable_section.h"
#include "report/collectives_section.h"
#include "report/compiler_section.h"
#include "report/decoder_section.h"
#include "report/gpu_sections.h"
#include "report/llm_section.h"
#include "report/operating_system_section.h"
#include "report/scaling_section.h"
#include "report/search_section.h"
#include "report/totals_section.h"
#include "report/trace_section.h"
#include "report/work_rates_section.h"

namespace aaco::report {

// What a report holds beside the parts that every report has: each is a struct with a to_json() and a write_text(), and
// write_markdown() where it has a form there (docs/how_to/add_a_report_section.md).
struct Sections {
  std::optional<Attainable> attainable;
  std::optional<ProfilerTotals> totals;
  std::optional<GpuSection> gpu;
  std::optional<Attribution> attribution;
  std::optional<Gaps> gaps;
  std::optional<WorkRates> work_rates;
  std::optional<Collectives> collectives;
  std::optional<OperatingSystem> operating_system;
  std::optional<Scaling> scaling;
  std::optional<Search> search;
  std::optional<Compiler> compiler;
  std::optional<Llm> llm;
  std::optional<Decoder> decoder;
  std::optional<TraceTimeline> trace;  // of pages only
};

// Where the terminal report has it. `details` are left out of the brief form.
enum class Place { top, after_time, after_advice, details };

template <class T>
struct SectionEntry {
  std::string_view key;  // in the report's JSON, below "extra"
  std::optional<T> Sections::*member;
  Place place;
};
// clang deduces aggregates from version 17 on only.
template <class T>
SectionEntry(std::string_view, std::optional<T> Sections::*, Place) -> SectionEntry<T>;

// Every section, in the order of the JSON document.
inline constexpr std::tuple kSections = {
    SectionEntry{"attainable", &Sections::attainable, Place::details},
    SectionEntry{"totals", &Sections::totals, Place::after_time},
    SectionEntry{"gpu", &Sections::gpu, Place::after_time},
    SectionEntry{"attribution", &Sections::attribution, Place::after_time},
    SectionEntry{"gaps", &Sections::gaps, Place::after_time},
    SectionEntry{"work_rates", &Sections::work_rates, Place::details},
    SectionEntry{"collectives", &Sections::collectives, Place::details},
    SectionEntry{"operating_system", &Sections::operating_system, Place::after_advice},
    SectionEntry{"scaling", &Sections::scaling, Place::top},
    SectionEntry{"search", &Sections::search, Place::top},
    SectionEntry{"compiler", &Sections::compiler, Place::top},
    SectionEntry{"llm", &Sections::llm, Place::top},
    SectionEntry{"decoder", &Sections::decoder, Place::top},
    SectionEntry{"trace", &Sections::trace, Place::details},
};

// Calls visit(entry, value) for each section that the report has, in order.
template <class Visit>
void for_each_section(const Sections& sections, Visit visit) {
  std::apply(
      [&](const auto&... entry) {
        const auto one = [&](const auto& of) {
          if (const auto& value = sections.*of.member) visit(of, *value);
        };
        (one(entry), ...);
      },
      kSections);
}

}  // namespace aaco::report
