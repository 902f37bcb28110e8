// Random programs are dispatched to workers that are played here. A worker has
// what it reads, and it is what the program says.
#include <set>

#include "route_world.h"

namespace gt::route {
namespace {

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
      if (random() % 8 == 0) {  // a worker gets on
        const uint32_t w = static_cast<uint32_t>(random()) % workers;
        const uint64_t seq = route.dispatcher().issued() + 1;
        route.dispatcher().done(w, seq - random() % std::min<uint64_t>(seq, 5));
      }
    }
    ASSERT_EQ(route.messages(), "");
    world.play(route);
    if (!HasFatalFailure()) world.run(route, random);
    if (HasFatalFailure()) return;
    EXPECT_EQ(world.held(), 0U);  // no copy is left behind
    copies += world.copies;
  }
  EXPECT_GT(copies, 100U);
}

// Registers on ranks 0 to 7, and some without ranks.
class PlacedPrograms {
 public:
  explicit PlacedPrograms(uint32_t seed) : random_(seed) {}
  std::string make(size_t lines) {
    if (below(2) == 0) text_ += "mesh dp=4 tp=2\n";
    for (size_t i = 0; i < lines; ++i) add();
    for (const auto& [name, ranks] : live_) {
      if (!ranks.empty()) text_ += "free " + at(name, ranks) + "\n";
    }
    return text_;
  }

 private:
  using Set = std::set<int64_t>;
  size_t below(size_t n) { return random_() % n; }
  static std::string at(const std::string& name, const Set& ranks) {
    const std::vector<int64_t> list(ranks.begin(), ranks.end());
    return name + "@" + to_string(list);
  }
  Set some(const Set& of) {
    Set out;
    for (const int64_t rank : of) {
      if (below(2) == 0) out.insert(rank);
    }
    return out.empty() ? of : out;
  }
  void bind(const std::string& name, const Set& ranks, const std::string& how) {
    text_ += at(name, ranks) + " = " + how + "\n";
    live_[name].insert(ranks.begin(), ranks.end());
  }
  void add() {
    static const Set kAll = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::string x(1, static_cast<char>('p' + below(4)));
    const std::string y(1, static_cast<char>('p' + below(4)));
    const Set live = live_[x];
    const std::string file = "\"f" + std::to_string(below(2)) + ".npy\"";
    if (live.empty()) return bind(x, some(kAll), "zeros f32[4]");
    const Set set = some(live);
    const std::string operand = at(x, set);
    switch (below(10)) {
      case 0:
        return bind(y, some(kAll), "randn f32[4] 1");
      case 1:
        return bind(y, some(kAll), "load " + file + " f32[4]");
      case 2:
        return bind(y, set, "neg " + operand);
      case 3:
        return bind(y, set, "all_reduce " + operand);
      case 4: {
        Set to;
        while (to.size() < set.size()) to.insert(int64_t(below(8)));
        return bind(y, to, "copy " + operand);
      }
      case 5:
        text_ += "print " + operand + "\n";
        return;
      case 6:
        text_ += "save " + operand + " " + file + "\n";
        return;
      case 7:
        text_ += "free " + operand + "\n";
        for (const int64_t rank : set) live_[x].erase(rank);
        return;
      case 8:  // a line without ranks
        text_ += "u = load " + file + " f32[4]\nu = add u 1\nsave u " + file +
                 "\nfree u\n";
        return;
      default: {
        const Set other = live_[y];
        Set both;
        for (const int64_t rank : set) {
          if (other.count(rank) > 0) both.insert(rank);
        }
        if (both.empty()) return;
        bind(y, both, "add " + at(x, both) + " " + at(y, both));
      }
    }
  }

  std::mt19937 random_;
  std::map<std::string, Set> live_;
  std::string text_;
};

// design.md, section 3, argues so: a worker is sent the lines that concern it,
// in one total order, so nothing waits in a circle.
TEST(RouteWorld, QueuesAreProjectionsOfTheStream) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const uint32_t workers = 1 + seed % 5;
    RouteHarness route(workers);
    World world(workers);
    const std::string program = PlacedPrograms(seed).make(300);
    world.read(program);
    route.feed(program);
    ASSERT_EQ(route.messages(), "");
    world.play(route);
    std::mt19937 random(seed);
    if (!HasFatalFailure()) world.run(route, random);
    if (HasFatalFailure()) return;
    EXPECT_EQ(world.held(), 0U);
  }
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
}  // namespace gt::route
