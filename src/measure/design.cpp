#include <measure/design.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>

namespace splitcount::measure {
namespace {

constexpr int article_slots = 11;  // of the article that draws a slot at random

Design by_hand(std::string name, std::string what, std::string_view create, std::string_view add, std::string_view total) {
  Design design;
  design.name = std::move(name);
  design.what = std::move(what);
  design.create = create;
  design.add = add;
  design.total = total;
  return design;
}

Design random_rows() {
  Design design = by_hand(fmt::format("random_{}", article_slots),
                          fmt::format("{} rows by hand, one drawn at random for each add", article_slots),
                          "random_rows_create", "random_rows_add", "random_rows_total");
  design.slots = article_slots;
  return design;
}

/// The largest prime up to `slots`, which is at least 2.
int prime_up_to(int slots) {
  while (!rule::is_prime(slots)) --slots;
  return slots;
}

void add_picks(std::vector<Design>& all, int slots) {
  const auto slots_text = fmt::format("{} slots", slots);
  all.push_back(counter("session", fmt::format("pick session: one's own of {}", slots_text), rule_with(Pick::session, slots)));
  all.push_back(counter("free", fmt::format("pick free: one of {} that nobody holds", slots_text), rule_with(Pick::free, slots)));
  all.push_back(counter("spread", fmt::format("pick spread: slot 0 while it is free, else one's own of {}", slots_text),
                        rule_with(Pick::spread, slots)));
  all.push_back(counter("random", fmt::format("pick random: any of {}", slots_text), rule_with(Pick::random, slots)));
  const int prime = prime_up_to(std::max(slots, 2));
  all.push_back(counter("value", fmt::format("pick value: the id modulo {}", prime), rule_with(Pick::value, prime)));
  Rule request = rule_with(Pick::request, slots);
  request.retries.once = true;
  all.push_back(counter("request", fmt::format("pick request, retries once: by hash of the id, of {}", slots_text), request));
  Rule once = rule_with(Pick::session, slots);
  once.retries.once = true;
  all.push_back(counter("once", fmt::format("pick session, retries once: one's own of {}", slots_text), once));
}

void add_layouts(std::vector<Design>& all, const rule::EngineTraits& engine, int slots) {
  if (engine.padded) {
    Rule padded = rule_with(Pick::session, slots);
    padded.layout = Layout::padded;
    all.push_back(counter("padded", "pick session, layout padded: each slot on a page of its own", padded));
  }
  if (!engine.journal) return;
  Rule journal = rule_with(Pick::session, slots);
  journal.layout = Layout::journal;
  all.push_back(counter("journal", "layout journal: an appended delta", journal));
  auto folded = counter("journal_folded", "layout journal, while a session folds", journal);
  folded.folds = true;
  all.push_back(std::move(folded));
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string names_of(const std::vector<Design>& all) {
  std::string names;
  for (const auto& design : all) names += (names.empty() ? "" : ", ") + design.name;
  return names;
}

}  // namespace

Rule rule_with(Pick pick, int slots) {
  Rule rule;
  rule.slots = slots;
  rule.pick = pick;
  rule.missing = Missing::error;
  return rule;
}

Design limit() { return by_hand("limit", "the same inserts, nothing counted", "limit_create", "limit_add", "limit_total"); }

Design counter(std::string name, std::string what, const Rule& rule) {
  Design design = by_hand(std::move(name), std::move(what), {}, "counter_add", "counter_total");
  if (rule.retries.once) design.add = "counter_add_once";
  if (rule.pick == Pick::value) design.add = "counter_add_value";
  design.rule = rule;
  design.slots = rule.slots;
  return design;
}

Design batched(Design counter) {
  counter.add = "counter_add_batch";
  counter.adds = limits::trial_batch_adds;
  return counter;
}

std::vector<Design> designs(const rule::EngineTraits& engine, int slots) {
  std::vector<Design> all{
      limit(),
      by_hand("count_rows", "counting the rows each time, COUNT(*)", "count_rows_create", "count_rows_add", "count_rows_total"),
      by_hand("one_row", "one counter row", "one_row_create", "one_row_add", "one_row_total"),
      by_hand("trigger", "one row, kept by a trigger on the insert", "trigger_create", "trigger_add", "trigger_total"),
      random_rows()};
  if (engine.one_writer) {
    all.push_back(counter("counter", "a counter of one slot", rule_with(Pick::session, 1)));
    if (slots > 1) {
      all.push_back(counter("random", fmt::format("a counter of {} slots, any of them", slots), rule_with(Pick::random, slots)));
    }
    Rule once = rule_with(Pick::session, 1);
    once.retries.once = true;
    all.push_back(counter("once", "a counter of one slot, retries once", once));
  } else {
    add_picks(all, slots);
  }
  all.push_back(batched(counter("batched", fmt::format("{} adds in one transaction", limits::trial_batch_adds),
                                rule_with(Pick::session, engine.one_writer ? 1 : slots))));
  add_layouts(all, engine, slots);
  return all;
}

Result<std::vector<Design>> select(const std::vector<Design>& all, std::string_view names) {
  std::vector<std::string> wanted;
  for (;;) {
    const auto comma = names.find(',');
    wanted.emplace_back(without_blanks(names.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    names.remove_prefix(comma + 1);
  }
  for (const auto& name : wanted) {
    if (std::none_of(all.begin(), all.end(), [&name](const Design& design) { return design.name == name; })) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("there is no design {}; right are, with commas between: {}", quoted(name), names_of(all)));
    }
  }
  std::vector<Design> selected;
  for (const auto& design : all) {
    if (design.name == "limit" || std::find(wanted.begin(), wanted.end(), design.name) != wanted.end()) {
      selected.push_back(design);
    }
  }
  return selected;
}

}  // namespace splitcount::measure
