#include <measure/advise.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>
#include <rule/rule.h>

namespace splitcount::measure {
namespace {

/// One that a fault ended early tells too little to advise by.
Result<TrialResult> whole_trial(const Target& target, const std::vector<Design>& designs, const TrialOptions& options,
                                const std::function<void(const TrialProgress&)>& tell) {
  auto result = run_trial(target, designs, options, tell);
  if (result && result->fault) return fail(*result->fault);
  return result;
}

constexpr std::size_t halved_rounds_max = 16;  // of more rounds the halves of the first ones say enough
constexpr std::size_t rounds_min = 2;          // of fewer there are no halves
constexpr std::size_t curve_begins = 1;        // in TrialResult::designs, after the limit

double median_of(std::span<const double> rounds, std::uint32_t chosen) {
  std::vector<double> values;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (i >= halved_rounds_max || (chosen >> i & 1U) != 0) values.push_back(rounds[i]);
  }
  return spread_of(std::move(values)).median;
}

/// Calls `look` with each half of that many rounds, as bits; with all of them where there are too few to halve.
template <class Look>
void for_each_half(std::size_t rounds, const Look& look) {
  const auto bits = static_cast<unsigned>(std::min(rounds, halved_rounds_max));
  const int half = static_cast<int>(bits + 1) / 2;
  for (std::uint32_t chosen = 1; chosen < (1U << bits); ++chosen) {
    if (std::popcount(chosen) == half) look(chosen);
  }
}

std::size_t knee_of(std::span<const std::vector<double>> steps, std::uint32_t chosen) {
  std::vector<double> medians;
  for (const auto& rounds : steps) medians.push_back(median_of(rounds, chosen));
  const double best = *std::max_element(medians.begin(), medians.end());
  const auto first = std::find_if(medians.begin(), medians.end(), [best](double median) { return median >= best * good_enough; });
  return static_cast<std::size_t>(first - medians.begin());
}

int prime_from(int number) {
  while (number < limits::slots_max && !rule::is_prime(number)) ++number;
  return rule::is_prime(number) ? number : 1'021;
}

Design step_of(Pick pick, int slots) {
  return counter(fmt::format("slots_{}", slots), fmt::format("{} slot{}", slots, slots == 1 ? "" : "s"), rule_with(pick, slots));
}

/// Others than `session`, with that many slots.
std::vector<Design> others(const Target& target, int slots) {
  std::vector<Design> designs{limit(), counter("session", "pick session", rule_with(Pick::session, slots)),
                              counter("free", "pick free", rule_with(Pick::free, slots)),
                              counter("spread", "pick spread", rule_with(Pick::spread, slots)),
                              counter("random", "pick random", rule_with(Pick::random, slots))};
  if (target.traits().journal) {
    Rule journal = rule_with(Pick::session, slots);
    journal.layout = Layout::journal;
    auto folded = counter("journal", "layout journal, while a session folds", journal);
    folded.folds = true;
    designs.push_back(std::move(folded));
  }
  return designs;
}

std::string rate(const Measured& one) {
  return grouped(static_cast<std::int64_t>(spread_of(one.adds_per_second).median));
}

/// What is better than `session`, best first; nothing where nothing is.
const Measured* best_other(const TrialResult& picks) {
  const Measured* best = nullptr;
  const auto& session = picks.designs.at(curve_begins);
  for (std::size_t i = curve_begins + 1; i < picks.designs.size(); ++i) {
    const auto& one = picks.designs[i];
    if (!is_better(one.adds_per_second, session.adds_per_second)) continue;
    if (best == nullptr || spread_of(one.adds_per_second).median > spread_of(best->adds_per_second).median) best = &one;
  }
  return best;
}

std::string range_of(const Advice& advice) {
  return advice.knee.least == advice.knee.most
             ? fmt::format("{}", advice.steps[advice.knee.least])
             : fmt::format("{} to {}", advice.steps[advice.knee.least], advice.steps[advice.knee.most]);
}

std::string sentence_of(const Advice& advice) {
  const auto& step = advice.curve.designs.at(curve_begins + advice.knee.at);
  const auto& one = advice.curve.designs.at(curve_begins);
  if (const auto wrong = wrong_total(advice.curve)) return "Nothing is advised: " + *wrong;
  if (const auto wrong = wrong_total(advice.picks)) return "Nothing is advised: " + *wrong;
  if (advice.curve.rounds < rounds_min) {
    return fmt::format("One round cannot tell how sure it is, and it points to {} slots; run it with more --rounds", range_of(advice));
  }
  if (!advice.sure) {
    return fmt::format("This machine is too noisy to tell: halves of the rounds point to {} slots; run it again when less "
                       "else is going on, or with more --rounds",
                       range_of(advice));
  }
  const auto slots = advice.steps[advice.knee.at];
  auto text = fmt::format("{} slot{}: {} adds a second, {:.2f} of the limit", slots, slots == 1 ? "" : "s", rate(step),
                          step.of_limit.median);
  if (slots > advice.steps.front()) {
    text += fmt::format(" and {:.1f} times {} slot{}", ratio_of(step.adds_per_second, one.adds_per_second).median,
                        advice.steps.front(), advice.steps.front() == 1 ? "" : "s");
  }
  text += fmt::format("; {}, and each half of the rounds says {}",
                      advice.knee.at + 1 < advice.steps.size() ? "more gain less than a tenth" : "fewer lose more than a tenth",
                      range_of(advice));
  if (advice.picks.designs.empty()) return text;
  const auto* better = best_other(advice.picks);
  if (better == nullptr) return text + "; no other pick or layout was a tenth better";
  return text + fmt::format("; {} was better: {} adds a second against {}{}", better->design.what, rate(*better),
                            rate(advice.picks.designs.at(curve_begins)),
                            better->design.rule->layout == Layout::journal ? ", and it needs `splitcount maintain` from a timer" : "");
}

/// One writer at a time: what is measured says what slots cannot and batches can bring.
Result<Advice> advise_one_writer(const Target& target, const TrialOptions& options,
                                 const std::function<void(const TrialProgress&)>& tell) {
  Advice advice;
  advice.steps = {1, 4, 16};
  advice.rule = rule_with(Pick::session, 1);
  std::vector<Design> designs{limit()};
  for (const int slots : advice.steps) designs.push_back(step_of(Pick::random, slots));
  designs.push_back(
      batched(counter("batched", fmt::format("1 slot, {} adds in a transaction", limits::trial_batch_adds), advice.rule)));
  auto curve = whole_trial(target, designs, options, tell);
  if (!curve) return fail(std::move(curve).error());
  advice.curve = *std::move(curve);
  advice.stopped = advice.curve.rounds == 0;
  if (advice.stopped) return advice;
  if (const auto wrong = wrong_total(advice.curve)) {
    advice.sentence = "Nothing is advised: " + *wrong;
    return advice;
  }
  advice.sure = true;
  const auto& one = advice.curve.designs[curve_begins].adds_per_second;
  const auto& many = advice.curve.designs[advice.steps.size()].adds_per_second;
  advice.sentence = fmt::format(
      "{} has one writer at a time, so adds wait for the database and not for a row: {} slots reach {:.2f} of the adds of one "
      "slot. What helps is to commit many adds at once: {} in a transaction are {:.0f} times as many adds a second, which is "
      "what a Combiner and `splitcount count` do",
      target.traits().name, advice.steps.back(), ratio_of(many, one).median, limits::trial_batch_adds,
      ratio_of(advice.curve.designs.back().adds_per_second, one).median);
  return advice;
}

}  // namespace

