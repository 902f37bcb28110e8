// Random programs, dispatched to workers that are played here: what a worker
// reads is there, and is what the program says.
#include <map>
#include <random>
#include <set>

#include "route_harness.h"
#include "stream/ranks.h"

namespace gt {
namespace {

// Where each register was bound last, by line of the program.
using Bound = std::map<std::string, int64_t>;

std::vector<std::string> registers(std::string_view text,
                                   std::string_view ranks) {
  if (ranks.empty()) return {std::string(text)};
  std::vector<std::string> out;
  const auto parsed = parse_ranks(ranks);
  for (const int64_t rank : parsed.value()) {
    out.push_back(std::string(text) + "@" + std::to_string(rank));
  }
  return out;
}

std::vector<std::string> operands_of(const Line& line) {
  std::vector<std::string> out;
  for (const Operand& o : line.operands) {
    if (o.kind != Operand::Kind::kName) continue;
    for (auto& name : registers(o.text, o.ranks)) out.push_back(name);
  }
  return out;
}

void apply(const Line& line, int64_t at, Bound& bound) {
  if (line.op == "free") {
    for (const auto& name : operands_of(line)) bound.erase(name);
  }
  for (const Name& r : line.results) {
    for (const auto& name : registers(r.text, r.ranks)) bound[name] = at;
  }
}

class World {
 public:
  explicit World(uint32_t workers) : workers_(workers) {}

  // The registers before each line of the program.
  void read(const std::string& program) {
    Bound bound;
    int64_t number = 0;
    for (size_t at = 0; at < program.size();) {
      const size_t end = program.find('\n', at);
      before_[++number] = bound;
      Line line;
      const std::string text = program.substr(at, end - at);
      ASSERT_TRUE(parse_line(text, line).ok());
      apply(line, number, bound);
      at = end + 1;
    }
  }

  // All that was sent, in the order of its numbers.
  void play(RouteHarness& route) {
    std::map<uint64_t, std::vector<std::pair<uint32_t, const SentBody*>>> all;
    for (uint32_t w = 0; w < workers_.size(); ++w) {
      uint64_t last = 0;
      for (const SentBody& line : route.sent(w)) {
        if (line.text.starts_with("#ranks")) {
          take_ranks(line.text);
          continue;
        }
        if (!line.has_number) continue;
        ASSERT_GT(line.seq, last);  // a projection of one order
        last = line.seq;
        all[line.seq].emplace_back(w, &line);
      }
    }
    ASSERT_EQ(all.size(), route.issued().size());
    uint64_t next = 1;
    for (const auto& [seq, lines] : all) {
      ASSERT_EQ(seq, next++);
      step(lines, route.issued()[seq - 1].text);
    }
  }

  size_t held() const {
    size_t n = 0;
    for (const Bound& bound : workers_) n += bound.size();
    return n;
  }
  size_t copies = 0;

 private:
  void take_ranks(const std::string& text) {
    for (size_t at = text.find(' ', 7); at != std::string::npos;
         at = text.find(' ', at + 1)) {
      long first = 0, last = 0;
      unsigned worker = 0;
      ASSERT_EQ(
          std::sscanf(text.c_str() + at, " %ld-%ld=%u", &first, &last, &worker),
          3);
      for (long r = first; r <= last; ++r) worker_of_[r] = worker;
    }
  }
  bool plays(uint32_t worker, const std::string& name) const {
    const size_t at = name.find('@');
    return at == std::string::npos ||
           worker_of_.at(std::stol(name.substr(at + 1))) == worker;
  }

  void step(const std::vector<std::pair<uint32_t, const SentBody*>>& lines,
            const std::string& issued) {
    for (const auto& [worker, sent] : lines) {
      ASSERT_EQ(sent->text, issued);
      if (issued[0] == '#') continue;
      Line line;
      ASSERT_TRUE(parse_line(sent->text, line).ok());
      Bound& mine = workers_[worker];
      if (const std::string_view* from = line.note("from")) {
        copy(line, worker, std::stoul(std::string(*from)));
        continue;
      }
      const bool crosses = line.op == "copy" || line.op == "all_reduce";
      for (const auto& name : operands_of(line)) {
        if (!plays(worker, name)) {
          ASSERT_TRUE(crosses || sent->text.find('@') != std::string::npos);
          continue;
        }
        ASSERT_TRUE(mine.count(name)) << name << " in " << sent->text;
        if (line.op == "free") continue;
        ASSERT_EQ(mine[name], before_[sent->line].at(name)) << sent->text;
      }
      Bound all;
      apply(line, sent->line, all);
      if (line.op == "free") {
        for (const auto& name : operands_of(line)) mine.erase(name);
      }
      for (const auto& [name, at] : all) {
        if (plays(worker, name)) mine[name] = at;
      }
    }
  }

