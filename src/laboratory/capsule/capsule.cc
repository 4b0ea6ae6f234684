#include "laboratory/capsule.h"

#include <algorithm>

#include "laboratory/capsule/switch.h"

namespace aaco::laboratory::capsule {
namespace {

using core::Json;

class RealCapsule final : public Capsule {
 public:
  RealCapsule(Wanted wanted, const undo::World& world, undo::Journal journal) : journal_(std::move(journal)) {
    work_.wanted = std::move(wanted);
    work_.world = world;
    work_.journal = &journal_;
    work_.allowed = core::allowed_cpus();
  }
  RealCapsule(const RealCapsule&) = delete;
  RealCapsule& operator=(const RealCapsule&) = delete;
  ~RealCapsule() override { (void)leave(); }

  void apply() {
    const Settings& wanted = work_.wanted.settings;
    std::optional<core::Error> no_affinity;
    if (const auto affinity = wanted.find("affinity"); affinity != wanted.end()) {
      auto cpus = cpus_of(affinity->second, work_.allowed, work_.world.root);
      if (cpus)
        work_.inside = std::move(*cpus);
      else
        no_affinity = cpus.error();
    }
    bool joined = false;
    for (const Switch& one : all_switches()) {
      // A group is joined before the affinity: the kernel gives whoever joins a cpuset all of its CPUs.
      if (one.info.id == "affinity") join(), joined = true;
      const auto asked = wanted.find(std::string(one.info.id));
      if (asked == wanted.end()) continue;
      const auto applied =
          one.info.id == "affinity" && no_affinity ? tl::unexpected<core::Error>(*no_affinity) : one.apply(asked->second, work_);
      if (applied)
        set_.push_back({asked->first, asked->second, *applied});
      else
        not_set_.push_back({asked->first, asked->second, applied.error().message, applied.error().remedy});
    }
    if (!joined) join();
  }

  [[nodiscard]] const std::vector<Set>& set() const override { return set_; }
  [[nodiscard]] const std::vector<NotSet>& not_set() const override { return not_set_; }
  [[nodiscard]] std::optional<int> cpus() const override {
    const bool pinned = std::any_of(set_.begin(), set_.end(), [](const Set& one) { return one.id == "affinity"; });
    return pinned ? std::optional(static_cast<int>(work_.inside.size())) : std::nullopt;
  }
  void step_out() override {
    for (auto back = work_.step_out.rbegin(); back != work_.step_out.rend(); ++back) (*back)();
    work_.step_out.clear();
  }
  core::Status leave() override {
    step_out();
    work_.held.clear();
    return journal_.restore();
  }

 private:
  void join() {
    for (auto& [id, error] : join_groups(work_)) {
      const auto found = std::find_if(set_.begin(), set_.end(), [&, name = id](const Set& one) { return one.id == name; });
      if (found == set_.end()) continue;
      not_set_.push_back({id, found->value, error.message, error.remedy});
      set_.erase(found);
    }
  }

  undo::Journal journal_;
  Work work_;
  std::vector<Set> set_;
  std::vector<NotSet> not_set_;
};

}  // namespace

core::Result<std::unique_ptr<Capsule>> Capsule::enter(const Wanted& wanted, const undo::World& world) {
  AACO_ASSIGN(auto journal, undo::Journal::open(world, "isolation" + (wanted.level.empty() ? "" : " " + wanted.level)));
  auto capsule = std::make_unique<RealCapsule>(wanted, world, std::move(journal));
  capsule->apply();
  return std::unique_ptr<Capsule>(std::move(capsule));
}

std::string isolation_text(const std::vector<Set>& set) {
  std::vector<std::string> words;
  for (const Set& one : set) words.push_back(one.id + "=" + one.value);
  std::sort(words.begin(), words.end());
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ";") + word;
  return text;
}

Json to_json(const std::vector<Set>& set, const std::vector<NotSet>& not_set, std::string_view level) {
  Json done = Json::array(), missing = Json::array();
  for (const Set& one : set) done.push(Json::object({{"switch", one.id}, {"value", one.value}, {"detail", one.detail}}));
  for (const NotSet& one : not_set)
    missing.push(Json::object({{"switch", one.id}, {"value", one.value}, {"reason", one.reason}, {"remedy", one.remedy}}));
  return Json::object(
      {{"level", level.empty() ? Json() : Json(level)}, {"set", std::move(done)}, {"not_set", std::move(missing)}});
}

}  // namespace aaco::laboratory::capsule