Knee find_knee(std::span<const std::vector<double>> steps) {
  Knee knee;
  knee.at = knee.least = knee.most = knee_of(steps, ~0U);
  for_each_half(steps.front().size(), [&](std::uint32_t half) {
    const auto at = knee_of(steps, half);
    knee.least = std::min(knee.least, at);
    knee.most = std::max(knee.most, at);
  });
  return knee;
}

bool is_better(std::span<const double> one, std::span<const double> other) {
  bool better = median_of(one, ~0U) * good_enough > median_of(other, ~0U);
  for_each_half(one.size(), [&](std::uint32_t half) {
    better = better && median_of(one, half) * good_enough > median_of(other, half);
  });
  return better;
}

std::vector<int> steps_for(Pick pick, int sessions) {
  std::vector<int> steps;
  for (int slots = 1;; slots *= 2) {
    const int step = std::min(pick == Pick::value ? prime_from(std::max(slots, 2)) : slots, limits::slots_max);
    if (steps.empty() || step > steps.back()) steps.push_back(step);
    if (step >= sessions || slots >= limits::slots_max) return steps;
  }
}

Result<Advice> advise(const Target& target, const TrialOptions& options, std::optional<Pick> pick,
                      const std::function<void(const TrialProgress&)>& tell) {
  if (target.traits().one_writer) {
    if (!pick) return advise_one_writer(target, options, tell);
    return fail(ErrorCode::not_on_this_engine,
                fmt::format("{} has one writer, so that no pick is better than another; leave --pick out", target.traits().name));
  }
  Advice advice;
  const Pick searched = pick.value_or(Pick::session);
  advice.steps = steps_for(searched, options.sessions);
  std::vector<Design> designs{limit()};
  for (const int slots : advice.steps) designs.push_back(step_of(searched, slots));
  auto curve = whole_trial(target, designs, options, tell);
  if (!curve) return fail(std::move(curve).error());
  advice.curve = *std::move(curve);
  advice.stopped = advice.curve.stopped;
  if (advice.stopped) return advice;
  std::vector<std::vector<double>> rates;
  for (std::size_t i = curve_begins; i < designs.size(); ++i) rates.push_back(advice.curve.designs[i].adds_per_second);
  advice.knee = find_knee(rates);
  advice.rule = rule_with(searched, advice.steps[advice.knee.at]);
  advice.sure = advice.knee.is_sure() && advice.curve.rounds >= rounds_min && !wrong_total(advice.curve);
  if (!pick && advice.sure) {
    auto picks = whole_trial(target, others(target, advice.rule.slots), options, tell);
    if (!picks) return fail(std::move(picks).error());
    advice.picks = *std::move(picks);
    advice.stopped = advice.picks.stopped;
    if (advice.stopped) return advice;
    advice.sure = !wrong_total(advice.picks);
    if (const auto* better = best_other(advice.picks)) advice.rule = *better->design.rule;
  }
  advice.sentence = sentence_of(advice);
  return advice;
}

}  // namespace splitcount::measure