  // The one that has it sends it, the other takes it.
  void copy(const Line& line, uint32_t worker, size_t from) {
    const std::string name(line.operands[0].text);
    ASSERT_TRUE(workers_[from].count(name));
    if (worker == from) return;
    ASSERT_FALSE(workers_[worker].count(name)) << "copied twice: " << name;
    workers_[worker][name] = workers_[from][name];
    ++copies;
  }

  std::vector<Bound> workers_;
  std::map<int64_t, Bound> before_;
  std::map<long, uint32_t> worker_of_;
};

class Programs {
 public:
  explicit Programs(uint32_t seed) : random_(seed) {}
  std::string make(size_t lines) {
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) make_one(name);
    for (size_t i = 0; i < lines; ++i) add();
    for (const std::string& name : live_) text_ += "free " + name + "\n";
    return text_;
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  std::string pick() {
    auto it = live_.begin();
    std::advance(it, below(live_.size()));
    return *it;
  }
  void make_one(const std::string& name) {
    text_ += name + " = zeros f32[256,256]\n";
    live_.insert(name);
  }
  void add() {
    const std::string fresh(1, static_cast<char>('a' + below(8)));
    if (live_.size() < 3) return make_one(fresh);
    const std::string x = pick();
    const std::string y = pick();
    switch (below(8)) {
      case 0:
        return make_one(fresh);
      case 1:
        text_ += "free " + x + (x == y ? "" : " " + y) + "\n";
        live_.erase(x);
        live_.erase(y);
        return;
      case 2:
        text_ += "print " + x + "\n";
        return;
      case 3:
        text_ += "save " + x + " \"f" + std::to_string(below(2)) + ".npy\"\n";
        return;
      case 4:
        text_ += fresh + " = load \"f" + std::to_string(below(2)) +
                 ".npy\" f32[256,256]\n";
        break;
      case 5:
        text_ += fresh + " = neg " + x + "\n";
        break;
      default:
        text_ += fresh + (below(2) == 0 ? " = matmul " : " = add ") + x + " " +
                 y + "\n";
    }
    live_.insert(fresh);
  }

  std::mt19937 random_;
  std::set<std::string> live_;
  std::string text_;
};

TEST(RouteWorld, EveryWorkerReadsWhatTheProgramSays) {
  size_t copies = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const uint32_t workers = 1 + seed % 5;
    RouteHarness route(workers);
    World world(workers);
    const std::string program = Programs(seed).make(300);
    world.read(program);
    std::mt19937 random(seed);
    for (size_t at = 0; at < program.size();) {
      const size_t end = program.find('\n', at) + 1;
      route.feed(std::string_view(program).substr(at, end - at));
      at = end;
      if (random() % 8 == 0) {  // some worker gets on
        const uint32_t w = static_cast<uint32_t>(random()) % workers;
        const uint64_t seq = route.dispatcher().seq();
        route.dispatcher().done(w, seq - random() % std::min<uint64_t>(seq, 5));
      }
    }
    ASSERT_EQ(route.messages(), "");
    world.play(route);
    if (HasFatalFailure()) return;
    EXPECT_EQ(world.held(), 0U);  // no copy is left behind
    copies += world.copies;
  }
  EXPECT_GT(copies, 100U);
}

TEST(RouteWorld, PlacedProgramsToo) {
  for (const uint32_t workers : {1U, 2U, 3U, 4U, 7U}) {
    RouteHarness route(workers);
    World world(workers);
    std::string program = "w@0-7 = zeros f32[4]\nmesh dp=4 tp=2\n";
    for (int i = 0; i < 5; ++i) {
      program +=
          "x@0-7 = randn f32[8,4] 1 split=dp:0\n"
          "x@0-3 = neg x@0-3\n"
          "x@4-7 = copy x@0-3\n"
          "y@0-7 = mul x@0-7 w@0-7\n"
          "y@0-7 = all_reduce y@0-7 over=dp\n"
          "print y@0-7\n"
          "z@1,3,5 = copy y@2\n"
          "u = zeros f32[4]\n"
          "u = add u 1\n"
          "free x@0-3 x@4-5\n"
          "free u\n"
          "free x@6-7 y@0-7 z@1,3,5\n";
    }
    program += "free w@0-7\n";
    world.read(program);
    route.feed(program);
    ASSERT_EQ(route.messages(), "");
    world.play(route);
    if (HasFatalFailure()) return;
    EXPECT_EQ(world.held(), 0U) << workers;
  }
}

}  // namespace
}  // namespace gt
